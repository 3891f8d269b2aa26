// What NCCL chose for its operations, as it told its profiler interface: algorithm, protocol, channels. Of one rank in
// its Profile, over all ranks in the Job.
#pragma once

#include <cstdint>
#include <string>

namespace mpiprof::report {

struct NcclOperation {
    std::uint16_t call = 0;  // index into Profile::calls
    std::uint8_t bin = 0;
    std::uint8_t channels = 0;         // 0: not told; 255: that many or more
    std::uint16_t communicator = 0;    // index into Profile::communicators; 0 = not told apart
    bool is_called_elsewhere = false;  // not through libmpiprof: NCCL is linked statically
    std::string algorithm;             // empty: not told
    std::string protocol;
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;  // message size, as in the cells
    std::uint64_t tag = 0;    // userProfilerTag; 0: none
};
inline constexpr std::uint64_t other_tags = ~std::uint64_t{0};

// Over the ranks and over all communicators of one size.
struct NcclChoice {
    std::uint16_t call = 0;  // index into Job::calls
    std::uint8_t bin = 0;
    std::uint32_t comm_size = 0;  // 0: not known
    std::string algorithm;
    std::string protocol;
    std::uint8_t channels = 0;
    std::uint64_t tag = 0;
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;
    std::uint64_t called_elsewhere = 0;  // of `operations`
};

}  // namespace mpiprof::report
