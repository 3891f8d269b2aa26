// mpiprof-report, as a story: find the profiles, choose a launch, read and merge its ranks, ask, show.
// Reads files and prints; never changes a profile. Exit code: 0 fine, 1 a check failed, 2 usage, 3 no readable profile,
// 4 cannot tell, 5 stuck.
#include <fmt/format.h>

#include <filesystem>

#include "report/brief.h"
#include "report/check.h"
#include "report/ddp.h"
#include "report/diff.h"
#include "report/doctor.h"
#include "report/explain.h"
#include "report/export_data.h"
#include "report/layouts/layout.h"
#include "report/load.h"
#include "report/merge/merge.h"
#include "report/merge_files.h"
#include "report/model/units.h"
#include "report/options.h"
#include "report/parse_options.h"
#include "report/plot.h"
#include "report/read/topology_text.h"
#include "report/say.h"
#include "report/scaling.h"
#include "report/sections/section.h"
#include "report/stuck.h"
#include "report/transfers.h"
#include "report/views/terminal.h"
#include "report/views/view.h"
#include "report/watch.h"

namespace mpiprof::report {
namespace {

// What the summary says in its body, everything else says on stderr.
void remark(const Loaded& loaded) {
    const Job& job = loaded.job;
    constexpr std::size_t most = 5;
    for (std::size_t i = 0; i < std::min(job.problems.size(), most); ++i) say(job.problems[i]);
    if (job.problems.size() > most) say(fmt::format("{} more files with problems", job.problems.size() - most));
    if (job.lacks_ranks())
        say(fmt::format("{} of {} ranks {} a profile", job.profiles(), job.expected(),
                        job.profiles() == 1 ? "has" : "have"));
    if (!job.other_launches.empty())
        say(fmt::format("this is launch {} of {} here (job {}); others: --launch N, listed by the summary",
                        job.launch_number, job.other_launches.size() + 1, job.job));
    if (loaded.late_writes) say(text_of(*loaded.late_writes));
}

Result<std::monostate> load_cells(Job& job, RankReader& reader, const std::vector<std::uint32_t>& ranks) {
    for (const std::uint32_t rank : ranks) {
        const Rank* known = job.find(rank);
        if (!known || !known->has_profile)
            return problem(fmt::format("--rank {}", rank),
                           rank < job.size
                               ? fmt::format("has no profile; {} of {} ranks {} one", job.profiles(), job.size,
                                             job.profiles() == 1 ? "has" : "have")
                               : fmt::format("no such rank; the job has {}", plural(job.size, "rank", "ranks")));
        auto cells = reader.cells(job, rank);
        if (!cells) return tl::make_unexpected(cells.error());
        job.kept_cells[rank] = std::move(*cells);
    }
    return std::monostate{};
}

int show_section(Job& job, RankReader& reader, const Options& options) {
    const Section& section = *find_section(options.section);
    const View& view = *find_view(options.format);
    Question question = options.question;
    question.is_for_screen = view.is_for_screen;
    if (const auto ok = load_cells(job, reader, question.ranks); !ok) return fail(ok.error(), usage_error);
    if (section.asks_for_places && !question.ranks.empty()) {
        auto sites = reader.sites(job, question.ranks);
        if (!sites) return fail(sites.error(), usage_error);
        job.kept_sites = std::move(*sites);
    }
    if (!options.topology.empty()) {
        auto devices = read_topology(options.topology);
        if (!devices) return fail(devices.error(), usage_error);
        question.devices = std::move(*devices);
    }
    const auto tables = section.answer(job, question);
    if (!tables) return fail(tables.error(), usage_error);
    auto output = Output::open("");
    output->write(view.show({section.name, *tables}, screen_for(stdout, options.screen)));
    return finish(*output);
}

std::vector<std::uint32_t> ranks_for_text(const Job& job, const Options& options) {
    if (!options.question.ranks.empty()) return options.question.ranks;
    std::vector<std::uint32_t> ranks;
    for (const Rank& rank : job.ranks)
        if (rank.has_profile && (options.wants_all_ranks || ranks.empty())) ranks.push_back(rank.rank);
    return ranks;
}

// `what`: a rank, or the layout of the whole job.
std::string text_path(const Job& job, std::string_view what, const std::string& directory) {
    // A job's name comes from a file: it must not lead out of the directory.
    std::string name = fmt::format("mpi_profile.{}.{}.txt", job.job.empty() ? "job" : job.job, what);
    for (char& c : name)
        if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '_';
    return (std::filesystem::path(directory) / name).string();
}

int show_text_of_job(const Job& job, const Layout& layout, const Options& options) {
    if (!options.question.ranks.empty() || options.wants_all_ranks)
        return fail({"--rank", "is not for this layout", "it is about all ranks together"}, usage_error);
    const auto text = layout.of_job(job);
    if (!text) return fail(text.error(), usage_error);
    std::error_code error;
    if (!options.output.empty()) std::filesystem::create_directories(options.output, error);
    auto output = Output::open(options.output.empty() ? "" : text_path(job, layout.name, options.output));
    if (!output) return fail(output.error(), check_failed);
    output->write(*text);
    return finish(*output);
}

int show_text(Job& job, RankReader& reader, const Options& options) {
    const Layout& layout = *find_layout(options.layout);
    if (layout.of_job) return show_text_of_job(job, layout, options);
    const auto ranks = ranks_for_text(job, options);
    const Listing listing(job, layout);
    std::error_code error;
    if (!options.output.empty()) std::filesystem::create_directories(options.output, error);
    bool is_first = true;
    for (const std::uint32_t rank : ranks) {
        // One rank's cells at a time: a large job does not fit at once.
        job.kept_cells.clear();
        if (const auto ok = load_cells(job, reader, {rank}); !ok) return fail(ok.error(), usage_error);
        const auto text = listing.text(rank, options.job_part);
        if (!text) return fail(text.error(), usage_error);
        auto output = Output::open(options.output.empty() ? "" : text_path(job, std::to_string(rank), options.output));
        if (!output) return fail(output.error(), check_failed);
        if (options.output.empty() && !is_first) output->write("\n");
        output->write(*text);
        is_first = false;
        if (const int code = finish(*output); code != fine) return code;
    }
    if (!options.output.empty() && !options.is_quiet)
        say(fmt::format("{} written to {}", ranks.size() == 1 ? "1 file" : fmt::format("{} files", ranks.size()),
                        options.output));
    return fine;
}

int answer(Job& job, RankReader& reader, const Options& options) {
    switch (options.task) {
        case Task::section:
            return show_section(job, reader, options);
        case Task::text:
            return show_text(job, reader, options);
        case Task::data:
            return export_data(job, reader, options);
        case Task::check:
        case Task::watch:
        case Task::until_stuck:
        case Task::scaling:
        case Task::diff:
        case Task::plot:
        case Task::transfers:
        case Task::brief:
        case Task::explain:
        case Task::doctor:
        case Task::merge:
            break;  // they read by themselves
    }
    return fine;
}

int run(int argc, char** argv) {
    take_locale();
    const Parsed parsed = parse_options(argc, argv);
    if (!parsed.options) return parsed.exit_code;
    const Options& options = *parsed.options;

    if (options.task == Task::check) return check(options);
    if (options.task == Task::watch) return watch(options);
    if (options.task == Task::until_stuck) return until_stuck(options);
    if (options.task == Task::scaling) return scaling(options);
    if (options.task == Task::diff) return diff(options);
    if (options.task == Task::plot) return plot(options);
    if (options.task == Task::transfers) return transfers(options);
    if (options.task == Task::brief) return brief(options);
    if (options.task == Task::explain) return explain(options);
    if (options.task == Task::doctor) return doctor(options);
    if (options.task == Task::merge) return merge_files(options);
    if (exports_each_launch(options)) return export_launches(options);
    if (wants_ddp_of_several(options)) return ddp_of_several(options);

    Load loaded = options.wait_s ? load_when_final(options) : load(options);
    if (!loaded) {
        say(loaded.error().text);
        return no_profile;
    }
    Job& job = (*loaded)->job;
    const bool says_it_itself = options.task == Task::section && options.section == sections().front().name;
    if (!says_it_itself && !options.is_quiet) remark(**loaded);

    RankReader reader((*loaded)->launch());
    const int code = answer(job, reader, options);
    return code == fine && options.is_strict && !is_whole(job) ? check_failed : code;
}

}  // namespace
}  // namespace mpiprof::report

int main(int argc, char** argv) { return mpiprof::report::run(argc, argv); }
