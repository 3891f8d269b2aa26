// One Part per thread, absorbed one by one at the end.
#include "report/merge/merge.h"

#include <algorithm>

#include "report/merge/part.h"
#include "report/read/file.h"
#include "report/read/parallel.h"
#include "report/read/profile_reader.h"

namespace mpiprof::report {

Result<Job> merge(const Launch& launch, const MergeOptions& options, Progress& progress) {
    progress.files = 0;
    progress.total_files = launch.files.size();
    const unsigned workers = worker_count(options.threads, launch.files.size());
    std::vector<FileReader> readers(workers);
    std::vector<Part> parts(workers);

    run_in_parallel(launch.files.size(), workers, [&](std::size_t i, unsigned worker) {
        const RankFile& file = launch.files[i];
        ++progress.files;
        const auto bytes = readers[worker].read(file.path);
        if (!bytes) return parts[worker].add_problem(bytes.error().line());
        progress.bytes += bytes->bytes.size();
        const auto profile = read_profile(bytes->bytes, file.path);
        if (!profile) return parts[worker].add_problem(profile.error().line());
        // Between listing and reading a file may have become another launch's.
        if (profile->rank != file.rank || profile->launch != launch.launch || profile->size != launch.size)
            return parts[worker].add_problem(
                fmt::format("{}: belongs to another launch by now; it is left out", file.path));
        const bool keep = options.keep_all_cells ||
                          std::binary_search(options.keep_cells_of.begin(), options.keep_cells_of.end(), file.rank);
        parts[worker].add(*profile, keep);
    });

    for (unsigned worker = 1; worker < workers; ++worker) parts[0].absorb(std::move(parts[worker]));
    Job job = parts[0].finish();
    if (job.ranks.empty()) return problem("", job.problems.empty() ? "no profile" : job.problems.front());
    job.problems.insert(job.problems.begin(), launch.problems.begin(), launch.problems.end());
    return job;
}

}  // namespace mpiprof::report
