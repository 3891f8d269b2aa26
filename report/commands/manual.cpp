// What is completed behind an option are its choices, or files; the text of a page is that of --help.
#include "report/commands/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace mpiprof::report {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
    return app.get_options([](const CLI::Option* option) { return option->nonpositional(); });
}
// "-o", "--output".
std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
    return names;
}
bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// What is made of text in a page: no line of it is a request, no backslash an escape, a minus stays one.
std::string escaped(std::string_view text) {
    std::string page = "\\&";  // no width
    for (const char c : text) {
        if (c == '\\')
            page += "\\e";
        else if (c == '-')
            page += "\\-";
        else
            page += c;
    }
    return page;
}

void add_options(std::string& page, const CLI::App& app, const CommandLine& line) {
    for (const CLI::Option* option : options_of(app)) {
        if (&app != &line.app && option == app.get_help_ptr()) continue;
        fmt::format_to(Out(page), ".TP\n.B {}", escaped(fmt::format("{}", fmt::join(names_of(*option), ", "))));
        if (takes_value(*option)) fmt::format_to(Out(page), " \\fI{}\\fP", escaped(option->get_type_name()));
        fmt::format_to(Out(page), "\n{}\n", escaped(option->get_description()));
    }
}

void add_command(std::string& page, const CLI::App& command, const CommandLine& line, const std::string& name) {
    fmt::format_to(Out(page), ".SS {}\n{}\n", escaped(name), escaped(command.get_description()));
    add_options(page, command, line);
    for (const CLI::App* kind : commands_of(command)) add_command(page, *kind, line, name + " " + kind->get_name());
}

// ---- completion ----

std::string names_of_commands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
    return fmt::format("{}", fmt::join(names, " "));
}
// The options of a command and of its kinds, once each; those that every command takes stand with the program's.
void add_names(const CLI::App& app, std::vector<std::string>& all) {
    for (const CLI::Option* option : options_of(app))
        for (const std::string& name : names_of(*option))
            if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    if (app.get_parent())
        for (const CLI::App* kind : commands_of(app)) add_names(*kind, all);
}
std::string names_of_options(const CLI::App& app) {
    std::vector<std::string> all;
    add_names(app, all);
    if (app.get_parent()) std::erase_if(all, [](const std::string& name) { return name == "-h" || name == "--help"; });
    return fmt::format("{}", fmt::join(all, " "));
}

// Every option that has choices once, by its name: two commands mean the same by one, or the union is offered.
std::vector<std::pair<std::string, std::vector<std::string>>> choices_of(const CommandLine& line) {
    std::vector<std::pair<std::string, std::vector<std::string>>> all;
    const auto add = [&](const CLI::App& app, const auto& self) -> void {
        for (const CLI::Option* option : options_of(app)) {
            const auto found = line.choices.find(option);
            if (found == line.choices.end()) continue;
            const std::string name = fmt::format("{}", fmt::join(names_of(*option), "|"));
            auto known = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
            if (known == all.end()) known = all.insert(all.end(), {name, {}});
            for (const std::string& word : found->second)
                if (std::find(known->second.begin(), known->second.end(), word) == known->second.end())
                    known->second.push_back(word);
        }
        for (const CLI::App* command : commands_of(app)) self(*command, self);
    };
    add(line.app, add);
    return all;
}

std::string bash_completion(const CommandLine& line) {
    const std::string commands = names_of_commands(line.app);
    std::string text =
        "# mpiprof-report for bash, made by mpiprof-report --completion bash\n"
        "_mpiprof_report() {\n"
        "    local word command='' cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options\n"
        "    COMPREPLY=()\n"
        "    for word in \"${COMP_WORDS[@]:1:$((COMP_CWORD-1))}\"; do\n";
    fmt::format_to(Out(text), "        case \" {} \" in *\" $word \"*) command=$word; break ;; esac\n    done\n",
                   commands);
    text += "    case $prev in\n";
    for (const auto& [name, words] : choices_of(line))
        fmt::format_to(Out(text), "        {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n", name,
                       fmt::join(words, " "));
    fmt::format_to(
        Out(text),
        "        plot) case $cur in -*) ;; *) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;; esac ;;\n",
        names_of_commands(*line.app.get_subcommand("plot")));
    fmt::format_to(Out(text), "    esac\n    options='{}'\n    case $command in\n", names_of_options(line.app));
    for (const CLI::App* command : commands_of(line.app)) {
        fmt::format_to(Out(text), "        {}) options+=' {}' ;;\n", command->get_name(), names_of_options(*command));
    }
    fmt::format_to(Out(text),
                   "    esac\n"
                   "    case $cur in -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")); return ;; esac\n"
                   "    [ -n \"$command\" ] || COMPREPLY=($(compgen -W '{}' -- \"$cur\"))\n"
                   "    COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
                   "}}\n"
                   "complete -o filenames -F _mpiprof_report mpiprof-report\n",
                   commands);
    return text;
}

