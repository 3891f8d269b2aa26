// A process that lives until it is told, and its profile. For the tests of running jobs.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "tests/report/profile_builder.h"

namespace mpiprof::test {

// Since 1970.
std::uint64_t now_ns();

class LivingRank {
  public:
    LivingRank();
    ~LivingRank() { end(); }
    LivingRank(const LivingRank&) = delete;
    LivingRank& operator=(const LivingRank&) = delete;
    void end();
    [[nodiscard]] ProfileSpec profile() const;  // of the one rank of a job that began now

  private:
    pid_t process_;
};

}  // namespace mpiprof::test
