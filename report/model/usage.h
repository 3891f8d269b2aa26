// What the kernel has counted for a process. read/ fills it, merging copies it; usage_figures.h says how each figure is
// called and shown.
#pragma once

#include <cstdint>

namespace mpiprof::report {

// Of the processors that a process was allowed, since MPI_Init, in processors that were busy all the time.
struct AllowedUse {
    double by_all = 0;  // in programs, whoever's
    double idle = 0;
    double by_itself = 0;  // the process, on them or, if it was moved, elsewhere
    double stolen = 0;     // the hypervisor ran other machines
    bool is_known = false;
};

struct Usage {
    std::uint64_t user_ns = 0;
    std::uint64_t system_ns = 0;
    std::uint64_t max_resident_bytes = 0;
    std::uint64_t minor_faults = 0;
    std::uint64_t major_faults = 0;
    std::uint64_t blocks_in = 0;
    std::uint64_t blocks_out = 0;
    std::uint64_t voluntary_switches = 0;
    std::uint64_t involuntary_switches = 0;
    // Since MPI_Init, by the kernel's account; all 0 = not known. The thread that began MPI, and all others.
    std::uint64_t ran_ns = 0;
    std::uint64_t waited_ns = 0;  // for a processor
    std::uint64_t others_waited_ns = 0;

    // Of some stretches between two calls and of the calls behind them, taken by chance; all 0 = none.
    struct Stretches {
        std::uint64_t ns = 0;
        std::uint64_t waited_ns = 0;  // for a processor
        std::uint64_t ran_ns = 0;     // of between_calls alone
        bool operator==(const Stretches&) const = default;
    };
    Stretches between_calls{}, in_calls{};

    std::uint64_t switches() const { return voluntary_switches + involuntary_switches; }
    bool operator==(const Usage&) const = default;
};

}  // namespace mpiprof::report
