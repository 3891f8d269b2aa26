// What the rules of the placement rest on, as evidence.h says. An example is of the first node and mask that the rule
// met.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/analysis/figure.h"

namespace mpiprof::report::evidence {

struct Masks {
    std::uint32_t rank = 0, other_rank = 0;
    NumberList cpus, other_cpus;

    FigureList figures() const {
        return {{"rank", rank}, {"cpus", cpus}, {"other_rank", other_rank}, {"other_cpus", other_cpus}};
    }
};
struct TooMany {
    std::uint64_t ranks = 0;
    NumberList cpus;
    std::optional<double> waited_share{};  // of the run, runnable without a CPU outside MPI, where that is little

    FigureList figures() const { return {{"ranks", ranks}, {"cpus", cpus}, {"waited_share", waited_share}}; }
};
struct Threads {
    std::uint64_t threads = 0, most_of_rank = 0;
    NumberList cpus;

    FigureList figures() const { return {{"threads", threads}, {"most_of_rank", most_of_rank}, {"cpus", cpus}}; }
};
struct Starved {
    std::uint32_t rank = 0;
    double cores_busy = 0;
    std::uint64_t cores = 0;
    double pushed_off_per_s = 0;

    FigureList figures() const {
        return {{"rank", rank}, {"cores_busy", cores_busy}, {"cores", cores}, {"pushed_off_per_s", pushed_off_per_s}};
    }
};
struct Beyond {
    std::uint32_t rank = 0;
    double cores_busy = 0;
    std::uint64_t cores = 0;

    FigureList figures() const { return {{"rank", rank}, {"cores_busy", cores_busy}, {"cores", cores}}; }
};
struct Throttled {
    std::uint64_t most_ns = 0;
    double share = 0;

    FigureList figures() const { return {{"most_ns", most_ns}, {"share", share}}; }
};
struct Memory {
    bool is_of_all_together = false;
    double share = 0;
    std::uint64_t limit_bytes = 0;

    FigureList figures() const {
        return {{"is_of_all_together", is_of_all_together}, {"share", share}, {"limit_bytes", limit_bytes}};
    }
};
struct Unbound {
    NumberList cpus;

    FigureList figures() const { return {{"cpus", cpus}}; }
};
struct Spread {
    std::uint32_t rank = 0;
    NumberList cpus;
    std::vector<std::uint32_t> numa_nodes;

    FigureList figures() const { return {{"rank", rank}, {"cpus", cpus}}; }
};
struct FarGpu {
    std::uint32_t rank = 0, gpu = 0, gpu_numa_node = 0;
    std::vector<std::uint32_t> numa_nodes;

    FigureList figures() const { return {{"rank", rank}, {"gpu", gpu}, {"gpu_numa_node", gpu_numa_node}}; }
};
struct FarAdapter {
    std::string adapter;
    std::uint32_t numa_node = 0;
    std::uint64_t free_cores = 0;

    FigureList figures() const { return {{"adapter", adapter}, {"numa_node", numa_node}, {"free_cores", free_cores}}; }
};

// Who else was busy on the cores that these ranks were allowed. In cores.
struct ForeignLoad {
    double by_others = 0;  // processes that are none of the job's ranks
    double stolen = 0;     // the hypervisor ran other machines
    double idle = 0;
    std::uint64_t cores = 0;
    double waited_share = 0;  // of the run: ranks were runnable without a CPU, where that is worth a look

    static constexpr double enough = 0.1, too_much = 0.2, hardly = 0.1;  // of the cores
    double share() const { return of_cores(by_others); }
    double stolen_share() const { return of_cores(stolen); }
    bool is_enough() const { return share() >= enough || stolen_share() >= enough; }
    // Measured again it may be another job: the ranks lost their cores, or hardly one was idle.
    bool is_disturbing() const {
        return share() + stolen_share() >= too_much && (waited_share > 0 || of_cores(idle) <= hardly);
    }

    FigureList figures() const {
        return {{"cores_of_others", by_others},
                {"cores_stolen", stolen},
                {"cores_idle", idle},
                {"cores", cores},
                {"waited_share", waited_share}};
    }

  private:
    double of_cores(double part) const { return cores ? part / static_cast<double>(cores) : 0; }
};

// TCP between ranks of different nodes, while this port was up on them and no rank had its adapter open.
struct SlowTransport {
    std::string adapter, kind, rate;  // "mlx5_0", "InfiniBand", "200 Gb/sec (4X HDR)"
    std::string interface;            // that the first rank's connections leave by; empty: not known
    std::uint64_t mbit = 0;           // of it; 0: not known
    std::uint64_t bytes = 0;          // through all of them
    std::string variable{}, value{};  // that asks for it; empty: none does

    Confidence confidence() const { return Confidence::proven; }
    FigureList figures() const {
        return {{"adapter", adapter}, {"rate", rate}, {"interface", interface}, {"bytes", bytes}};
    }
};
struct Retransmits {
    std::string interface;
    std::uint64_t retransmitted = 0, segments = 0, bytes = 0;

    double share() const { return static_cast<double>(retransmitted) / static_cast<double>(segments); }
    FigureList figures() const {
        return {{"interface", interface}, {"retransmitted_share", share()}, {"segments", segments}, {"bytes", bytes}};
    }
};

// Ranks that wanted to run and waited for a processor: too many of them on their cores, where that is known.
struct Crowded {
    double waited_share = 0;      // of their run
    double pushed_off_per_s = 0;  // 0: the kernel counted the time itself
    double waited_ns = 0;         // each time
    bool is_at_least = false;
    double inside_share = 0;  // of the run: what they waited inside MPI, where is_outside
    bool is_outside = false;  // MPI: what was waited inside is not in it
    bool have_own_cores = false;
    std::optional<TooMany> too_many;
    std::optional<Threads> own_threads;  // more of a rank's own than it has cores
    std::optional<ForeignLoad> foreign;  // on their cores, where that is known

    Confidence confidence() const { return is_at_least ? Confidence::at_least : Confidence::measured; }
    FigureList figures() const {
        return {{"waited_share", waited_share},
                {"waited_ns", waited_ns},
                {"pushed_off_per_s", pushed_off_per_s},
                {"inside_share", inside_share},
                {"have_own_cores", have_own_cores},
                {"foreign_share", foreign ? std::optional(foreign->share()) : std::nullopt}};
    }
};

}  // namespace mpiprof::report::evidence
