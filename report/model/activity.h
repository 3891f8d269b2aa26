// When a rank was inside MPI: time and message bytes in bins of equal width, from its MPI_Init on.
// read/ makes it, merge/ keeps it, the section `time` shows it.
#pragma once

#include <cstdint>
#include <vector>

namespace mpiprof::report {

struct ActivityBin {
    std::uint64_t time_ns = 0;  // inside MPI, over its threads
    std::uint64_t bytes = 0;    // of messages
};
struct Activity {
    double width_ns = 0;  // of a bin; 0 = not recorded
    // Their sums are the rank's own, but for a call that has not returned: that is in here, too.
    std::vector<ActivityBin> bins;
};

// Of one rank of a job.
struct RankActivity {
    std::uint32_t rank = 0;
    Activity activity;
    Activity pauses{};  // when recording was off; nothing where it never was, or an older libmpiprof did not say when
};

}  // namespace mpiprof::report
