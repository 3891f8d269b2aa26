// CLI11 reads the words; what they say together is looked at here.
#include "report/parse_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "report/commands.h"
#include "report/exports/export.h"
#include "report/manual.h"
#include "report/model/visible.h"
#include "report/operands.h"
#include "report/option_values.h"
#include "report/say.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

class Parser {
  public:
    Parsed parse(int argc, char** argv) {
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
            if (error.get_exit_code() == 0) return {std::nullopt, line_.app.exit(error)};
            return usage(error.what());
        }
        return take();
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
                "{} is no option of {}, but of {}: mpiprof-report {} {} ...", word,
                given.empty() ? "the " + std::string(sections().front().name) : given.front()->get_name(),
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

    Parsed usage(std::string_view what) const {
        fmt::print(stderr, "mpiprof-report: {}\nTry: mpiprof-report --help\n", visible(what, true));
        return {std::nullopt, usage_error};
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

    // What is wrong with the options of scaling and diff; empty: nothing.
    std::string take_compared() {
        CompareOptions& compare = options_.compare;
        if (!raw_.time.empty() && !(compare.time = time_of(raw_.time)))
            return fmt::format("--time {}: is none of process, mpi, iteration, region:NAME", raw_.time);
        if (!raw_.fail_on.empty() && !(compare.fail_on = share_of(raw_.fail_on)))
            return fmt::format("--fail-on {}: is no percentage; try 5%", raw_.fail_on);
        if (!raw_.fail_on_point.empty() && !(compare.fail_on_point = share_of(raw_.fail_on_point)))
            return fmt::format("--fail-on-point {}: is no percentage; try 5%", raw_.fail_on_point);
        return "";
    }

    Parsed take() {
        if (raw_.is_manual || !raw_.completion.empty()) {
            auto output = Output::open("");
            output->write(raw_.is_manual ? manual_of(line_) : completion_of(line_, raw_.completion));
            return {std::nullopt, finish(*output)};
        }
        if (options_.task == Task::explain) {
            if (options_.paths.size() > 1) return usage("one rule at a time");
            if (!options_.paths.empty()) options_.rule = options_.paths.front();
            return {std::move(options_), 0};
        }
        if (options_.task == Task::doctor) return {std::move(options_), 0};
        if (raw_.is_brief && (options_.task != Task::section || !options_.section.empty()))
            return usage("--brief stands alone, without a command");
        for (const std::string& word : options_.paths)
            if (const std::string text = mistaken(word); !text.empty()) return usage(text);
        const bool takes_several = options_.task == Task::scaling || options_.task == Task::diff ||
                                   options_.task == Task::plot || options_.task == Task::transfers;
        if (!takes_several) name_job(options_);
        if (options_.section.empty()) options_.section = sections().front().name;
        if (options_.layout.empty() && options_.task == Task::text) options_.layout = layouts().front().name;
        if (const std::string text = take_compared(); !text.empty()) return usage(text);
        if (options_.task == Task::plot && !options_.format.empty() && options_.format != views().front().name)
            return usage(
                "plot draws and has no --format; docs/plots.md names the command that has each plot's numbers");
        const bool is_shown_as_tables = options_.task != Task::text && options_.task != Task::data &&
                                        options_.task != Task::explain &&
                                        options_.task != Task::transfers;  // which has lines of its own
        if (options_.format.empty() && is_shown_as_tables) options_.format = views().front().name;
        if (raw_.is_brief) options_.task = Task::brief;
        options_.question.top = raw_.top;
        options_.screen.width = raw_.width;
        options_.screen.color = raw_.color == "always"  ? ColorChoice::always
                                : raw_.color == "never" ? ColorChoice::never
                                                        : ColorChoice::automatic;
        options_.job_part = raw_.job_part == "always"  ? JobPart::always
                            : raw_.job_part == "never" ? JobPart::never
                                                       : JobPart::with_rank_0;
        options_.wants_all_ranks = raw_.ranks == "all";
        if (!raw_.ranks || options_.wants_all_ranks) return {std::move(options_), 0};
        options_.question.ranks = ranks_of(*raw_.ranks);
        if (options_.question.ranks.empty())
            return usage(fmt::format("--rank {}: no list of ranks; try 3 or 0,5-7", *raw_.ranks));
        return {std::move(options_), 0};
    }

    CommandLine line_;
    const CLI::App& app_ = line_.app;
    Options& options_ = line_.options;
    const RawOptions& raw_ = line_.raw;
};

}  // namespace

Parsed parse_options(int argc, char** argv) { return Parser().parse(argc, argv); }

}  // namespace mpiprof::report
