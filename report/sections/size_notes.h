// What the sizes of a table stand for, where that is not plain. For the sections whose lines are calls.
#pragma once

#include "report/model/job.h"
#include "report/model/table.h"

namespace mpiprof::report {

// Says of calls in the column "call" that send and receive at once (MPI_Sendrecv) that their size is both together: the
// section peers has each message once.
void note_exchanges(Table& table, const Job& job);

}  // namespace mpiprof::report
