// What each command takes. Sections, views, exports and layouts come from their lists.
#include "report/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <thread>

#include "report/exports/export.h"
#include "report/help.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

template <class Entry>
std::vector<std::string> names_of(std::span<const Entry> list) {
    std::vector<std::string> names;
    for (const Entry& entry : list) names.emplace_back(entry.name);
    return names;
}

// An option that takes one of these words.
CLI::Option* add_choice(CommandLine& line, CLI::App& app, const char* name, std::string& to, const std::string& about,
                        const std::vector<std::string>& words, const char* type) {
    CLI::Option* option = app.add_option(name, to, about)->check(CLI::IsMember(words))->type_name(type);
    line.choices[option] = words;
    return option;
}

void add_view_options(CommandLine& line, CLI::App& app) {
    add_choice(line, app, "--format", line.options.format,
               "How tables are shown: " + fmt::format("{}", fmt::join(names_of(views()), ", ")), names_of(views()),
               "FORMAT");
    app.add_option("--top", line.raw.top, "At most so many lines")->check(CLI::Range(1, 1'000'000'000))->type_name("N");
}

void add_common_options(CommandLine& line) {
    line.options.threads = std::max(1u, std::thread::hardware_concurrency());
    line.app.formatter(std::make_shared<Help>());  // the commands take it over
    line.app.set_version_flag("--version", std::string("mpiprof-report ") + MPIPROF_VERSION, "Print the version");
    line.app
        .add_option(
            "paths", line.options.paths,
            "Directories of jobs, their mpi_profile.* files, or what merge made of them (default: this directory)")
        ->type_name("DIR|FILE");
    line.app.add_option("--job", line.options.choice.job, "The job, where profiles of several lie together")
        ->type_name("ID");
    line.app
        .add_option("--launch", line.options.choice.launch,
                    "The launch within it: a number as listed (1 = newest), or its identity")
        ->type_name("N|ID");
    line.app.add_option("--width", line.raw.width, "Columns of the screen (default: the terminal's)")
        ->check(CLI::Range(40u, 1000u))
        ->type_name("N");
    line.app.add_flag("--ascii", line.options.screen.is_ascii, "Draw with ASCII only");
    add_choice(line, line.app, "--color", line.raw.color, "auto, always or never; NO_COLOR is respected",
               {"auto", "always", "never"}, "WHEN");
    line.app.add_option("-j", line.options.threads, "Threads that read (default: all cores)")
        ->check(CLI::Range(1u, 1024u))
        ->type_name("N");
    line.app
        .add_flag("--brief", line.raw.is_brief,
                  "At most eight lines, for the end of a job's own output; the exit code is 0")
        ->excludes(line.app.get_option("--width"));
    line.app.add_flag("-q,--quiet", line.options.is_quiet, "No remarks on stderr");
    line.app.add_flag("--strict", line.options.is_strict, "Exit code 1 if a rank is missing, unfinished or unreadable");
    line.app.add_option("--wait", line.options.wait_s, "Wait for the end of all ranks, at most so long")
        ->check(CLI::Range(0.0, 1e6))
        ->type_name("SECONDS");
    add_view_options(line, line.app);
}

// A command that is a task of its own.
CLI::App& add_command(CommandLine& line, const char* name, const char* about, Task task) {
    CLI::App& command = *line.app.add_subcommand(name, about);
    command.fallthrough();
    command.callback([&options = line.options, task] { options.task = task; });
    return command;
}

void add_interval(CommandLine& line, CLI::App& command) {
    command
        .add_option_function<double>(
            "--interval",
            [&options = line.options](double seconds) {
                options.interval_s = seconds;
                options.has_interval = true;
            },
            "Seconds between two looks (default 2)")
        ->check(CLI::Range(0.1, 3600.0))
        ->type_name("SECONDS");
}

void add_until_stuck(CommandLine& line, CLI::App& command) {
    CLI::Option& until = *command.add_option_function<double>(
        "--until-stuck",
        [&options = line.options](double seconds) {
            options.until_stuck_s = seconds;
            options.task = Task::until_stuck;
        },
        "Look at the running job until it ends, or has hung for so long: then say why: exit code 5 if that is proven, 4 if nothing but silence is known");
    const std::map<std::string, double> units{{"s", 1}, {"m", 60}, {"h", 3600}};
    until.transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::UNIT_OPTIONAL, "TIME"));
    command
        .add_option("--run", line.options.stuck_command,
                    "A command for /bin/sh, run once where it is proven that the job hangs: 'scancel $SLURM_JOB_ID'")
        ->needs(&until)
        ->type_name("COMMAND");
    add_interval(line, command);
}

