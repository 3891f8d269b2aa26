// What the tables of calls have in common: a line of calls, the columns that show it, and what has to be said of calls
// below. Used by the sections whose lines are calls (summary, calls, sites, comms, regions, nccl); a column that all of
// them are to have is added here. What one of them shows alone stays with that section. Nothing is summed up here.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "report/model/job.h"
#include "report/model/table.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {

// Sums over all ranks that a line is of, and what its means and shares are of. Sections derive their lines from it.
struct CallLine {
    const Call* call = nullptr;       // null: of several calls
    std::optional<std::uint8_t> bin;  // of sizes; empty: of several, or of calls without a size
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t errors = 0;
    std::optional<std::uint64_t> min_ns;  // of one call
    std::uint64_t max_ns = 0;
    std::uint64_t timed_calls = 0;
    std::uint64_t waiting_ns = 0;
    std::uint64_t judged_ns = 0;              // of time_ns: where waiting can be estimated
    std::optional<std::uint64_t> largest_ns;  // of the rank that spent most
    std::uint32_t largest_rank = 0;
    bool is_timed = true;        // else its time is not known
    bool is_unfinished = false;  // has not returned, see unfinished_rows()
    double ranks = 1;            // means are over so many
    double wall_ns = 0;          // of them all together: shares are of this,
    double mpi_ns = 0;           // or of this

    double mean(std::uint64_t sum) const { return ranks > 0 ? static_cast<double>(sum) / ranks : 0; }
    bool has_size() const {
        return !is_unfinished && calls != 0 && (bytes != 0 || (call && carries_messages(call->traffic)));
    }
};

CallLine line_of(const Row& row, const Job& job);

// `drop` is Column::drop. Several columns come together where one of them says little without the others.
namespace columns {

using OfCalls = Field<CallLine>;

OfCalls call(bool marks_unfinished = false);
OfCalls bin();
OfCalls size(int drop = 0);
std::vector<OfCalls> calls();  // of all ranks together on a screen, else the mean
OfCalls time();
OfCalls wall_share();
OfCalls mpi_share(const Vocabulary& words, int drop = 0);
OfCalls wall_bar(int drop);
OfCalls mpi_bar(int drop);
OfCalls per_call(int drop);
OfCalls waiting(int drop, bool only_data = false);
std::vector<OfCalls> largest(int drop, bool only_data = false);  // and the rank that it is of
OfCalls errors(bool only_data = true);
OfCalls traffic();
OfCalls calls_total();
std::vector<OfCalls> totals();  // calls, bytes and time
OfCalls unfinished();

}  // namespace columns

// Says of those of the calls (indices into Job::calls) that send and receive at once, as MPI_Sendrecv does, that their
// size is both together: the section peers has each message once.
void note_exchanges(std::vector<Note>& notes, const Job& job, const std::set<std::uint16_t>& calls);

// Replays of CUDA graphs are on no line of calls.
void note_replays(std::vector<Note>& notes, const Job& job);

// Of the rows of unfinished_rows().
inline constexpr std::string_view unfinished_left_out =
    "calls that have not returned are not listed here: mpiprof-report hang";
inline constexpr std::string_view unfinished_note =
    "(unfinished): calls that have not returned, with their time so far; details: mpiprof-report hang";

// Of WAITING, which is an estimate of all other calls.
inline constexpr std::string_view waiting_is_known =
    "for collectives compared across all members it is measured, not estimated: mpiprof-report arrivals";

}  // namespace mpiprof::report
