// How long whoever watches a running job has seen none of its calls begin or end, by the watcher's own clock: what the
// files say of time follows the clock on the wall, which may be set, and of a thread that calls between two looks they
// show nothing but that there are more calls.
#pragma once

#include <cstdint>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

class Silence {
  public:
    // `now_ns`: of a clock that nobody sets and that stands while the machine sleeps.
    void look(const Job& job, std::uint64_t now_ns);
    // From the first look that showed what the last one did, to the last.
    std::uint64_t for_ns() const { return last_ns_ - since_ns_; }

  private:
    std::vector<std::uint64_t> seen_;
    std::uint64_t since_ns_ = 0, last_ns_ = 0;
};

}  // namespace mpiprof::report