void add_sections(CommandLine& line) {
    for (const Section& section : sections()) {
        CLI::App& command = *line.app.add_subcommand(std::string(section.name), std::string(section.about));
        command.fallthrough();
        command.callback([&options = line.options, &section] { options.section = section.name; });
        add_view_options(line, command);
        if (section.takes_ranks)
            command.add_option("--rank", line.raw.ranks, "Only these ranks: 3 or 0,5-7")->type_name("LIST");
        if (section.takes_devices)
            command
                .add_option("--topology", line.options.topology,
                            "How the node's devices are connected, from a saved nvidia-smi topo -m")
                ->type_name("FILE");
        if (section.name == "hang") add_until_stuck(line, command);
        if (!section.takes_sort_and_top) continue;
        command
            .add_option("--sort", line.options.question.sort,
                        "Column to sort by: its heading (TIME), or its name in --format csv (time_ns)")
            ->type_name("COLUMN");
        std::vector<std::string> by(section.by.begin(), section.by.end());
        std::erase(by, "");
        if (by.empty()) continue;
        add_choice(line, command, "--by", line.options.question.by,
                   fmt::format("What one line is: {} (default {})", fmt::join(by, " or "), by[0]), by, "WHAT");
    }
}

void add_text(CommandLine& line) {
    CLI::App& command =
        add_command(line, "text", "the job as text that other tools wrote: mpitrace's, PyTorch's", Task::text);
    command.add_option("--rank", line.raw.ranks, "Ranks: 3, 0,5-7 or all (default: the lowest)")->type_name("LIST");
    std::string about = "Layout:";
    for (const Layout& layout : layouts())
        fmt::format_to(std::back_inserter(about), " {} ({});", layout.name, layout.about);
    about.pop_back();
    add_choice(line, command, "--layout", line.options.layout, about, names_of(layouts()), "NAME");
    command.add_flag("--all-launches", line.options.compare.takes_all_launches,
                     "ddp: each launch in a directory is a run, as each of several paths is");
    add_choice(line, command, "--all-ranks-table", line.raw.job_part,
               "Where the table of all ranks stands: rank0, always or never", {"rank0", "always", "never"}, "WHERE");
    command
        .add_option("-o,--output", line.options.output, "Write mpi_profile.<job>.<rank>.txt files into this directory")
        ->type_name("DIR");
}

void add_export(CommandLine& line) {
    CLI::App& command = add_command(line, "export", "the whole job for other programs", Task::data);
    std::string about = "Format:";
    for (const Export& one : exports()) fmt::format_to(std::back_inserter(about), " {} ({});", one.name, one.about);
    about.pop_back();
    add_choice(line, command, "-f,--format", line.options.format, about, names_of(exports()), "FORMAT")->required();
    command.add_option("-o,--output", line.options.output, "Write to this file")->type_name("FILE");
    command.add_flag("--all-launches", line.options.compare.takes_all_launches,
                     "ddp-json: each launch in a directory is a run, as each of several paths is");
}

void add_merge(CommandLine& line) {
    CLI::App& command =
        add_command(line, "merge", "the profiles of a launch as one file, which every command reads", Task::merge);
    command.add_option("-o,--output", line.options.output, "Write to this file; the name usually ends in .mpiprof")
        ->type_name("FILE")
        ->required();
}

