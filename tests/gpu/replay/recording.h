// A recording of what NCCL told a profiler plugin and of what CUPTI handed over (tests/gpu/recorder; its lines are in
// docs/nccl-internals.md), read whole before anything is played. What is damaged ends the process with one line that
// says where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mpiprof::test {

// A pointer in a descriptor and what it leads to.
struct Pointer {
    std::size_t at;
    std::string text;         // empty: none
    std::uint64_t event = 0;  // 0: none; neither of both is an address that nobody follows
};

// What NCCL called of its plugin.
struct Told {
    enum What { init, start, stop, finalize } what = init;
    std::uint64_t context = 0, event = 0;
    unsigned thread = 0;
    // init
    int version = 0, nodes = 0, size = 0, rank = 0;
    bool is_named = false;
    std::uint64_t id = 0;
    // start
    std::uint64_t type = 0;
    std::vector<std::uint8_t> descriptor;
    std::vector<Pointer> pointers;
};

struct Buffer {
    struct Kernel {
        std::size_t at;
        std::string name;
    };
    std::size_t dropped = 0;
    std::vector<std::size_t> records;  // where each begins
    std::vector<std::uint8_t> bytes;
    std::vector<Kernel> kernels;
};

struct Recording {
    std::vector<Told> told;
    std::vector<Buffer> buffers;
    std::uint32_t cupti = 0;  // its version
    int cupti_refused = 0;
    std::uint64_t launches = 0;
};

Recording read_recording(const char* path);

}  // namespace mpiprof::test
