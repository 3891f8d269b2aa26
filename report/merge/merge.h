// Reads the profiles of a launch on several threads and adds them up to a Job; reads single ranks again when their
// details are asked for. main calls it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/model/job.h"
#include "report/model/progress.h"
#include "report/model/result.h"
#include "report/read/job_dir.h"
#include "report/read/profile_reader.h"
#include "report/read/rank_files.h"

namespace mpiprof::report {

// Fails only if not one profile can be read.
Result<Job> merge(const Launch& launch, unsigned threads, Progress& progress);

// Single ranks of a merged job, read again: a job of 100 000 ranks does not keep them.
class RankReader {
  public:
    explicit RankReader(const Launch& launch) : launch_(launch) {}

    Result<Profile> profile(std::uint32_t rank, Detail detail = Detail::sums);
    // The rank's sums in terms of the job, sorted by call, bin, buffer; for Job::kept_cells.
    Result<std::vector<Sum>> cells(const Job& job, std::uint32_t rank);
    // From where these ranks called, together; for Job::kept_sites.
    Result<CallSites> sites(const Job& job, std::span<const std::uint32_t> ranks);

  private:
    const Launch& launch_;
    RankFileReader reader_;
};

}  // namespace mpiprof::report
