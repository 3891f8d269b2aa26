// The way to a Job, and what the clock says of it.
#include "report/commands/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "report/analysis/completeness.h"
#include "report/commands/no_profile.h"
#include "report/commands/say.h"
#include "report/model/units.h"
#include "report/read/choose_launch.h"
#include "report/views/progress_line.h"

namespace mpiprof::report {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
// For so long after the end of a job its last writes may be on their way to this machine.
constexpr std::uint64_t late_writes_ns = 120 * second;

void list_others(Job& job, const std::vector<Launch>& launches, std::size_t chosen) {
    job.launch_number = static_cast<unsigned>(chosen + 1);
    for (std::size_t i = 0; i < launches.size(); ++i) {
        if (i == chosen) continue;
        job.other_launches.push_back({.number = static_cast<unsigned>(i + 1),
                                      .launch = launches[i].launch,
                                      .job = launches[i].job,
                                      .command = launches[i].command,
                                      .started_at_ns = launches[i].started_at_ns,
                                      .files = static_cast<std::uint32_t>(launches[i].files.size()),
                                      .size = launches[i].size});
    }
}

// Ranks that have no end yet although others ended the job a moment ago: a network file system shows last writes late.
std::uint32_t late_writers(const Job& job) {
    std::uint64_t ended = 0;
    for (const Rank& rank : job.ranks)
        if (rank.state == State::finalized) ended = std::max(ended, rank.updated_at_ns);
    const std::uint64_t now = now_ns();
    if (ended == 0 || now < ended || now - ended > late_writes_ns) return 0;
    std::uint32_t unseen = job.expected() - std::min(job.expected(), job.profiles());
    for (const Rank& rank : job.ranks) {
        if (rank.state != State::running) continue;
        if (rank.life == Life::running) return 0;
        unseen += rank.life == Life::unknown && rank.updated_at_ns < ended;
    }
    // A file that is there, but damaged, is none of them.
    return unseen - static_cast<std::uint32_t>(std::min<std::size_t>(unseen, job.problems.size()));
}

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

}  // namespace

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
}

std::uint64_t steady_now_ns() {
    using Clock = std::chrono::steady_clock;
    static const std::uint64_t first = now_ns();
    static const Clock::time_point since = Clock::now();
    return first + static_cast<std::uint64_t>(
                       std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - since).count());
}

Result<Job> job_of(const Found& found, std::size_t chosen, unsigned threads, Progress& progress) {
    Result<Job> job = merge(found.launches[chosen], threads, progress);
    if (!job) return job;
    job->problems.insert(job->problems.begin(), found.problems.begin(), found.problems.end());
    job->is_partial_on_purpose = found.only_files;
    list_others(*job, found.launches, chosen);
    return job;
}

Load load(const Options& options) {
    Progress progress;
    auto line = std::make_unique<ProgressLine>(progress, !options.is_quiet);
    auto loaded = std::make_unique<Loaded>();
    loaded->found = find_profiles(options.paths, options.threads, progress);
    const Found& found = loaded->found;
    if (found.launches.empty()) return tl::make_unexpected(NotLoaded{explain_no_profile(found), true});
    const auto chosen = choose_launch(found.launches, options.choice);
    if (!chosen) return tl::make_unexpected(NotLoaded{chosen.error().line()});
    loaded->chosen = *chosen;
    Result<Job> job = job_of(found, *chosen, options.threads, progress);
    if (!job) return tl::make_unexpected(NotLoaded{job.error().line()});
    const bool may_change = found.launches[*chosen].merged_at_ns == 0;
    if (const std::uint32_t ranks = may_change ? late_writers(*job) : 0; ranks != 0) {
        loaded->late_writes = JobNote{.kind = JobNote::Kind::late_writes, .number = ranks, .of = job->expected()};
        job->notes.push_back(*loaded->late_writes);
    }
    loaded->job = std::move(*job);
    return loaded;
}

Load load_when_final(const Options& options) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(options.wait_s.value_or(0)));
    bool is_said = false;
    while (true) {
        Load loaded = load(options);
        const auto left = end - Clock::now();
        const bool is_merged = loaded && (*loaded)->launch().merged_at_ns != 0;  // nothing more will come
        if (is_merged || (loaded && is_final((*loaded)->job)) || left <= Clock::duration::zero()) return loaded;
        if (!is_said && !options.is_quiet)
            say(fmt::format("waiting up to {} s for {}", *options.wait_s,
                            loaded ? "all ranks to finish" : "a profile to appear"));
        is_said = true;
        std::this_thread::sleep_for(std::min<Clock::duration>(left, std::chrono::milliseconds(500)));
    }
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

int with_loaded(const Options& options, bool says_it_itself, const std::function<int(Loaded& loaded)>& answer) {
    Load loaded = options.wait_s ? load_when_final(options) : load(options);
    if (!loaded) {
        say(loaded.error().text);
        return no_profile;
    }
    if (!says_it_itself && !options.is_quiet) remark(**loaded);
    const int code = answer(**loaded);
    return code == fine && options.is_strict && !completeness_of((*loaded)->job).is_complete ? check_failed : code;
}

int with_job(const Options& options, bool says_it_itself,
             const std::function<int(Job& job, RankReader& reader)>& answer) {
    return with_loaded(options, says_it_itself, [&](Loaded& loaded) {
        RankReader reader(loaded.launch());
        return answer(loaded.job, reader);
    });
}

bool is_final(const Job& job) {
    if (job.lacks_ranks()) return false;
    return std::ranges::none_of(job.ranks, [](const Rank& rank) {
        return rank.is_in_finalize || (rank.has_profile && rank.state == State::running && rank.life != Life::ended);
    });
}

int with_launch(const Options& options, Progress& progress, const std::function<int(const Found&, Launch&)>& use) {
    Found found = find_profiles(options.paths, options.threads, progress);
    if (found.launches.empty()) {
        say(explain_no_profile(found));
        return no_profile;
    }
    const auto choice = choose_launch(found.launches, options.choice);
    if (!choice) return fail(choice.error(), no_profile);
    return use(found, found.launches[*choice]);
}

}  // namespace mpiprof::report
