// A fake MPI library: it exports every function of the table, moves nothing, and checks that every argument register
// and stack slot arrives as the program filled it. What a profiler may ask it (PMPI_) it answers like a library of its
// family; to questions that no MPI survives it answers by ending the process.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "libmpiprof/wrap/parameters.h"
#include "tests/abi/abi.h"

extern "C" {
Expected fake_expected{};
long fake_calls, fake_wrong;
int fake_dynamic_size = 8;
}

namespace {

int open_sessions, initialized, finalized;

[[noreturn]] void die(const char* why) {
    std::fprintf(stderr, "fake MPI: %s\n", why);
    std::_Exit(99);
}

// Each family keeps the byte count of a status elsewhere.
void fill_status(Word address, std::uint64_t bytes) {
    auto* status = reinterpret_cast<char*>(address);
    std::memset(status, 0x5a, status_bytes);
#ifdef FAKE_STANDARD
    std::memcpy(status + 16, &bytes, sizeof bytes);
#else
    const std::uint32_t low = static_cast<std::uint32_t>(bytes),
                        high = static_cast<std::uint32_t>(bytes >> 32) << 1 | 1u;
    std::memcpy(status, &low, 4);
    std::memcpy(status + 4, &high, 4);                     // the lowest bit says "cancelled"
#endif
}

Word arrive(const char* name, int words, const Word* word) {
    const Expected& e = fake_expected;
    ++fake_calls;
    if (std::strcmp(name, e.name) != 0) {
        std::fprintf(stderr, "fake MPI: %s was called as %s\n", e.name, name);
        ++fake_wrong;
        return e.result;
    }
    for (int i = 0; i < words && i < e.words; ++i) {
        // Who ignores the status may be given another; nothing else may change.
        if (word[i] == e.word[i] || (i == e.status && e.word[i] == status_ignore)) continue;
        std::fprintf(stderr, "fake MPI: argument %d of %s is %#lx, not %#lx\n", i, name,
                     static_cast<unsigned long>(word[i]), static_cast<unsigned long>(e.word[i]));
        ++fake_wrong;
    }
    if (e.status >= 0 && word[e.status] != status_ignore) fill_status(word[e.status], e.arrived);
    if (e.ierror >= 0) *reinterpret_cast<int*>(word[e.ierror]) = static_cast<int>(e.result);
    return e.result;
}

}  // namespace

