// What is completed behind an option are its choices, or files; the text of a page is that of --help.
#include "report/commands/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "report/model/joined.h"

namespace mpiprof::report {
namespace {

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

void add_option(std::string& page, const OptionText& option) {
    page += fmt::format(".TP\n.B {}", escaped(joined(option.names, ", ")));
    if (option.takes_value) page += fmt::format(" \\fI{}\\fP", escaped(option.type));
    page += fmt::format("\n{}\n", escaped(option.about));
}

void add_command(std::string& page, const CommandText& command, const std::string& name) {
    page += fmt::format(".SS {}\n{}\n", escaped(name), escaped(command.about));
    for (const OptionText& option : command.options)
        if (!option.is_help) add_option(page, option);
    for (const CommandText& kind : command.commands) add_command(page, kind, name + " " + kind.name);
}

// ---- completion ----

std::string names_of_commands(const CommandText& program) {
    std::vector<std::string> names;
    for (const CommandText& command : program.commands) names.push_back(command.name);
    return joined(names, " ");
}
void add_names(const CommandText& command, std::vector<std::string>& all) {
    for (const OptionText& option : command.options)
        for (const std::string& name : option.names)
            if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
}
// The options of a command and of its kinds, once each; those that every command takes stand with the program's.
void add_names_with_kinds(const CommandText& command, std::vector<std::string>& all) {
    add_names(command, all);
    for (const CommandText& kind : command.commands) add_names_with_kinds(kind, all);
}
std::string names_of_options(const CommandText& command) {
    std::vector<std::string> all;
    add_names_with_kinds(command, all);
    std::erase_if(all, [](const std::string& name) { return name == "-h" || name == "--help"; });
    return joined(all, " ");
}
std::string names_of_common_options(const CommandText& program) {
    std::vector<std::string> all;
    add_names(program, all);
    return joined(all, " ");
}

// Every option that has choices once, by its name: two commands mean the same by one, or the union is offered.
using ChoicesByName = std::vector<std::pair<std::string, std::vector<std::string>>>;
void add_choices(const CommandText& command, ChoicesByName& all) {
    for (const OptionText& option : command.options) {
        if (option.choices.empty()) continue;
        const std::string name = joined(option.names, "|");
        auto known = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
        if (known == all.end()) known = all.insert(all.end(), {name, {}});
        for (const std::string& word : option.choices)
            if (std::find(known->second.begin(), known->second.end(), word) == known->second.end())
                known->second.push_back(word);
    }
    for (const CommandText& inner : command.commands) add_choices(inner, all);
}

std::string bash_completion(const CommandText& program) {
    const std::string commands = names_of_commands(program);
    const auto plot = std::find_if(program.commands.begin(), program.commands.end(),
                                   [](const CommandText& command) { return command.name == "plot"; });
    ChoicesByName choices;
    add_choices(program, choices);
    std::string text =
        "# mpiprof-report for bash, made by mpiprof-report --completion bash\n"
        "_mpiprof_report() {\n"
        "    local word command='' cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options\n"
        "    COMPREPLY=()\n"
        "    for word in \"${COMP_WORDS[@]:1:$((COMP_CWORD-1))}\"; do\n";
    text += fmt::format("        case \" {} \" in *\" $word \"*) command=$word; break ;; esac\n    done\n", commands);
    text += "    case $prev in\n";
    for (const auto& [name, words] : choices)
        text += fmt::format("        {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n", name,
                            joined(words, " "));
    text += fmt::format(
        "        plot) case $cur in -*) ;; *) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;; esac ;;\n",
        plot == program.commands.end() ? "" : names_of_commands(*plot));
    text += fmt::format("    esac\n    options='{}'\n    case $command in\n", names_of_common_options(program));
    for (const CommandText& command : program.commands)
        text += fmt::format("        {}) options+=' {}' ;;\n", command.name, names_of_options(command));
    text += fmt::format(
        "    esac\n"
        "    case $cur in -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")); return ;; esac\n"
        "    [ -n \"$command\" ] || COMPREPLY=($(compgen -W '{}' -- \"$cur\"))\n"
        "    COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
        "}}\n"
        "complete -o filenames -F _mpiprof_report mpiprof-report\n",
        commands);
    return text;
}