void add_watch(CommandLine& line) {
    CLI::App& command = add_command(line, "watch", "a running job's numbers, until it ends", Task::watch);
    add_interval(line, command);
}

void add_check(CommandLine& line) {
    CLI::App& command = add_command(line, "check", "what is wrong with each file, and what is missing", Task::check);
    add_view_options(line, command);
}

// What the commands that compare several jobs have in common.
void add_compare_options(CommandLine& line, CLI::App& command) {
    add_view_options(line, command);
    command
        .add_option("--time", line.raw.time,
                    "What is compared: process (from its start to MPI_Finalize), mpi (from MPI_Init on), iteration "
                    "(the mean one), or region:NAME")
        ->type_name("TIME");
    command.add_flag("--all-launches", line.options.compare.takes_all_launches,
                     "Each launch in a directory is a run, not the newest alone");
}

void add_scaling_options(CommandLine& line, CLI::App& command) {
    add_choice(line, command, "--unit", line.options.compare.unit, "What N counts: rank (default), node, core or gpu",
               {"rank", "node", "core", "gpu"}, "UNIT");
    command
        .add_option("--su", line.options.compare.su,
                    "What a run is charged for, by the resources of each: core=1,gpu=2 (default: N)")
        ->type_name("WEIGHTS");
    command.add_flag("--weak", line.options.compare.is_weak, "The work grew with N: efficiency is t1 / tN");
    command
        .add_option("--worth", line.options.compare.worth,
                    "What a further unit must add to be worth it, in parts of one (default 0.25)")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("GAIN");
}

void add_scaling(CommandLine& line) {
    CLI::App& command = add_command(
        line, "scaling", "speedup and cost over several sizes, and how many are worth asking for", Task::scaling);
    add_compare_options(line, command);
    add_scaling_options(line, command);
    command.footer(
        "Operands: [LABEL=]DIR[:JOB] of a job each; [LABEL=]N=SECONDS; files *.csv of n,seconds[,series]. What has\n"
        "one label is one series. mpiprof-report scaling --unit gpu 1=226 2=134 3=95 4=76");
}

void add_against(CommandLine& line, CLI::App& command) {
    command.add_option("--against", line.options.compare.against, "The runs that the others are compared with")
        ->type_name("RUN...");
}

void add_diff(CommandLine& line) {
    CLI::App& command = add_command(line, "diff", "what differs between two jobs, or two sets of repeats", Task::diff);
    add_compare_options(line, command);
    add_against(line, command);
    add_choice(line, command, "--layout", line.options.layout,
               "ddp: as diff.py of PyTorch's DDP benchmark prints it, and no more", {"ddp"}, "NAME");
    command
        .add_option("--fail-on", line.raw.fail_on,
                    "Exit code 1 if it became slower by more than this for certain, 4 if that cannot be told")
        ->type_name("PERCENT");
    command.add_option("--fail-on-point", line.raw.fail_on_point, "Exit code 1 if the bare change is more than this")
        ->type_name("PERCENT");
    command.footer(
        "diff A B, or with repeats: diff A1 A2 ... --against B1 B2 ...; each [LABEL=]DIR[:JOB] or a profile.");
}

CLI::App& add_plot_kind(CommandLine& line, CLI::App& plot, const char* name, const char* about, PlotKind kind) {
    CLI::App& command = *plot.add_subcommand(name, about);
    command.fallthrough();
    command.callback([&options = line.options, kind] {
        options.task = Task::plot;
        options.compare.plot = kind;
    });
    add_compare_options(line, command);
    command
        .add_option("-o,--output", line.options.output,
                    "The picture: F.svg, F.png or F.pdf (default: drawn on the terminal)")
        ->type_name("FILE");
    return command;
}