// ---- what programs call ----
#define EXPORT extern "C" [[gnu::visibility("default")]]
#define FUNCTION(Name, arity)                                                     \
    EXPORT Word MPI_##Name(MPIPROF_PARAMETERS_##arity) {                          \
        const Word words[] = {0 MPIPROF_COMMA_##arity MPIPROF_ARGUMENTS_##arity}; \
        return arrive("MPI_" #Name, arity, words + 1);                            \
    }
#define FORTRAN(symbol, arity)                                                                           \
    EXPORT Word symbol(MPIPROF_PARAMETERS_##arity MPIPROF_COMMA_##arity Word ierror, Word h0, Word h1) { \
        const Word words[] = {0 MPIPROF_COMMA_##arity MPIPROF_ARGUMENTS_##arity, ierror, h0, h1};        \
        return arrive(#symbol, arity + 3, words + 1);                                                    \
    }
#ifdef FAKE_STANDARD  // the standard ABI says nothing of Fortran
#define IN_FORTRAN(name, arity)
#else
#define IN_FORTRAN(name, arity) FORTRAN(mpi_##name##_, arity) FORTRAN(mpi_##name##_f08_, arity)
#endif
#define MPI(Name, name, arity, ...) FUNCTION(Name, arity) IN_FORTRAN(name, arity)
#define MPI_C(Name, name, arity, ...) MPI(Name, name, arity) FUNCTION(Name##_c, arity)
#define MPI_SPECIAL(...)
#define MPI_PASSED(...)
#include "libmpiprof/mpi/calls.def"

// ---- begin and end, as often as anybody likes ----
EXPORT int PMPI_Init(int*, char***) {
    initialized = 1;
    return 0;
}
EXPORT int MPI_Init(int* argc, char*** argv) { return PMPI_Init(argc, argv); }
EXPORT int MPI_Finalize() {
    finalized = 1;
    return 0;
}
EXPORT int MPI_Session_init(Word, Word, Word*) {
    ++open_sessions;
    return 0;
}
EXPORT int MPI_Session_finalize(Word*) {
    --open_sessions;
    return 0;
}
EXPORT int MPI_Pcontrol(int, ...) { return 0; }
EXPORT int PMPI_Initialized(int* flag) {
    *flag = initialized;
    return 0;
}
EXPORT int PMPI_Finalized(int* flag) {
    *flag = finalized;
    return 0;
}

// ---- what is asked ----
#ifdef FAKE_STANDARD
EXPORT int PMPI_Abi_get_version(int* major, int* minor) {
    *major = 1;
    *minor = 0;
    return 0;
}
#elif defined(FAKE_MPICH)
EXPORT int PMPI_Abi_get_version(int* major, int* minor) {  // as MPICH's native library answers
    *major = *minor = -1;
    return 0;
}
#endif

EXPORT int PMPI_Get_library_version(char* text, int* length) {
#if defined(FAKE_STANDARD)
    const char name[] = "Standard MPI 5.0, a fake";
#elif defined(FAKE_MPICH)
    const char name[] = "MPICH Version:\t4.99\nMPICH Device:\tfake";
#else
    const char name[] = "Nobody's MPI 1.0, a fake";
#endif
    std::strcpy(text, name);
    *length = static_cast<int>(sizeof name) - 1;
    return 0;
}

namespace {
void must_be_comm(Word comm) {
    if (comm != world && comm != self) die("was asked about a communicator that is none");
}
Word clean(HandleInMemory value) { return value; }
constexpr int undefined = -32766;
[[maybe_unused]] std::uint64_t bytes_of_status(const void* status) {  // of the standard ABI's
    std::uint64_t bytes;
    std::memcpy(&bytes, static_cast<const char*>(status) + 16, sizeof bytes);
    return bytes;
}
}  // namespace

#ifdef FAKE_UNKNOWN  // of which no handle is known: nothing may be asked of it
#define ASKED_OF_THE_UNKNOWN() die("an unknown MPI was asked a question")
#else
#define ASKED_OF_THE_UNKNOWN() (void)0
#endif

EXPORT int PMPI_Comm_rank(HandleInMemory comm, int* rank) {
    ASKED_OF_THE_UNKNOWN();
    must_be_comm(clean(comm));
    *rank = clean(comm) == self ? 0 : my_rank;
    return 0;
}
EXPORT int PMPI_Comm_size(HandleInMemory comm, int* size) {
    ASKED_OF_THE_UNKNOWN();
    must_be_comm(clean(comm));
    *size = clean(comm) == self ? 1 : ranks;
    return 0;
}
EXPORT int PMPI_Comm_test_inter(HandleInMemory comm, int* flag) {
    ASKED_OF_THE_UNKNOWN();
    must_be_comm(clean(comm));
    *flag = 0;
    return 0;
}
EXPORT int PMPI_Topo_test(HandleInMemory comm, int* kind) {  // self has two neighbours: itself, twice
    ASKED_OF_THE_UNKNOWN();
    must_be_comm(clean(comm));
    *kind = clean(comm) == self ? dist_graph : undefined;
    return 0;
}
EXPORT int PMPI_Dist_graph_neighbors_count(HandleInMemory comm, int* in, int* out, int* weighted) {
    if (clean(comm) != self) die("was asked for the neighbours in a communicator without any");
    *in = *out = 2;
    *weighted = 0;
    return 0;
}
EXPORT int PMPI_Comm_get_parent(HandleInMemory* parent) {
    ASKED_OF_THE_UNKNOWN();
    *parent = static_cast<HandleInMemory>(comm_null);
    return 0;
}
EXPORT int PMPI_Type_size_x(HandleInMemory type, std::int64_t* bytes) {
    ASKED_OF_THE_UNKNOWN();
    const Word t = clean(type);
    if (t == type_int)
        *bytes = 4;
    else if (t == type_double)
        *bytes = 8;
    else if (t == type_byte)
        *bytes = 1;
    else if (t == dynamic_type)
        *bytes = fake_dynamic_size;
    else
        die("was asked for the size of a type that is none");
    return 0;
}
EXPORT int PMPI_Get_count(const void* status, HandleInMemory type, int* count) {
    ASKED_OF_THE_UNKNOWN();
    if (clean(type) != type_byte) die("was asked for another count than that of bytes");
    const std::uint64_t bytes = bytes_of_status(status);
    *count = bytes > 0x7fffffff ? undefined : static_cast<int>(bytes);
    return 0;
}
EXPORT int PMPI_Get_count_c(const void* status, HandleInMemory type, std::int64_t* count) {
    ASKED_OF_THE_UNKNOWN();
    if (clean(type) != type_byte) die("was asked for another count than that of bytes");
    *count = static_cast<std::int64_t>(bytes_of_status(status));
    return 0;
}
EXPORT int PMPI_Get_elements_x(const void* status, HandleInMemory type, std::int64_t* count) {
    return PMPI_Get_count_c(status, type, count);
}
EXPORT int PMPI_Query_thread(int* level) {
    *level = 0;
    return 0;
}
