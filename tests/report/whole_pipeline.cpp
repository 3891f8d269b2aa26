#include "tests/report/whole_pipeline.h"

#include <stdexcept>

#include "report/merge/merge.h"
#include "report/read/job_dir.h"

namespace mpiprof::test {

report::Job job_of(const std::filesystem::path& directory) {
    report::Progress progress;
    const auto found = report::find_profiles({directory.string()}, 1, progress);
    if (found.launches.empty())
        throw std::runtime_error(found.problems.empty() ? "no profile found" : found.problems.front());
    const report::Launch& launch = found.launches.front();
    auto job = report::merge(launch, 1, progress);
    if (!job) throw std::runtime_error(job.error().line());
    report::RankReader reader(launch);
    for (const report::Rank& rank : job->ranks) {
        if (!rank.has_profile) continue;
        auto cells = reader.cells(*job, rank.rank);
        if (!cells) throw std::runtime_error(cells.error().line());
        job->kept_cells[rank.rank] = std::move(*cells);
    }
    return std::move(*job);
}

report::Job job_of(const std::vector<ProfileSpec>& specs) {
    const TemporaryDirectory directory;
    for (const ProfileSpec& spec : specs) write_profile(directory.path(), spec);
    return job_of(directory.path());
}

std::filesystem::path golden(const std::string& name) { return std::filesystem::path(MPIPROF_GOLDEN_DIR) / name; }

}  // namespace mpiprof::test
