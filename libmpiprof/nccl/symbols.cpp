// The rows as functions: ncclX. Every parameter is a register-wide word and the whole result register is returned.
// Those that are more than a call, first: groups, and whatever comes before all others and so may begin the profile.
#include "libmpiprof/nccl/arguments.h"
#include "libmpiprof/nccl/bookers.h"
#include "libmpiprof/nccl/profiler.h"
#include "libmpiprof/wrap/parameters.h"

using mpiprof::Word;
using namespace mpiprof::nccl;

#define EXPORT extern "C" [[gnu::visibility("default")]]
#define CALLER reinterpret_cast<Word>(__builtin_return_address(0))
#define TEXT(Name)                                         \
    namespace {                                            \
    struct Text_##Name {                                   \
        static const char* text() { return "nccl" #Name; } \
    };                                                     \
    }
#define WRAP(Name, ...) mpiprof::wrap::call<Nccl, Id::Name, 0, Binding, Text_##Name>(__VA_ARGS__)

#define NCCL(Name, arity, ...) \
    TEXT(Name)                 \
    EXPORT Word nccl##Name(MPIPROF_PARAMETERS_##arity) { return WRAP(Name, MPIPROF_ARGUMENTS_##arity); }
#define NCCL_SPECIAL(Name, ...) TEXT(Name)
#define NCCL_PASSED(...)
#include "libmpiprof/nccl/calls.def"

// ---- groups: what is open is known whether it is recorded or not ----
EXPORT Word ncclGroupStart() {
    group.start();
    return WRAP(GroupStart);
}
EXPORT Word ncclGroupEnd() {
    group.end();
    return WRAP(GroupEnd);
}
EXPORT Word ncclGroupSimulateEnd(Word info) {
    group.end();
    return WRAP(GroupSimulateEnd, info);
}

// ---- communicators: a job without MPI begins here ----
namespace {

void begin(const char* name, Word caller, Membership membership, int communicators = 1) {
    if (library.is_off()) return;
    const mpiprof::wrap::Real real = find_real(name, caller);
    if (!real.function) return;
    library.begin(real.function, membership);
    if (!library.several || library.is_ours(real.function)) expect_communicators(communicators);
}

// One is about to be made from another.
void expect_child(const char* name, Word caller) {
    if (library.is_off() || (library.several && !library.is_ours(find_real(name, caller).function))) return;
    expect_communicators(1);
}

}  // namespace

// The first call of all, but nothing comes of it yet: programs try NCCL with it.
EXPORT Word ncclGetUniqueId(Word id) {
    if (!library.is_off())
        if (const mpiprof::wrap::Real real = find_real("ncclGetUniqueId", CALLER); real.function)
            library.meet_for_id(real.function);
    return WRAP(GetUniqueId, id);
}
EXPORT Word ncclCommInitAll(Word comms, Word devices, Word list) {
    begin("ncclCommInitAll", CALLER, {0, 1}, static_cast<int>(devices));
    return WRAP(CommInitAll, comms, devices, list);
}
EXPORT Word ncclCommInitRankScalable(Word newcomm, Word size, Word rank, Word n, Word ids, Word config) {
    begin("ncclCommInitRankScalable", CALLER, {static_cast<int>(rank), static_cast<int>(size)});
    return WRAP(CommInitRankScalable, newcomm, size, rank, n, ids, config);
}

EXPORT Word ncclCommSplit(Word comm, Word color, Word key, Word newcomm, Word config) {
    if (static_cast<int>(color) >= 0) expect_child("ncclCommSplit", CALLER);
    return WRAP(CommSplit, comm, color, key, newcomm, config);
}
EXPORT Word ncclCommShrink(Word comm, Word excluded, Word n, Word newcomm, Word config, Word flags) {
    expect_child("ncclCommShrink", CALLER);
    return WRAP(CommShrink, comm, excluded, n, newcomm, config, flags);
}
EXPORT Word ncclCommGrow(Word comm, Word size, Word id, Word rank, Word newcomm, Word config) {
    expect_child("ncclCommGrow", CALLER);
    return WRAP(CommGrow, comm, size, id, rank, newcomm, config);
}

#if defined(__x86_64__)
#define INIT_PARAMETERS                                                                                          \
    Word comm, Word size, Word rank, Word config, Word r8, Word r9, Word i0, Word i1, Word i2, Word i3, Word i4, \
        Word i5, Word i6, Word i7, Word i8, Word i9, Word i10, Word i11, Word i12, Word i13, Word i14, Word i15
#define INIT_ARGUMENTS \
    comm, size, rank, config, r8, r9, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15
#elif defined(__aarch64__)
#define INIT_PARAMETERS Word comm, Word size, Word id, Word rank, Word config
#define INIT_ARGUMENTS comm, size, id, rank, config
#endif
#ifdef INIT_PARAMETERS
EXPORT Word ncclCommInitRank(INIT_PARAMETERS) {
    begin("ncclCommInitRank", CALLER, {static_cast<int>(rank), static_cast<int>(size)});
    return WRAP(CommInitRank, INIT_ARGUMENTS);
}
EXPORT Word ncclCommInitRankConfig(INIT_PARAMETERS) {
    begin("ncclCommInitRankConfig", CALLER, {static_cast<int>(rank), static_cast<int>(size)});
    return WRAP(CommInitRankConfig, INIT_ARGUMENTS);
}
#endif
