// CLI11's side of the command line. Sections, views, exports and layouts come from their lists.
#include "report/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>

#include "report/exports/export.h"
#include "report/help.h"
#include "report/model/visible.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

constexpr int usage_error = 2;

template <class Entry>
std::vector<std::string> names_of(std::span<const Entry> list) {
    std::vector<std::string> names;
    for (const Entry& entry : list) names.emplace_back(entry.name);
    return names;
}

// "0,5-7" as numbers; empty on anything else.
std::vector<std::uint32_t> ranks_of(const std::string& text) {
    constexpr std::uint32_t most = 1'000'000;
    std::vector<std::uint32_t> ranks;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
        std::uint32_t first = 0;
        auto read = std::from_chars(at, end, first);
        if (read.ec != std::errc{}) return {};
        std::uint32_t last = first;
        if (read.ptr != end && *read.ptr == '-') {
            read = std::from_chars(read.ptr + 1, end, last);
            if (read.ec != std::errc{} || last < first || last - first > most) return {};
        }
        for (std::uint32_t rank = first; rank <= last; ++rank) ranks.push_back(rank);
        if (read.ptr == end) break;
        if (*read.ptr != ',') return {};
        at = read.ptr + 1;
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

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

// What the options are bound to before they are looked at together.
struct Raw {
    std::optional<std::string> ranks;
    std::string color = "auto";
    std::string job_part = "rank0";
    std::optional<unsigned> width;
    std::optional<std::size_t> top;
    std::string time;
    std::string fail_on, fail_on_point;
};

// "mpi", "region:solve"; empty on anything else.
std::optional<TimeChoice> time_of(const std::string& text) {
    using Kind = TimeChoice::Kind;
    constexpr std::pair<std::string_view, Kind> kinds[] = {
        {"process", Kind::process}, {"mpi", Kind::mpi}, {"iteration", Kind::iteration}};
    for (const auto& [word, kind] : kinds)
        if (text == word) return TimeChoice{kind, {}};
    constexpr std::string_view region = "region:";
    if (text.starts_with(region) && text.size() > region.size())
        return TimeChoice{Kind::region, text.substr(region.size())};
    return std::nullopt;
}

// "5%" or "5" as 0.05.
std::optional<double> share_of(std::string text) {
    if (text.ends_with('%')) text.pop_back();
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_all = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    return is_all && value >= 0 && value <= 1e6 ? std::optional(value / 100) : std::nullopt;
}

class Parser {
  public:
    Parser() {
        options_.threads = std::max(1u, std::thread::hardware_concurrency());
        app_.formatter(std::make_shared<Help>());  // the commands take it over
        app_.set_version_flag("--version", std::string("mpiprof-report ") + MPIPROF_VERSION, "Print the version");
        app_.add_option(
                "paths", options_.paths,
                "Directories of jobs, their mpi_profile.* files, or what merge made of them (default: this directory)")
            ->type_name("DIR|FILE");
        app_.add_option("--job", options_.choice.job, "The job, where profiles of several lie together")
            ->type_name("ID");
        app_.add_option("--launch", options_.choice.launch,
                        "The launch within it: a number as listed (1 = newest), or its identity")
            ->type_name("N|ID");
        app_.add_option("--width", raw_.width, "Columns of the screen (default: the terminal's)")
            ->check(CLI::Range(40u, 1000u))
            ->type_name("N");
        app_.add_flag("--ascii", options_.screen.is_ascii, "Draw with ASCII only");
        app_.add_option("--color", raw_.color, "auto, always or never; NO_COLOR is respected")
            ->check(CLI::IsMember({"auto", "always", "never"}))
            ->type_name("WHEN");
        app_.add_option("-j", options_.threads, "Threads that read (default: all cores)")
            ->check(CLI::Range(1u, 1024u))
            ->type_name("N");
        app_.add_flag("--brief", is_brief_, "At most six lines, for the end of a job's own output; the exit code is 0")
            ->excludes(app_.get_option("--width"));
        app_.add_flag("-q,--quiet", options_.is_quiet, "No remarks on stderr");
        app_.add_flag("--strict", options_.is_strict, "Exit code 1 if a rank is missing, unfinished or unreadable");
        app_.add_option("--wait", options_.wait_s, "Wait for the end of all ranks, at most so long")
            ->check(CLI::Range(0.0, 1e6))
            ->type_name("SECONDS");
        add_view_options(app_);
        add_sections();
        add_text();
        add_export();
        add_merge();
        add_watch();
        add_check();
        add_scaling();
        add_diff();
        add_plot();
        add_transfers();
        add_explain();
        app_.require_subcommand(0, 1);
        app_.footer(
            "Without a command: summary of the newest launch found. A directory with the name of a command is\n"
            "reached as ./NAME. Exit code: 0 fine, 1 a check failed, 2 wrong usage, 3 no readable profile.");
    }

    Parsed parse(int argc, char** argv) {
        std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
        command_first(words);
        std::reverse(words.begin(), words.end());  // as CLI11 takes them
        try {
            app_.parse(std::move(words));
        } catch (const CLI::ExtrasError& error) {
            const std::string hint = option_of_commands(error.what());
            return usage(hint.empty() ? error.what() : hint);
        } catch (const CLI::ParseError& error) {
            if (error.get_exit_code() == 0) return {std::nullopt, app_.exit(error)};
            return usage(error.what());
        }
        return take();
    }

  private:
    static constexpr auto every = [](const CLI::App*) { return true; };

    // Whether what follows this option is its value: no command, whatever it is called.
    bool takes_value(const std::string& option) const {
        if (option.find('=') != std::string::npos) return false;
        const auto takes = [&](const CLI::App* app) {
            const CLI::Option* known = app->get_option_no_throw(option);
            return known && known->get_items_expected_max() > 0;
        };
        const auto commands = app_.get_subcommands(every);
        return takes(&app_) || std::any_of(commands.begin(), commands.end(), takes);
    }

    // Options of a command are known only behind it: `--rank 1 calls` becomes `calls --rank 1`.
    void command_first(std::vector<std::string>& words) const {
        for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
            if (words[i].starts_with('-')) {
                i += takes_value(words[i]);
                continue;
            }
            const auto commands = app_.get_subcommands(every);
            const auto is_named = [&](const CLI::App* command) { return command->get_name() == words[i]; };
            if (std::none_of(commands.begin(), commands.end(), is_named)) continue;
            std::rotate(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i),
                        words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            return;
        }
    }

    // An option that was not expected: which commands do take it. Empty where none does.
    std::string option_of_commands(const std::string& message) const {
        std::istringstream in(message);
        for (std::string word; in >> word;) {
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

    Parsed usage(std::string_view what) const {
        fmt::print(stderr, "mpiprof-report: {}\nTry: mpiprof-report --help\n", visible(what, true));
        return {std::nullopt, usage_error};
    }

    void add_view_options(CLI::App& app) {
        app.add_option("--format", options_.format,
                       "How tables are shown: " + fmt::format("{}", fmt::join(names_of(views()), ", ")))
            ->check(CLI::IsMember(names_of(views())))
            ->type_name("FORMAT");
        app.add_option("--top", raw_.top, "At most so many lines")->check(CLI::Range(1, 1'000'000'000))->type_name("N");
    }

    void add_sections() {
        for (const Section& section : sections()) {
            CLI::App& command = *app_.add_subcommand(std::string(section.name), std::string(section.about));
            command.fallthrough();
            command.callback([this, &section] { options_.section = section.name; });
            add_view_options(command);
            if (section.takes_ranks)
                command.add_option("--rank", raw_.ranks, "Only these ranks: 3 or 0,5-7")->type_name("LIST");
            if (section.name == "placement")
                command
                    .add_option("--topology", options_.topology,
                                "How the node's devices are connected, from a saved nvidia-smi topo -m")
                    ->type_name("FILE");
            if (!section.takes_sort_and_top) continue;
            command
                .add_option("--sort", options_.question.sort,
                            "Column to sort by: its heading (TIME), or its name in --format csv (time_ns)")
                ->type_name("COLUMN");
            const std::vector<std::string> by(section.by.begin(), section.by.end());
            if (by.empty()) continue;
            command
                .add_option("--by", options_.question.by,
                            fmt::format("What one line is: {} (default {})", fmt::join(by, " or "), by[0]))
                ->check(CLI::IsMember(by))
                ->type_name("WHAT");
        }
    }

    void add_text() {
        CLI::App& command =
            *app_.add_subcommand("text", "the job as text that other tools wrote: mpitrace's, PyTorch's");
        command.fallthrough();
        command.callback([this] { options_.task = Task::text; });
        command.add_option("--rank", raw_.ranks, "Ranks: 3, 0,5-7 or all (default: the lowest)")->type_name("LIST");
        std::string about = "Layout:";
        for (const Layout& layout : layouts())
            fmt::format_to(std::back_inserter(about), " {} ({});", layout.name, layout.about);
        about.pop_back();
        command.add_option("--layout", options_.layout, about)
            ->check(CLI::IsMember(names_of(layouts())))
            ->type_name("NAME");
        command.add_flag("--all-launches", options_.compare.takes_all_launches,
                         "ddp: each launch in a directory is a run, as each of several paths is");
        command
            .add_option("--all-ranks-table", raw_.job_part,
                        "Where the table of all ranks stands: rank0, always or never")
            ->check(CLI::IsMember({"rank0", "always", "never"}))
            ->type_name("WHERE");
        command
            .add_option("-o,--output", options_.output, "Write mpi_profile.<job>.<rank>.txt files into this directory")
            ->type_name("DIR");
    }

    void add_export() {
        CLI::App& command = *app_.add_subcommand("export", "the whole job for other programs");
        command.fallthrough();
        command.callback([this] { options_.task = Task::data; });
        std::string about = "Format:";
        for (const Export& one : exports()) fmt::format_to(std::back_inserter(about), " {} ({});", one.name, one.about);
        about.pop_back();
        command.add_option("-f,--format", options_.format, about)
            ->check(CLI::IsMember(names_of(exports())))
            ->type_name("FORMAT")
            ->required();
        command.add_option("-o,--output", options_.output, "Write to this file")->type_name("FILE");
        command.add_flag("--all-launches", options_.compare.takes_all_launches,
                         "ddp-json: each launch in a directory is a run, as each of several paths is");
    }

    void add_merge() {
        CLI::App& command =
            *app_.add_subcommand("merge", "the profiles of a launch as one file, which every command reads");
        command.fallthrough();
        command.callback([this] { options_.task = Task::merge; });
        command.add_option("-o,--output", options_.output, "Write to this file; the name usually ends in .mpiprof")
            ->type_name("FILE")
            ->required();
    }

    void add_watch() {
        CLI::App& command = *app_.add_subcommand("watch", "a running job's numbers, until it ends");
        command.fallthrough();
        command.callback([this] { options_.task = Task::watch; });
        command.add_option("--interval", options_.interval_s, "Seconds between two looks (default 2)")
            ->check(CLI::Range(0.1, 3600.0))
            ->type_name("SECONDS");
    }

    void add_check() {
        CLI::App& command = *app_.add_subcommand("check", "what is wrong with each file, and what is missing");
        command.fallthrough();
        command.callback([this] { options_.task = Task::check; });
        add_view_options(command);
    }

    // What the commands that compare several jobs have in common.
    void add_compare_options(CLI::App& command) {
        command.fallthrough();
        add_view_options(command);
        command
            .add_option("--time", raw_.time,
                        "What is compared: process (from its start to MPI_Finalize), mpi (from MPI_Init on), iteration "
                        "(the mean one), or region:NAME")
            ->type_name("TIME");
        command.add_flag("--all-launches", options_.compare.takes_all_launches,
                         "Each launch in a directory is a run, not the newest alone");
    }

    void add_scaling_options(CLI::App& command) {
        command.add_option("--unit", options_.compare.unit, "What N counts: rank (default), node, core or gpu")
            ->check(CLI::IsMember({"rank", "node", "core", "gpu"}))
            ->type_name("UNIT");
        command
            .add_option("--su", options_.compare.su,
                        "What a run is charged for, by the resources of each: core=1,gpu=2 (default: N)")
            ->type_name("WEIGHTS");
        command.add_flag("--weak", options_.compare.is_weak, "The work grew with N: efficiency is t1 / tN");
        command
            .add_option("--worth", options_.compare.worth,
                        "What a further unit must add to be worth it, in parts of one (default 0.25)")
            ->check(CLI::Range(0.0, 1.0))
            ->type_name("GAIN");
    }

    void add_scaling() {
        CLI::App& command =
            *app_.add_subcommand("scaling", "speedup and cost over several sizes, and how many are worth asking for");
        command.callback([this] { options_.task = Task::scaling; });
        add_compare_options(command);
        add_scaling_options(command);
        command.footer(
            "Operands: [LABEL=]DIR[:JOB] of a job each; [LABEL=]N=SECONDS; files *.csv of n,seconds[,series]. What has\n"
            "one label is one series. mpiprof-report scaling --unit gpu 1=226 2=134 3=95 4=76");
    }

    void add_against(CLI::App& command) {
        command.add_option("--against", options_.compare.against, "The runs that the others are compared with")
            ->type_name("RUN...");
    }

    void add_diff() {
        CLI::App& command = *app_.add_subcommand("diff", "what differs between two jobs, or two sets of repeats");
        command.callback([this] { options_.task = Task::diff; });
        add_compare_options(command);
        add_against(command);
        command
            .add_option("--layout", options_.layout,
                        "ddp: as diff.py of PyTorch's DDP benchmark prints it, and no more")
            ->check(CLI::IsMember(std::vector<std::string>{"ddp"}))
            ->type_name("NAME");
        command
            .add_option("--fail-on", raw_.fail_on,
                        "Exit code 1 if it became slower by more than this for certain, 3 if that cannot be told")
            ->type_name("PERCENT");
        command.add_option("--fail-on-point", raw_.fail_on_point, "Exit code 1 if the bare change is more than this")
            ->type_name("PERCENT");
        command.footer(
            "diff A B, or with repeats: diff A1 A2 ... --against B1 B2 ...; each [LABEL=]DIR[:JOB] or a profile.");
    }

    CLI::App& add_plot_kind(CLI::App& plot, const char* name, const char* about, PlotKind kind) {
        CLI::App& command = *plot.add_subcommand(name, about);
        command.callback([this, kind] {
            options_.task = Task::plot;
            options_.compare.plot = kind;
        });
        add_compare_options(command);
        command
            .add_option("-o,--output", options_.output,
                        "The picture: F.svg, F.png or F.pdf (default: drawn on the terminal)")
            ->type_name("FILE");
        return command;
    }

    void add_plot() {
        CLI::App& command =
            *app_.add_subcommand("plot", "pictures: scaling, bandwidth, sizes, ranks, matrix, time, diff");
        command.fallthrough();
        command.require_subcommand(1);
        CLI::App& scaling = add_plot_kind(command, "scaling", "speedup over N, and perfect scaling", PlotKind::scaling);
        add_scaling_options(scaling);
        scaling
            .add_option("--show", options_.compare.plot_shows,
                        "speedup (default), time, or performance: how many times as fast as the first series at its "
                        "smallest N")
            ->check(CLI::IsMember({"speedup", "time", "performance"}))
            ->type_name("WHAT");
        add_plot_kind(command, "bandwidth", "MB/s over the size of messages (MPIPROF_TRACE=on) or calls",
                      PlotKind::bandwidth)
            .add_option("--call", options_.compare.call, "Of this function (default: the one that moved most bytes)")
            ->type_name("NAME");
        add_plot_kind(command, "sizes", "how many calls have which size", PlotKind::sizes);
        add_plot_kind(command, "ranks", "time inside MPI and outside, rank by rank", PlotKind::ranks);
        add_plot_kind(command, "matrix", "bytes from each rank to each other", PlotKind::matrix);
        add_plot_kind(command, "time", "when ranks were inside MPI: a map of one job, curves of several",
                      PlotKind::time);
        add_against(add_plot_kind(command, "diff", "the calls of which two runs differ most", PlotKind::diff));
    }

    void add_transfers() {
        CLI::App& command = *app_.add_subcommand(
            "transfers", "how fast data moved between two ranks: a line a message, or tables by size and pair");
        command.fallthrough();
        command.callback([this] { options_.task = Task::transfers; });
        add_view_options(command);
        command.add_option("--by", options_.compare.transfers_by, "Whose number a line begins with (default receiver)")
            ->check(CLI::IsMember({"receiver", "sender"}))
            ->type_name("WHOM");
        command
            .add_option("--peak", options_.compare.peak,
                        "The fastest that it can be: net, memory, h2d, d2h, d2d; net=10Gbit,memory=12GB")
            ->type_name("RATES");
        command.add_flag("--follow", options_.compare.follows, "Print lines while the job runs, and end with it");
        command.add_option("--interval", options_.interval_s, "Seconds between two looks (default 2)")
            ->check(CLI::Range(0.1, 3600.0))
            ->type_name("SECONDS");
        command.add_flag("--all-launches", options_.compare.takes_all_launches,
                         "Each launch in a directory is a run, not the newest alone");
        command.footer(
            "Single messages need MPIPROF_TRACE=on in the job. Without --format and --peak: one line a message. Several\n"
            "runs, each [LABEL=]DIR[:JOB], are compared by size.");
    }

    void add_explain() {
        CLI::App& command = *app_.add_subcommand("explain", "what a word in brackets behind a finding means");
        command.fallthrough();
        command.callback([this] { options_.task = Task::explain; });
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
        if (options_.task == Task::explain) {
            if (options_.paths.size() > 1) return usage("one rule at a time");
            if (!options_.paths.empty()) options_.rule = options_.paths.front();
            return {std::move(options_), 0};
        }
        if (is_brief_ && (options_.task != Task::section || !options_.section.empty()))
            return usage("--brief stands alone, without a command");
        for (const std::string& word : options_.paths)
            if (const std::string text = mistaken(word); !text.empty()) return usage(text);
        if (options_.section.empty()) options_.section = sections().front().name;
        if (options_.layout.empty() && options_.task == Task::text) options_.layout = layouts().front().name;
        if (const std::string text = take_compared(); !text.empty()) return usage(text);
        const bool is_shown_as_tables = options_.task != Task::text && options_.task != Task::data &&
                                        options_.task != Task::explain &&
                                        options_.task != Task::transfers;  // which has lines of its own
        if (options_.format.empty() && is_shown_as_tables) options_.format = views().front().name;
        if (is_brief_) options_.task = Task::brief;
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

    CLI::App app_{"Reads the profiles of an MPI job (mpi_profile.<job>.<rank>) and says where its time went.",
                  "mpiprof-report"};
    Options options_;
    Raw raw_;
    bool is_brief_ = false;
};

}  // namespace

Parsed parse_options(int argc, char** argv) { return Parser().parse(argc, argv); }

}  // namespace mpiprof::report
