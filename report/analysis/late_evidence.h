// What the rules about late ranks rest on, as evidence.h says: slow ones, ones that are late inside MPI, in turn, one
// after the other, or by chance.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "report/analysis/figure.h"

namespace mpiprof::report {

// When something began and ended, where it was not so all the time.
struct Stretch {
    std::uint64_t began_ns = 0;  // after the first MPI_Init; 0: from the start on
    std::uint64_t began_at = 0;  // the same since 1970
    std::uint64_t ended_ns = 0;  // 0: it lasts to the end
    std::uint64_t ended_at = 0;
};

namespace evidence {

// How often some ranks were the last to enter the collective that ranks waited longest in, of its calls that were
// compared.
struct CameLast {
    std::uint16_t call = 0;  // index into Job::calls
    double share = 0;
};
// Ranks that are longer outside MPI than the others, who wait for them.
struct Imbalance {
    bool is_all_of_node = false;  // they are all ranks of their node, and there are others
    double longer_share = 0;      // than the mean of the others, while it was so
    double longer_ns = 0;         // the longest, above the mean of all
    double load_balance = 0;
    double others_share = 0;          // of the others' time in MPI
    double others_run_share = 0;      // of the others' run
    std::optional<double> cpu_share;  // of their time outside MPI, at most: they had a processor; empty: not known
    double runnable_share = 0;        // of that time they were ready to run and had no processor; 0: or not known
    std::uint64_t throttled_ns = 0;   // the mean of these ranks, above the others': that long their cgroup's quota was
                                      // used up. 0: it explains little
    std::optional<Stretch> when;
    std::optional<CameLast> last;  // one of these ranks was
    bool is_at_least = false;      // others poll: a part of their waiting is outside MPI, between their calls
    std::uint32_t least_rank = 0;  // who has least to do

    Confidence confidence() const { return is_at_least ? Confidence::at_least : Confidence::measured; }
    FigureList figures() const {
        return {{"is_all_of_node", is_all_of_node}, {"longer_share", longer_share},
                {"longer_ns", longer_ns},           {"load_balance", load_balance},
                {"others_share", others_share},     {"others_run_share", others_run_share},
                {"cpu_share", cpu_share},           {"runnable_share", runnable_share},
                {"throttled_ns", throttled_ns}};
    }
    // Most of what they were off the processors for: they wanted one.
    bool lacks_processors() const { return cpu_share && runnable_share >= (1 - *cpu_share) / 2 && *cpu_share < 1; }
};
// Ranks for which the others wait in a collective, late because of what they do inside MPI: Finding::calls, the one
// that they spend more time in than the others, and the one in which these wait.
struct LateInside {
    double waiting_share = 0;  // of the waiting in the second call: for these ranks
    double more_ns = 0;        // in the first call, the longest of them above the mean of the others
    double others_run_share = 0;
    bool may_wait = false;  // there for somebody else

    FigureList figures() const {
        return {{"waiting_share", waiting_share},
                {"more_ns", more_ns},
                {"others_run_share", others_run_share},
                {"may_wait", may_wait}};
    }
};
// Nobody is slower than others over the run, and still all wait.
struct Varying {
    double mpi_share = 0;  // of the time in MPI
    double run_share = 0;
    double slow_share = 0;          // of the run, besides: waiting for ranks that are slow all the time
    bool is_said_for_whom = false;  // by another finding: a chain, one that serves all, ranks that are late inside MPI
    // Why, perhaps; each only where it is worth saying. The second where the kernel keeps no account of the first.
    std::optional<double> processor_share;   // of the run the ranks waited for a processor
    bool is_processor_outside = false;       // MPI; else inside or outside, which is not known
    std::optional<double> pushed_off_per_s;  // the kernel took a rank's processor away, or the rank yielded it
    double load_balance = 0;
    bool is_known = false;         // by comparing calls, else the waiting is an estimate
    std::optional<CameLast> last;  // the rank that the others waited longest for
    std::uint32_t last_rank = 0;
    double last_waiting_share = 0;       // of the waiting in that call: for this rank
    std::vector<std::uint32_t> turns{};  // the ranks that were late, each in a stretch of the run
    // In which order the ranks come last to collectives, call by call: as good as drawn, each for several in a row, or
    // in an order that begins anew after so many of them. Nothing where no calls were compared.
    bool is_by_chance = false;
    bool is_of_crowd = false;  // but it is said that ranks have no processor, and who has none is late
    double stays = 0;
    std::uint64_t period = 0;
    std::vector<std::uint32_t> order{};
    // Of what was waited: in sends, or in receives, whichever is more; and the size of such a message, mostly by
    // Finding::calls. Of late partners alone.
    double partner_share = 0, partner_bytes = 0;
    double cores_busy = 0;  // of a rank, on average; 0: not known

    Confidence confidence() const { return is_known ? Confidence::measured : Confidence::estimated; }
    FigureList figures() const {
        return {{"mpi_share", mpi_share},
                {"run_share", run_share},
                {"slow_share", slow_share},
                {"processor_share", processor_share},
                {"pushed_off_per_s", pushed_off_per_s},
                {"load_balance", load_balance},
                {"last_waiting_share", last_waiting_share},
                {"calls_in_a_row", stays},
                {"period", period},
                {"cores_busy", cores_busy},
                {"partner_share", partner_share},
                {"partner_bytes", partner_bytes}};
    }
};
struct SerialChain {
    double at_work = 0;  // ranks outside MPI at the same time, on average
    double run_share = 0;

    FigureList figures() const { return {{"ranks_at_work", at_work}, {"run_share", run_share}}; }
};
struct OneServesAll {
    double messages_share = 0;  // of all messages: to or from it
    double busy_share = 0;      // of its run: outside MPI
    double others_run_share = 0;
    std::optional<double> cpu_share;  // of its time outside MPI it was on a processor for at most so much

    FigureList figures() const {
        return {{"messages_share", messages_share},
                {"busy_share", busy_share},
                {"others_run_share", others_run_share},
                {"cpu_share", cpu_share}};
    }
};
// One rank at a time has something to do between two collectives, and all others wait for it in the second.
struct InTurn {
    double alone_share = 0;  // of the waiting in these collectives
    double run_share = 0;
    std::vector<std::uint32_t> turns{};  // in this order
    std::uint64_t period = 0;            // it begins anew after so many collectives

    FigureList figures() const { return {{"alone_share", alone_share}, {"run_share", run_share}, {"period", period}}; }
};

}  // namespace evidence

}  // namespace mpiprof::report
