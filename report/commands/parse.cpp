// CLI11 reads the words; what they say together is looked at here.
#include "report/commands/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "report/commands/brief.h"
#include "report/commands/command_line.h"
#include "report/commands/manual.h"
#include "report/commands/operands.h"
#include "report/commands/say.h"
#include "report/model/visible.h"

namespace mpiprof::report {
namespace {

// How many letters to add, drop or change.
std::size_t edits_between(std::string_view from, std::string_view to) {
    std::vector<std::size_t> edits(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j) edits[j] = j;
    for (std::size_t i = 1; i <= from.size(); ++i) {
        std::size_t diagonal = std::exchange(edits[0], i);
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const std::size_t changed = diagonal + (from[i - 1] != to[j - 1]);
            diagonal = std::exchange(edits[j], std::min({edits[j] + 1, edits[j - 1] + 1, changed}));
        }
    }
    return edits.back();
}

class Parser {
  public:
    int run(int argc, char** argv) {
        std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
        command_first(app_, words);
        std::reverse(words.begin(), words.end());  // as CLI11 takes them
        try {
            line_.app.parse(std::move(words));
        } catch (const CLI::ExtrasError& error) {
            const std::string hint = option_of_commands();
            return usage(hint.empty() ? error.what() : hint);
        } catch (const CLI::RequiredError& error) {
            const std::string kinds = kinds_of_plot();
            return usage(kinds.empty() ? error.what() : "plot draws " + kinds + ": mpiprof-report plot ranks DIR");
        } catch (const CLI::ParseError& error) {
            return error.get_exit_code() == 0 ? line_.app.exit(error) : usage(error.what());
        }
        return run_named();
    }

  private:
    static constexpr auto every = [](const CLI::App*) { return true; };

    // Whether what follows this option is its value: no command, whatever it is called.
    static bool takes_value(const CLI::App& app, const std::string& option) {
        if (option.find('=') != std::string::npos) return false;
        const CLI::Option* known = app.get_option_no_throw(option);
        if (known && known->get_items_expected_max() > 0) return true;
        const auto commands = app.get_subcommands(every);
        return std::any_of(commands.begin(), commands.end(),
                           [&](const CLI::App* command) { return takes_value(*command, option); });
    }

    // Options of a command are known only behind it: `--rank 1 calls` becomes `calls --rank 1`, and `plot -o F ranks`
    // `plot ranks -o F`.
    static void command_first(const CLI::App& app, std::vector<std::string>& words, std::size_t first = 0) {
        for (std::size_t i = first; i < words.size() && words[i] != "--"; ++i) {
            if (words[i].starts_with('-')) {
                i += takes_value(app, words[i]);
                continue;
            }
            const auto commands = app.get_subcommands(every);
            const auto is_named = [&](const CLI::App* command) { return command->get_name() == words[i]; };
            const auto named = std::find_if(commands.begin(), commands.end(), is_named);
            if (named == commands.end()) continue;
            std::rotate(words.begin() + static_cast<std::ptrdiff_t>(first),
                        words.begin() + static_cast<std::ptrdiff_t>(i),
                        words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            command_first(**named, words, first + 1);
            return;
        }
    }

    // An option that was not expected: which commands do take it. Empty where none does.
    std::string option_of_commands() const {
        for (const std::string& word : app_.remaining(true)) {
            if (!word.starts_with('-')) continue;
            std::vector<std::string> takers;
            for (const CLI::App* command : app_.get_subcommands(every))
                if (command->get_option_no_throw(word)) takers.push_back(command->get_name());
            if (takers.empty()) return "";
            const auto given = app_.get_subcommands();
            return fmt::format(
                "{} is not an option of {}, but of {}: mpiprof-report {} {} ...", word,
                given.empty() ? "the " + line_.commands.front().app->get_name() : given.front()->get_name(),
                fmt::join(takers, ", "), takers.front(), word);
        }
        return "";
    }

    // "scaling, bandwidth ...", where plot was asked for without one; else empty.
    std::string kinds_of_plot() const {
        const auto given = app_.get_subcommands();
        if (given.empty()) return "";
        std::vector<std::string> kinds;
        for (const CLI::App* kind : given.front()->get_subcommands(every)) kinds.push_back(kind->get_name());
        return fmt::format("{}", fmt::join(kinds, ", "));
    }

    static int usage(std::string_view what) {
        fmt::print(stderr, "mpiprof-report: {}\nTry: mpiprof-report --help\n", visible(what, true));
        return usage_error;
    }

    // A word that is no file may be a command: a second one, or one that is nearly right.
    std::string mistaken(const std::string& word) const {
        std::error_code error;
        if (word.find_first_of("/=:") != std::string::npos || std::filesystem::exists(word, error)) return "";
        std::string nearest;
        std::size_t least = 3;
        for (const CLI::App* command : app_.get_subcommands(every)) {
            const std::size_t distance = edits_between(word, command->get_name());
            if (distance < std::min(least, word.size())) {
                least = distance;
                nearest = command->get_name();
            }
        }
        if (nearest.empty()) return "";
        return least == 0 && !app_.get_subcommands().empty()
                   ? "one command at a time: " + app_.get_subcommands().front()->get_name() + " or " + word
                   : word + ": no such file or command; did you mean " + nearest + "?";
    }

    const CommandLine::Known& named() const {
        const auto found = std::find_if(line_.commands.begin(), line_.commands.end(),
                                        [](const CommandLine::Known& known) { return known.app->parsed(); });
        return found == line_.commands.end() ? line_.commands.front() : *found;
    }

    int describe() const {
        auto output = Output::open("");
        output->write(line_.is_manual ? manual_of(line_) : completion_of(line_, line_.completion));
        return finish(*output);
    }

    int run_named() {
        if (line_.is_manual || !line_.completion.empty()) return describe();
        const CommandLine::Known& known = named();
        if (line_.is_brief && !app_.get_subcommands().empty()) return usage("--brief stands alone, without a command");
        if (known.operands != Operands::anything)
            for (const std::string& word : line_.options.paths)
                if (const std::string text = mistaken(word); !text.empty()) return usage(text);
        if (known.operands == Operands::one_job) name_job(line_.options);
        line_.options.screen.color = line_.color == "always"  ? ColorChoice::always
                                     : line_.color == "never" ? ColorChoice::never
                                                              : ColorChoice::automatic;
        return line_.is_brief ? brief(line_.options) : known.command->run(line_.options);
    }

    CommandLine line_;
    const CLI::App& app_ = line_.app;
};

}  // namespace

int run_command(int argc, char** argv) { return Parser().run(argc, argv); }

}  // namespace mpiprof::report