void add_plot(CommandLine& line) {
    CLI::App& command =
        *line.app.add_subcommand("plot", "pictures: scaling, bandwidth, sizes, ranks, matrix, time, diff");
    command.fallthrough();
    command.require_subcommand(1);
    command.footer(
        "mpiprof-report plot KIND [RUN...] [-o F.svg|F.png|F.pdf], KIND one of scaling, bandwidth, sizes, ranks, matrix,\n"
        "time, diff; without -o it is drawn on the terminal. mpiprof-report plot KIND --help has the options of each.");
    CLI::App& scaling =
        add_plot_kind(line, command, "scaling", "speedup over N, and perfect scaling", PlotKind::scaling);
    add_scaling_options(line, scaling);
    add_choice(line, scaling, "--show", line.options.compare.plot_shows,
               "speedup (default), time, or performance: how many times as fast as the first series at its "
               "smallest N",
               {"speedup", "time", "performance"}, "WHAT");
    add_plot_kind(line, command, "bandwidth", "MB/s over the size of messages (MPIPROF_TRACE=on) or calls",
                  PlotKind::bandwidth)
        .add_option("--call", line.options.compare.call, "Of this function (default: the one that moved most bytes)")
        ->type_name("NAME");
    add_plot_kind(line, command, "sizes", "how many calls have which size", PlotKind::sizes);
    add_plot_kind(line, command, "ranks", "time inside MPI and outside, rank by rank", PlotKind::ranks);
    add_plot_kind(line, command, "matrix", "bytes from each rank to each other", PlotKind::matrix);
    add_plot_kind(line, command, "time", "when ranks were inside MPI: a map of one job, curves of several",
                  PlotKind::time);
    add_against(line, add_plot_kind(line, command, "diff", "the calls of which two runs differ most", PlotKind::diff));
}

void add_transfers(CommandLine& line) {
    CLI::App& command = add_command(
        line, "transfers", "how fast data moved between two ranks: a line a message, or tables by size and pair",
        Task::transfers);
    add_view_options(line, command);
    add_choice(line, command, "--by", line.options.compare.transfers_by,
               "Whose number a line begins with (default receiver)", {"receiver", "sender"}, "WHOM");
    command
        .add_option("--peak", line.options.compare.peak,
                    "The fastest that it can be: net, memory, h2d, d2h, d2d; net=10Gbit,memory=12GB")
        ->type_name("RATES");
    command.add_flag("--follow", line.options.compare.follows, "Print lines while the job runs, and end with it");
    add_interval(line, command);
    command.add_flag("--all-launches", line.options.compare.takes_all_launches,
                     "Each launch in a directory is a run, not the newest alone");
    command.footer(
        "Single messages need MPIPROF_TRACE=on in the job. Without --format and --peak: one line a message. Several\n"
        "runs, each [LABEL=]DIR[:JOB], are compared by size.");
}

}  // namespace

CommandLine::CommandLine() {
    add_common_options(*this);
    add_sections(*this);
    add_text(*this);
    add_export(*this);
    add_merge(*this);
    add_watch(*this);
    add_check(*this);
    add_scaling(*this);
    add_diff(*this);
    add_plot(*this);
    add_transfers(*this);
    add_command(*this, "explain", "what a word in brackets behind a finding means", Task::explain);
    add_command(*this, "doctor", "whether a program can be profiled, and what stands in the way", Task::doctor);
    app.add_flag("--manual", raw.is_manual, "Print the manual page, for man: mpiprof-report --manual | man -l -");
    add_choice(*this, app, "--completion", raw.completion, "Print the completion for this shell: bash, fish or zsh",
               {std::begin(completed_shells), std::end(completed_shells)}, "SHELL");
    app.require_subcommand(0, 1);
    app.footer(
        "Without a command: summary of the newest launch found. A directory with the name of a command is\n"
        "reached as ./NAME. Exit code: 0 fine, 1 a check failed, 2 wrong usage, 3 no readable profile,\n"
        "4 what was to be checked cannot be told, 5 a job is stuck (hang --until-stuck).");
}

}  // namespace mpiprof::report
