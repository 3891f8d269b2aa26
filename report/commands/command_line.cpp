// What every command takes, and the commands: of each section, and of commands.def.
#include "report/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

// How --help is laid out: that of a command lists all that the command takes, its own options first and then those that
// every command takes. It knows no option by its name.
class Help : public CLI::Formatter {
  public:
    std::string make_usage(const CLI::App* app, std::string name) const override {
        std::string usage = CLI::Formatter::make_usage(app, std::move(name));
        if (const CLI::App* parent = app->get_parent())
            for (const CLI::Option* paths :
                 parent->get_options([](const CLI::Option* o) { return o->get_positional(); }))
                usage.insert(usage.find_last_not_of('\n') + 1, " " + make_option_usage(paths));
        return usage;
    }

    std::string make_positionals(const CLI::App* app) const override {
        return CLI::Formatter::make_positionals(app->get_parent() ? app->get_parent() : app);
    }

    // What every command takes stands where a command has no commands of its own.
    std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
        const CLI::App* parent = app->get_parent();
        if (!parent) return CLI::Formatter::make_subcommands(app, mode);
        const auto is_taken_too = [&](const CLI::Option* option) {
            return option->nonpositional() && option != parent->get_help_ptr() && option != parent->get_version_ptr() &&
                   !app->get_option_no_throw(option->get_name());
        };
        return make_group("Options of every command", false, parent->get_options(is_taken_too));
    }
};

Arguments arguments_of(CommandLine& line, CLI::App& app) { return {app, line.options, line.choices}; }

void add_where_to_look(CommandLine& line) {
    line.app
        .add_option(
            "paths", line.options.paths,
            "Directories of jobs, their mpi_profile.* files, or what merge made of them (default: this directory)")
        ->type_name("DIR|FILE");
    Arguments all = arguments_of(line, line.app);
    all.text("--job", line.options.choice.job, "Job ID, if the directory holds several jobs", "ID");
    all.text("--launch", line.options.choice.launch,
             "Launch within the job: a number as listed (1 = newest), or its ID", "N|ID");
}

void add_how_to_show(CommandLine& line) {
    Arguments all = arguments_of(line, line.app);
    line.app.add_option("--width", line.options.screen.width, "Columns of the screen (default: the terminal's)")
        ->check(CLI::Range(40u, 1000u))
        ->type_name("N");
    all.flag("--ascii", line.options.screen.is_ascii, "Draw with ASCII only");
    all.choice("--color", line.color, "auto, always or never; NO_COLOR is respected", {"auto", "always", "never"},
               "WHEN");
    line.app.add_option("-j", line.options.threads, "Reader threads (default: all cores)")
        ->check(CLI::Range(1u, 1024u))
        ->type_name("N");
    line.app.add_flag("--brief", line.is_brief, "A few lines, for the end of a job's own output; the exit code is 0")
        ->excludes(line.app.get_option("--width"));
    all.flag("-q,--quiet", line.options.is_quiet, "Suppress messages on stderr");
    all.flag("--strict", line.options.is_strict, "Exit code 1 if a rank is missing, unfinished or unreadable");
    all.number("--wait", line.options.wait_s, "Wait up to SECONDS for all ranks to finish", 0.0, 1e6, "SECONDS");
    all.view();
}

void add_command(CommandLine& line, std::string_view name, std::string_view about, Operands operands,
                 std::unique_ptr<Command> command) {
    CLI::App& app = *line.app.add_subcommand(std::string(name), std::string(about));
    app.fallthrough();
    Arguments arguments = arguments_of(line, app);
    command->take(arguments);
    line.commands.push_back({&app, operands, std::move(command)});
}

}  // namespace

CommandLine::CommandLine() {
    options.threads = std::max(1u, std::thread::hardware_concurrency());
    app.formatter(std::make_shared<Help>());  // the commands take it over
    app.set_version_flag("--version", std::string("mpiprof-report ") + MPIPROF_VERSION, "Print the version");
    add_where_to_look(*this);
    add_how_to_show(*this);
    for (const Section& section : sections())
        add_command(*this, section.name, section.about, Operands::one_job,
                    section.name == "hang" ? make_hang(section) : make_section(section));
#define COMMAND(name, operands, about) add_command(*this, #name, about, Operands::operands, make_##name());
#include "report/commands/commands.def"
#undef COMMAND
    Arguments all = arguments_of(*this, app);
    all.flag("--manual", is_manual, "Print the manual page, for man: mpiprof-report --manual | man -l -");
    all.choice("--completion", completion, "Print the completion for this shell: bash, fish or zsh",
               {std::begin(completed_shells), std::end(completed_shells)}, "SHELL");
    app.require_subcommand(0, 1);
    app.footer(
        "Without a command: summary of the newest launch found. A directory with the name of a command is\n"
        "reached as ./NAME. Exit code: 0 fine, 1 a check failed, 2 wrong usage, 3 no readable profile,\n"
        "4 inconclusive, 5 a job is stuck (hang --until-stuck).");
}

}  // namespace mpiprof::report
