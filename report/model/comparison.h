// What lining up the collectives of a communicator's members has shown: how long they waited for each other, and who
// came last. merge/arrivals makes it; sections ask.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpiprof::report {

// What a collective waits for, as far as that is certain.
enum class WaitsFor : std::uint8_t {
    all,      // nobody leaves it before the last has entered it
    root,     // nobody else leaves it before the root has entered it
    members,  // the root does not leave it before the last has entered it
    unknown,  // it depends on the library and the sizes: who came last is known, and not who waited
};

// A rank that was the last to enter some of the calls that were compared.
struct LastRank {
    std::uint32_t rank = 0;
    std::uint64_t times = 0;
    double behind_ns = 0;        // after the one before it, on average
    double waited_ns = 0;        // the members waited so long for it in these calls, together
    std::uint64_t first_ns = 0;  // such calls lie between these moments, since the first rank left MPI_Init
    std::uint64_t latest_ns = 0;
};

// A rank that was among the late ones: it came in the second half of the time between the first rank's arrival and the
// last's.
struct LateRank {
    std::uint32_t rank = 0;
    double waited_ns = 0;  // the members waited so long in these calls, together
};

// One call on one communicator.
struct ComparedCall {
    std::uint64_t comm = 0;  // Comm::id
    std::string comm_name;
    bool is_world = false;
    std::uint32_t members = 0;
    std::uint16_t call = 0;  // index into Job::calls
    WaitsFor waits_for = WaitsFor::unknown;
    std::uint64_t calls = 0;     // by each member, on average
    std::uint64_t compared = 0;  // of these
    // Over all calls of all members.
    double time_ns = 0;
    double waiting_ns = 0;
    // Of waiting_ns: twice its standard error as that of a sample, long calls that were not compared, and clocks.
    double error_ns = 0;
    double compared_waiting_ns = 0;    // in the calls that were compared, of all members
    std::vector<LastRank> last_ranks;  // whom the others waited longest for, then the most often last, first
    std::vector<LateRank> late_ranks;  // those in whose calls most was waited
    std::uint64_t undecided = 0;       // compared calls in which the last two came too close for the clocks
};

// The compared calls of one communicator in the order in which they were made: whether the same rank comes last several
// times in a row, or again after a fixed number of calls.
struct LateOrder {
    std::uint64_t calls = 0;       // that were waited in, and whose last rank is known; 0: nothing is known
    bool is_by_chance = false;     // now one rank is last, now another, and nothing else is in it
    bool is_in_stretches = false;  // the same rank is last to several in a row
    double stays = 0;              // calls in a row with the same last rank, on average, of those that were waited in
    std::uint64_t period = 0;      // after so many collectives the same rank is last again; 0: there is no such number
    std::vector<std::uint32_t> turns;  // the ranks of one period, in their order
    // Of the waiting: in calls before which the last rank alone had something to do, and the ranks this was so of.
    double alone_share = 0;
    std::vector<std::uint32_t> alone;
};

struct Comparison {
    std::vector<ComparedCall> calls;  // by waiting, then by time
    LateOrder order;                  // of the communicator of the first of them
    std::uint64_t incomplete = 0;     // communicators that lack members
    std::uint64_t not_lined_up = 0;   // communicators on nodes whose clocks could not be lined up
    std::uint32_t nodes = 0;          // whose clocks were lined up by the calls themselves
    double clock_error_ns = 0;        // of the worst of them
};

}  // namespace mpiprof::report
