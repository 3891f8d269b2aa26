// What has to be said of calls below a table: what their sizes stand for, and which had not returned. For the sections
// whose lines are calls.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "report/model/job.h"
#include "report/model/table.h"

namespace mpiprof::report {

// Says of those of the calls (indices into Job::calls) that send and receive at once, as MPI_Sendrecv does, that their
// size is both together: the section peers has each message once.
void note_exchanges(std::vector<Note>& notes, const Job& job, const std::set<std::uint16_t>& calls);

// Replays of CUDA graphs are on no line of calls.
void note_replays(std::vector<Note>& notes, const Job& job);

// Of the rows of unfinished_rows().
inline constexpr std::string_view unfinished_mark = " (unfinished)";  // behind their names on screens
inline constexpr std::string_view unfinished_left_out =
    "calls that have not returned are not listed here: mpiprof-report hang";
inline constexpr std::string_view unfinished_note =
    "(unfinished): calls that have not returned, with their time so far; details: mpiprof-report hang";

// Of WAITING, which is an estimate of all other calls.
inline constexpr std::string_view waiting_is_known =
    "for collectives compared across all members it is measured, not estimated: mpiprof-report arrivals";

}  // namespace mpiprof::report
