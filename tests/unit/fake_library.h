// A library of seven functions for wrap/ to wrap, as mpi/ is to it: rows, real functions that do what a test asks of
// them, exported wrappers. The wrappers are FAKE_* (C) and fake_send_ (Fortran).
#pragma once

#include <cstdint>
#include <vector>

#include "libmpiprof/record/ledger.h"

namespace mpiprof::test {

// What the real functions do and saw; reset by each test.
struct Script {
    Word result = 0;                       // what they return
    int ierror = 0;                        // what the Fortran one stores
    void (*inside)() = nullptr;            // called within them
    void (*while_looked_for)() = nullptr;  // called once, where one of them is looked for
    std::int64_t arrives = 0;              // what FAKE_Receive finds
    bool status_is_opaque = false;         // where it lies cannot be read quickly
    bool several = false;                  // a second library was met
    bool is_foreign = false;               // ... and the caller uses that one
    bool is_off = false;                   // this library is not to be recorded
    std::vector<Word> seen;                // the arguments of the last call
    unsigned calls = 0;
    unsigned lookups = 0;    // real functions searched for
    unsigned questions = 0;  // types and communicators asked about
    unsigned freed = 0;
    unsigned in_order = 0;  // calls that are not recorded, but counted in their order
};
extern thread_local Script script;  // each thread has its own

// As when a second library is met: every real function is looked for again.
void forget_real_functions();

enum class FakeId : std::uint16_t { send, receive, spread, query, free, poll, missing, count };
inline constexpr std::uint16_t counter_of_polls = 2;
const Catalogue& fake_catalogue();

// Types are their own size in bytes, communicators their own index, unless this says otherwise.
extern Word index_of_communicator_7;

}  // namespace mpiprof::test

extern "C" {
mpiprof::Word FAKE_Send(mpiprof::Word buffer, mpiprof::Word count, mpiprof::Word type, mpiprof::Word comm);
mpiprof::Word FAKE_Receive(mpiprof::Word count, mpiprof::Word type, mpiprof::Word comm, mpiprof::Word status);
mpiprof::Word FAKE_Spread(mpiprof::Word counts, mpiprof::Word n, mpiprof::Word comm);
mpiprof::Word FAKE_Query(mpiprof::Word comm);
mpiprof::Word FAKE_Free(mpiprof::Word comm);
mpiprof::Word FAKE_Poll(mpiprof::Word comm);
mpiprof::Word FAKE_Missing(mpiprof::Word anything);
mpiprof::Word fake_send_(mpiprof::Word buffer, mpiprof::Word count, mpiprof::Word type, mpiprof::Word comm,
                         mpiprof::Word ierror);
}
