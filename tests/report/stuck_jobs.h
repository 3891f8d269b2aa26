// Jobs whose ranks are all inside one call. For the tests of hangs.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/report/stories.h"

namespace mpiprof::test {

inline CellSpec calls_of(std::uint64_t calls, std::uint16_t communicator = 1) {
    return {.calls = calls, .time_ns = calls * 1000, .communicator = communicator};
}

// `size` ranks that were killed `elapsed` after MPI_Init, inside `call` for `inside_for`.
inline std::vector<ProfileSpec> stuck(std::uint32_t size, const CallSpec& call,
                                      std::uint64_t inside_for = 5'000'000'000) {
    std::vector<ProfileSpec> job(size);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        ProfileSpec& spec = job[rank];
        spec.rank = rank;
        spec.size = size;
        spec.state = format::State::running;
        spec.elapsed_ns = 10'000'000'000;
        spec.calls = {call, sends("MPI_Send", {calls_of(3)})};
        spec.threads = {{.in_call = call.name, .in_call_for_ns = inside_for}};
    }
    return job;
}

}  // namespace mpiprof::test
