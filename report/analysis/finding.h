// A finding: what one rule has to say about a job, as values. Which rule, how much it weighs, the calls, ranks and
// nodes it speaks of, and the figures that it rests on. The rules make findings (findings.h, placement_findings.h);
// sections put them into words. Nothing here is a sentence, so rewording one changes no answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

enum class Rule : std::uint8_t {
    // of the job
    unfinished,
    errors,
    paused,
    overlap,
    crowded,
    waiting,
    waits,
    requests,
    imbalance,
    slow_node,
    polling,
    placement,
    nccl_waiting,
    nccl_exposed,
    dropped,
    // of the placement
    masks,
    too_many,
    threads,
    starved,
    beyond,
    throttled,
    memory,
    unbound,
    spread,
    far_gpu,
    far_adapter,
};

// What people read in brackets behind a finding, and scripts find in csv and json: "slow-node".
std::string_view id_of(Rule rule);

// The figures of each rule. Shares are of 1, times in ns.
namespace evidence {

// The ranks ended, or stand, in this way; Finding::calls: inside of which.
struct Unfinished {
    State state = State::running;
    Life life = Life::ended;
    int exit_code = 0;
    std::uint64_t longest_ns = 0;  // in the call
    bool points_to_hang = false;   // some rank is inside a call, and this is the last of these findings
};
struct Errors {
    std::vector<std::uint64_t> times;  // by Finding::calls, the most frequent first
};
struct Paused {
    double share = 0;  // of the elapsed time
    struct Setting {
        std::string name, value;
    };
    std::vector<Setting> window;  // empty: the program paused it
};
// MPI on another thread than the program's work, or, where threads are not told apart, perhaps so.
struct Overlap {
    std::optional<double> background_share;
    double cores_busy = 0;
};
struct Waiting {
    std::optional<double> mean_bytes;
    double mean_ns = 0;
    double undisturbed_ns = 0;
    double run_share = 0;
};
struct Waits {
    double mpi_share = 0;       // of the time in MPI
    double call_run_share = 0;  // of the run, in the call that waits most
};
struct Requests {
    bool is_most = false;  // of all waiting for requests
    double mean_bytes = 0;
    double run_share = 0;
    std::optional<double> overlapped;
};
struct Imbalance {
    std::string node;  // its label, where its ranks are the slow ones; else empty
    double longer_ns = 0;
    double load_balance = 0;
    double others_share = 0;  // of the others' time in MPI, at most
};
struct Polling {
    double calls_per_s = 0;
};
struct NcclWaiting {
    double collectives_share = 0;  // of their time on the GPU
    double run_share = 0;
    double last_share = 0;  // of the waiting: for the rank that came last most often, Finding::ranks
    std::uint64_t last = 0, compared = 0;
};
struct NcclExposed {
    double nccl_share = 0;
    double kernels_share = 0;
};
struct Dropped {
    std::uint64_t Drops::*what = nullptr;
    std::uint64_t count = 0;
};

// Of placements: an example is of the first node and mask that the rule met.
struct Masks {
    std::uint32_t rank = 0, other_rank = 0;
    NumberList cpus, other_cpus;
};
struct TooMany {
    std::uint64_t ranks = 0;
    NumberList cpus;
};
struct Threads {
    std::uint64_t threads = 0, most_of_rank = 0;
    NumberList cpus;
};
struct Starved {
    std::uint32_t rank = 0;
    double cores_busy = 0;
    std::uint64_t cores = 0;
    double pushed_off_per_s = 0;
};
struct Beyond {
    std::uint32_t rank = 0;
    double cores_busy = 0;
    std::uint64_t cores = 0;
};
struct Throttled {
    std::uint64_t most_ns = 0;
    double share = 0;
};
struct Memory {
    bool is_of_all_together = false;
    double share = 0;
    std::uint64_t limit_bytes = 0;
};
struct Unbound {
    NumberList cpus;
};
struct Spread {
    std::uint32_t rank = 0;
    NumberList cpus;
    std::vector<std::uint32_t> numa_nodes;
};
struct FarGpu {
    std::uint32_t rank = 0, gpu = 0, gpu_numa_node = 0;
    std::vector<std::uint32_t> numa_nodes;
};
struct FarAdapter {
    std::string adapter;
    std::uint32_t numa_node = 0;
    std::uint64_t free_cores = 0;
};

// Ranks that had no processor to themselves: too many of them on their cores, where that is known.
struct Crowded {
    double cores_busy = 0;
    double pushed_off_per_s = 0;
    bool have_own_cores = false;
    std::optional<TooMany> too_many;
};

}  // namespace evidence

using Evidence =
    std::variant<evidence::Unfinished, evidence::Errors, evidence::Paused, evidence::Overlap, evidence::Crowded,
                 evidence::Waiting, evidence::Waits, evidence::Requests, evidence::Imbalance, evidence::Polling,
                 evidence::NcclWaiting, evidence::NcclExposed, evidence::Dropped, evidence::Masks, evidence::TooMany,
                 evidence::Threads, evidence::Starved, evidence::Beyond, evidence::Throttled, evidence::Memory,
                 evidence::Unbound, evidence::Spread, evidence::FarGpu, evidence::FarAdapter>;

struct Finding {
    Rule rule{};
    bool is_serious = false;
    std::vector<std::uint16_t> calls;  // index into Job::calls
    std::vector<std::uint32_t> ranks;  // sorted
    std::vector<std::uint32_t> nodes;  // index into Job::nodes; of placements
    Evidence evidence;
};

}  // namespace mpiprof::report