std::string zsh_completion(const CommandText& program) {
    // Where zsh has loaded it for a first completion, that is still to be made.
    return "#compdef mpiprof-report\nautoload -U +X bashcompinit && bashcompinit\n" + bash_completion(program) +
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

void add_fish_options(std::string& text, const CommandText& command, const std::string& when) {
    for (const OptionText& option : command.options) {
        if (!when.empty() && option.is_help) continue;
        text += fmt::format("complete -c mpiprof-report{}", when.empty() ? "" : " -n " + in_quotes(when));
        for (const std::string& name : option.names) {
            const bool is_long = name.starts_with("--");
            text += fmt::format(" -{} {}", is_long ? 'l' : 's', name.substr(is_long ? 2 : 1));
        }
        if (option.takes_value) text += " -r";
        if (!option.choices.empty()) text += fmt::format(" -f -a {}", in_quotes(joined(option.choices, " ")));
        text += fmt::format(" -d {}\n", in_quotes(option.about));
    }
}

std::string fish_completion(const CommandText& program) {
    std::string text = "# mpiprof-report for fish, made by mpiprof-report --completion fish\n";
    for (const CommandText& command : program.commands)
        text += fmt::format("complete -c mpiprof-report -n __fish_use_subcommand -a {} -d {}\n", command.name,
                            in_quotes(command.about));
    add_fish_options(text, program, "");
    for (const CommandText& command : program.commands) {
        const std::string when = "__fish_seen_subcommand_from " + command.name;
        for (const CommandText& kind : command.commands) {
            text += fmt::format("complete -c mpiprof-report -n {} -a {} -d {}\n", in_quotes(when), kind.name,
                                in_quotes(kind.about));
            add_fish_options(text, kind, "__fish_seen_subcommand_from " + kind.name);
        }
        add_fish_options(text, command, when);
    }
    return text;
}

}  // namespace

std::string manual_of(const CommandText& program) {
    std::string page = fmt::format(".TH MPIPROF\\-REPORT 1 \"\" \"mpiprof {}\" \"mpiprof\"\n", MPIPROF_VERSION);
    page += fmt::format(
        ".SH NAME\nmpiprof\\-report \\- says where the time of an MPI or NCCL job went, and why\n"
        ".SH SYNOPSIS\n.B mpiprof\\-report\n[\\fICOMMAND\\fP] [\\fIOPTION\\fP]... [\\fIDIR\\fP|\\fIFILE\\fP]...\n"
        ".SH DESCRIPTION\n{}\n.PP\n{}\n.SH OPTIONS\nEvery command takes these.\n",
        escaped(program.about), escaped(program.footer));
    for (const OptionText& option : program.options) add_option(page, option);
    page += ".SH COMMANDS\n";
    for (const CommandText& command : program.commands) add_command(page, command, command.name);
    page +=
        ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nNothing is colored.\n"
        ".SH EXAMPLES\n.nf\nexport LD_PRELOAD=libmpiprof.so; mpirun \\-n 64 ./app; unset LD_PRELOAD\nmpiprof\\-report\n"
        "mpiprof\\-report calls \\-\\-sort WAITING\nmpiprof\\-report hang\n.fi\n.SH SEE ALSO\n.BR mpirun (1)\n";
    return page;
}

std::string completion_of(const CommandText& program, std::string_view shell) {
    std::string (*const made[])(const CommandText&) = {bash_completion, fish_completion, zsh_completion};
    static_assert(std::size(made) == std::size(completed_shells));
    const auto named = std::find(std::begin(completed_shells), std::end(completed_shells), shell);
    return named == std::end(completed_shells) ? "" : made[named - std::begin(completed_shells)](program);
}

}  // namespace mpiprof::report
