// From the command line to a Job: find the profiles, choose a launch, merge its ranks; again, where a job is waited for
// or watched. For the commands.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "report/commands/options.h"
#include "report/merge/merge.h"
#include "report/model/job.h"
#include "report/model/progress.h"
#include "report/model/result.h"
#include "report/read/job_dir.h"

namespace mpiprof::report {

struct Loaded {
    Found found;
    std::size_t chosen = 0;
    Job job;
    std::optional<JobNote> late_writes;  // a note of the job, too: last writes may not be visible here yet

    const Launch& launch() const { return found.launches[chosen]; }
};

// Why there is no Job: what to say, possibly in several lines.
struct NotLoaded {
    std::string text;
    bool is_nothing_there = false;  // not one profile was found
};

using Load = tl::expected<std::unique_ptr<Loaded>, NotLoaded>;
Load load(const Options& options);

// One of the launches that were found, merged; it knows the others.
Result<Job> job_of(const Found& found, std::size_t chosen, unsigned threads, Progress& progress);

// The same until all ranks' profiles are final, or `options.wait_s` are over.
Load load_when_final(const Options& options);

// Has `answer` answer for the job that is meant, which is waited for with --wait. What is wrong or missing is said on
// stderr, unless the answer says it itself. The exit code: that of the answer, 3 where there is no job, 1 with --strict
// where not all of it is there.
int with_loaded(const Options& options, bool says_it_itself, const std::function<int(Loaded& loaded)>& answer);
int with_job(const Options& options, bool says_it_itself,
             const std::function<int(Job& job, RankReader& reader)>& answer);
// The launch that is meant, as it was found, for who hands its files on and merges nothing.
int with_launch(const Options& options, Progress& progress, const std::function<int(const Found&, Launch&)>& use);

// The cells of these ranks, for whoever shows single ones.
Result<std::monostate> load_cells(Job& job, RankReader& reader, const std::vector<std::uint32_t>& ranks);

// No rank's numbers will change any more, as far as can be told from here.
bool is_final(const Job& job);

std::uint64_t now_ns();  // since 1970
// The same where nobody has set the clock since this was first asked; it stands while the machine sleeps. For whoever
// waits or watches.
std::uint64_t steady_now_ns();

}  // namespace mpiprof::report
