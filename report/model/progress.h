// How far a slow read has come: workers count, someone else may show it. Not a word is printed here.
#pragma once

#include <atomic>
#include <cstdint>

namespace mpiprof::report {

struct Progress {
    std::atomic<std::uint64_t> files{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> total_files{0};
};

}  // namespace mpiprof::report
