// command_line.h reads the words; what they say together is looked at here.
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
#include "report/model/joined.h"
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

bool has(const OptionText& option, const std::string& name) {
    return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
}

// Whether what follows this option is its value: no command, whatever it is called.
bool takes_value(const CommandText& command, const std::string& option) {
    if (option.find('=') != std::string::npos) return false;
    for (const OptionText& known : command.options)
        if (known.takes_value && has(known, option)) return true;
    return std::any_of(command.commands.begin(), command.commands.end(),
                       [&](const CommandText& inner) { return takes_value(inner, option); });
}

// Options of a command are known only behind it: `--rank 1 calls` becomes `calls --rank 1`, and `plot -o F ranks`
// `plot ranks -o F`.
void command_first(const CommandText& command, std::vector<std::string>& words, std::size_t first = 0) {
    for (std::size_t i = first; i < words.size() && words[i] != "--"; ++i) {
        if (words[i].starts_with('-')) {
            i += takes_value(command, words[i]);
            continue;
        }
        const auto is_named = [&](const CommandText& inner) { return inner.name == words[i]; };
        const auto named = std::find_if(command.commands.begin(), command.commands.end(), is_named);
        if (named == command.commands.end()) continue;
        std::rotate(words.begin() + static_cast<std::ptrdiff_t>(first), words.begin() + static_cast<std::ptrdiff_t>(i),
                    words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        command_first(*named, words, first + 1);
        return;
    }
}

// What the default command alone takes asks for it: `--details` becomes `summary --details`.
void default_command(const CommandText& all, const std::string& name, std::vector<std::string>& words) {
    const auto find = [&](const std::string& wanted) {
        return std::ranges::find(all.commands, wanted, &CommandText::name);
    };
    const auto summary = find(name);
    if (summary == all.commands.end() || (!words.empty() && find(words.front()) != all.commands.end())) return;
    const auto is_of = [](const CommandText& command, const std::string& word) {
        return std::ranges::any_of(command.options, [&](const OptionText& option) { return has(option, word); });
    };
    for (const std::string& word : words) {
        if (word == "--") return;
        if (!word.starts_with('-') || is_of(all, word) || !is_of(*summary, word)) continue;
        words.insert(words.begin(), name);
        return;
    }
}

class Parser {
  public:
    int run(int argc, char** argv) {
        std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
        command_first(text_, words);
        default_command(text_, line_.commands.front().name, words);
        std::vector<std::string> foreign = foreign_command(words);
        const std::optional<Misread> misread = line_.read(std::move(words));
        line_.options.is_command_line = !foreign.empty();
        for (const std::string& word : foreign) line_.options.paths.push_back(word);
        if (!misread) return run_named();
        switch (misread->kind) {
            case Misread::Kind::answered:
                return fine;
            case Misread::Kind::unexpected_word:
                if (const std::string hint = option_of_commands(); !hint.empty()) return usage(hint);
                break;
            case Misread::Kind::missing_word:
                if (const std::string kinds = kinds_of_plot(); !kinds.empty())
                    return usage("plot draws " + kinds + ": mpiprof-report plot ranks DIR");
                break;
            case Misread::Kind::wrong:
                break;
        }
        return usage(misread->what);
    }

  private:
    // Takes what stands behind -- out of the words, where that is a command line of its own, with options of its own.
    std::vector<std::string> foreign_command(std::vector<std::string>& words) const {
        const bool has_one =
            !words.empty() && std::ranges::any_of(line_.commands, [&](const CommandLine::Known& known) {
                return known.name == words.front() && known.operands == Operands::command_line;
            });
        const auto dashes = std::ranges::find(words, "--");
        if (!has_one || dashes == words.end()) return {};
        std::vector<std::string> foreign;
        for (auto word = dashes + 1; word != words.end(); ++word) foreign.push_back(*word);
        words.erase(dashes, words.end());
        return foreign;
    }

    // An option that was not expected: which commands do take it. Empty where none does.
    std::string option_of_commands() const {
        for (const std::string& word : line_.unexpected_words()) {
            if (!word.starts_with('-')) continue;
            std::vector<std::string> takers;
            for (const CommandText& command : text_.commands)
                if (std::any_of(command.options.begin(), command.options.end(),
                                [&](const OptionText& option) { return has(option, word); }))
                    takers.push_back(command.name);
            const auto given = line_.named();
            if (takers.empty()) {
                const std::string nearest = nearest_option(word, given.empty() ? "" : given.front());
                return nearest.empty() ? "" : fmt::format("{}: no such option; did you mean {}?", word, nearest);
            }
            return fmt::format("{} is not an option of {}, but of {}: mpiprof-report {} {} ...", word,
                               given.empty() ? "the " + line_.commands.front().name : given.front(),
                               joined(takers, ", "), takers.front(), word);
        }
        return "";
    }

    // Of the command, or of all.
    std::string nearest_option(const std::string& word, const std::string& command) const {
        const std::string name = word.substr(0, word.find('='));
        std::string nearest;
        std::size_t least = std::min<std::size_t>(4, name.size() / 2);
        const auto look = [&](const CommandText& at) {
            for (const OptionText& option : at.options)
                for (const std::string& known : option.names)
                    if (const std::size_t edits = edits_between(name, known); known.size() > 2 && edits < least) {
                        least = edits;
                        nearest = known;
                    }
        };
        look(text_);
        for (const CommandText& at : text_.commands)
            if (at.name == (command.empty() ? line_.commands.front().name : command)) look(at);
        return nearest;
    }

    // "scaling, bandwidth ...", where plot was asked for without one; else empty.
    std::string kinds_of_plot() const {
        const auto given = line_.named();
        if (given.empty()) return "";
        std::vector<std::string> kinds;
        for (const CommandText& command : text_.commands)
            if (command.name == given.front())
                for (const CommandText& kind : command.commands) kinds.push_back(kind.name);
        return joined(kinds, ", ");
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
        for (const CommandText& command : text_.commands) {
            const std::size_t distance = edits_between(word, command.name);
            if (distance < std::min(least, word.size())) {
                least = distance;
                nearest = command.name;
            }
        }
        if (nearest.empty()) return "";
        const auto given = line_.named();
        return least == 0 && !given.empty() ? "one command at a time: " + given.front() + " or " + word
                                            : word + ": no such file or command; did you mean " + nearest + "?";
    }

    const CommandLine::Known& asked_for() const {
        const auto given = line_.named();
        const auto found = std::find_if(line_.commands.begin(), line_.commands.end(), [&](const auto& known) {
            return !given.empty() && known.name == given.front();
        });
        return found == line_.commands.end() ? line_.commands.front() : *found;
    }

    int describe() const {
        auto output = Output::open("");
        output->write(line_.is_manual ? manual_of(text_) : completion_of(text_, line_.completion));
        return finish(*output);
    }

    int run_named() {
        if (line_.is_manual || !line_.completion.empty()) return describe();
        const CommandLine::Known& known = asked_for();
        if (line_.is_brief && !line_.named().empty()) return usage("--brief stands alone, without a command");
        if (line_.options.format == note_format && !line_.is_brief) return usage("--format note goes with --brief");
        if (line_.is_brief && !line_.options.format.empty() && line_.options.format != note_format)
            return usage("--brief is text; for scripts: --brief --format note, or mpiprof-report export -f line");
        if (known.operands == Operands::one_job || known.operands == Operands::several_jobs)
            for (const std::string& word : line_.options.paths)
                if (const std::string text = mistaken(word); !text.empty()) return usage(text);
        if (known.operands == Operands::one_job) name_job(line_.options);
        line_.options.screen.color = line_.color == "always"  ? ColorChoice::always
                                     : line_.color == "never" ? ColorChoice::never
                                                              : ColorChoice::automatic;
        return line_.is_brief ? brief(line_.options) : known.command->run(line_.options);
    }

    CommandLine line_;
    const CommandText text_ = line_.text();
};

}  // namespace

int run_command(int argc, char** argv) { return Parser().run(argc, argv); }

}  // namespace mpiprof::report
