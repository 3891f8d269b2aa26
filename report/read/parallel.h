// Runs work(index, thread) for 0 .. count-1 on some threads. Who does what is not defined; results must not depend
// on it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace mpiprof::report {

inline unsigned worker_count(unsigned threads, std::size_t work) {
    return static_cast<unsigned>(std::clamp<std::size_t>(work / 16, 1, std::max(1u, threads)));
}

template <class Work>
void run_in_parallel(std::size_t count, unsigned workers, Work work) {
    std::atomic<std::size_t> next{0};
    const auto loop = [&](unsigned worker) {
        for (std::size_t i = next++; i < count; i = next++) work(i, worker);
    };
    std::vector<std::jthread> threads;
    for (unsigned worker = 1; worker < workers; ++worker) threads.emplace_back(loop, worker);
    loop(0);
}

}  // namespace mpiprof::report