std::string zsh_completion(const CommandLine& line) {
    // Where zsh has loaded it for a first completion, that is still to be made.
    return "#compdef mpiprof-report\nautoload -U +X bashcompinit && bashcompinit\n" + bash_completion(line) +
           "if [ \"$funcstack[1]\" = _mpiprof-report ]; then _bash_complete -o filenames -F _mpiprof_report; fi\n";
}

// In single quotes.
std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c;
    }
    return out + "'";
}

void add_fish_options(std::string& text, const CLI::App& app, const CommandLine& line, const std::string& when) {
    for (const CLI::Option* option : options_of(app)) {
        if (!when.empty() && option == app.get_help_ptr()) continue;
        fmt::format_to(Out(text), "complete -c mpiprof-report{}", when.empty() ? "" : " -n " + in_quotes(when));
        for (const std::string& name : option->get_snames()) fmt::format_to(Out(text), " -s {}", name);
        for (const std::string& name : option->get_lnames()) fmt::format_to(Out(text), " -l {}", name);
        if (takes_value(*option)) text += " -r";
        if (const auto found = line.choices.find(option); found != line.choices.end())
            fmt::format_to(Out(text), " -f -a {}", in_quotes(fmt::format("{}", fmt::join(found->second, " "))));
        fmt::format_to(Out(text), " -d {}\n", in_quotes(option->get_description()));
    }
}

std::string fish_completion(const CommandLine& line) {
    std::string text = "# mpiprof-report for fish, made by mpiprof-report --completion fish\n";
    for (const CLI::App* command : commands_of(line.app))
        fmt::format_to(Out(text), "complete -c mpiprof-report -n __fish_use_subcommand -a {} -d {}\n",
                       command->get_name(), in_quotes(command->get_description()));
    add_fish_options(text, line.app, line, "");
    for (const CLI::App* command : commands_of(line.app)) {
        const std::string when = "__fish_seen_subcommand_from " + command->get_name();
        for (const CLI::App* kind : commands_of(*command)) {
            fmt::format_to(Out(text), "complete -c mpiprof-report -n {} -a {} -d {}\n", in_quotes(when),
                           kind->get_name(), in_quotes(kind->get_description()));
            add_fish_options(text, *kind, line, "__fish_seen_subcommand_from " + kind->get_name());
        }
        add_fish_options(text, *command, line, when);
    }
    return text;
}

}  // namespace

std::string manual_of(const CommandLine& line) {
    std::string page = fmt::format(".TH MPIPROF\\-REPORT 1 \"\" \"mpiprof {}\" \"mpiprof\"\n", MPIPROF_VERSION);
    fmt::format_to(
        Out(page),
        ".SH NAME\nmpiprof\\-report \\- says where the time of an MPI or NCCL job went, and why\n"
        ".SH SYNOPSIS\n.B mpiprof\\-report\n[\\fICOMMAND\\fP] [\\fIOPTION\\fP]... [\\fIDIR\\fP|\\fIFILE\\fP]...\n"
        ".SH DESCRIPTION\n{}\n.PP\n{}\n.SH OPTIONS\nEvery command takes these.\n",
        escaped(line.app.get_description()), escaped(line.app.get_footer()));
    add_options(page, line.app, line);
    page += ".SH COMMANDS\n";
    for (const CLI::App* command : commands_of(line.app)) add_command(page, *command, line, command->get_name());
    page +=
        ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nNothing is colored.\n"
        ".SH EXAMPLES\n.nf\nexport LD_PRELOAD=libmpiprof.so; mpirun \\-n 64 ./app; unset LD_PRELOAD\nmpiprof\\-report\n"
        "mpiprof\\-report calls \\-\\-sort WAITING\nmpiprof\\-report hang\n.fi\n.SH SEE ALSO\n.BR mpirun (1)\n";
    return page;
}

std::string completion_of(const CommandLine& line, std::string_view shell) {
    std::string (*const made[])(const CommandLine&) = {bash_completion, fish_completion, zsh_completion};
    static_assert(std::size(made) == std::size(completed_shells));
    const auto named = std::find(std::begin(completed_shells), std::end(completed_shells), shell);
    return named == std::end(completed_shells) ? "" : made[named - std::begin(completed_shells)](line);
}

}  // namespace mpiprof::report
