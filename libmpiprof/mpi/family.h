// Which MPI this is, found at run time, and everything in which MPI libraries differ: handle width, constants, where a
// status keeps its byte count. The only file that knows one MPI from another. Asked once, after the real MPI_Init.
#pragma once

#include "libmpiprof/base/basics.h"
#include "libmpiprof/format/layout.h"

namespace mpiprof::mpi {

using format::MpiFamily;

// The questions that we ask the library itself; always PMPI_, C, and only about handles known to be valid.
struct Questions {
    int (*type_size_x)(Word type, std::int64_t* bytes);
    int (*comm_rank)(Word comm, int* rank);
    int (*comm_size)(Word comm, int* size);
    int (*comm_test_inter)(Word comm, int* flag);
    int (*comm_remote_size)(Word comm, int* size);
    int (*comm_get_name)(Word comm, char* name, int* length);
    int (*comm_get_parent)(Word* comm);
    int (*barrier)(Word comm);
    int (*comm_group)(Word comm, Word* group);
    int (*comm_remote_group)(Word comm, Word* group);
    int (*win_get_group)(Word win, Word* group);
    int (*group_size)(Word group, int* size);
    int (*group_translate_ranks)(Word from, int n, const int* ranks, Word to, int* translated);
    int (*group_free)(Word* group);
    int (*topo_test)(Word comm, int* kind);
    int (*cartdim_get)(Word comm, int* dimensions);
    int (*graph_neighbors_count)(Word comm, int rank, int* neighbors);
    int (*dist_graph_neighbors_count)(Word comm, int* in, int* out, int* weighted);
    // Attributes are set for their callbacks alone: see Communicators::begin_to_watch().
    using Copy = int(Word, int, void*, void*, void*, int*);
    using Delete = int(Word, int, void*, void*);
    using CreateKeyval = int (*)(Copy*, Delete*, int* keyval, void* extra);
    using SetAttribute = int (*)(Word, int keyval, void* value);
    using GetAttribute = int (*)(Word, int keyval, void* value, int* flag);
    CreateKeyval comm_create_keyval, type_create_keyval, win_create_keyval;
    SetAttribute comm_set_attr, type_set_attr, win_set_attr;
    GetAttribute comm_get_attr, type_get_attr, win_get_attr;
    int (*comm_delete_attr)(Word comm, int keyval);
    int (*comm_free_keyval)(int* keyval);
    int (*type_free_keyval)(int* keyval);
    int (*win_free_keyval)(int* keyval);
    int (*type_get_envelope)(Word type, int* integers, int* addresses, int* types, int* combiner);
    int (*get_count_c)(const void* status, Word type, std::int64_t* count);
    int (*test_cancelled)(const void* status, int* flag);
    int (*query_thread)(int* level);
    int (*query_cuda_support)();  // an extension; null where the library has none
    int (*get_library_version)(char* text, int* length);
    int (*comm_c2f)(Word comm);
    int (*win_c2f)(Word win);
    Word (*comm_f2c)(int comm);  // null where a Fortran handle is the C handle
    Word (*type_f2c)(int type);
    Word (*request_f2c)(int request);
    Word (*message_f2c)(int message);
    int (*request_c2f)(Word request);
    int (*message_c2f)(Word message);
    Word (*win_f2c)(int win);
};

struct FamilyFacts {
    static constexpr int not_known = -1;
    MpiFamily family;
    Word world, self, comm_null, byte, type_null;
    Word request_null, fortran_request_null;
    // Of requests that are complete when the call that posts them returns: all of them have this handle, or these bits
    // of it. Such a request is nobody else's, and waiting for it is over at once.
    struct HandleBits {
        Word mask = 0, bits = 1;  // none
        bool are_of(Word handle) const { return (handle & mask) == bits; }
    };
    HandleBits complete, fortran_complete;
    Word in_place, status_ignore, statuses_ignore;
    int proc_null, root, any_source;
    int topo_graph, topo_cart, topo_dist_graph;
    bool wide_handles;             // pointers, else int
    bool opaque_status;            // ask MPI_Get_count
    int count_at = not_known;      // where a status has its bytes if they are less than 4 GiB
    int source_at, status_bytes;   // where a status has its source, and how many lie in an array
    const void* fortran_in_place;  // addresses that stand for the constants in Fortran
    const void* f08_in_place;
    const void* fortran_status_ignore;
    const void* f08_status_ignore;
    const void* fortran_statuses_ignore;
    const void* f08_statuses_ignore;
};

// The library that is profiled: zeros until it is identified.
struct Profiled {
    FamilyFacts facts;
    Questions ask;
};
[[gnu::visibility("hidden")]] extern constinit Profiled profiled;

// Identifies the library that `init` (its real MPI_Init) belongs to; valid after MPI is initialised.
Profiled identify(const void* init);

std::uint64_t ask_bytes_in_status(const void* status);
// Of a receive that was cancelled a status tells nothing else.
bool is_of_cancelled(const void* status);

// Bytes that a successful receive left in a status.
[[gnu::always_inline]] inline std::uint64_t bytes_in_status(const void* status) {
    const FamilyFacts& facts = profiled.facts;
    if (facts.opaque_status) [[unlikely]]
        return ask_bytes_in_status(status);
    std::uint64_t word;
    if (facts.wide_handles) {  // Open MPI: {source, tag, error, cancelled, size_t bytes}
        __builtin_memcpy(&word, static_cast<const char*>(status) + 16, sizeof word);
        return word;
    }
    __builtin_memcpy(&word, status, sizeof word);  // MPICH: {count_lo, count_hi_and_cancelled, source, tag, error}
    return (word & 0xffffffff) | (word >> 33) << 32;
}

// How many bytes arrived, if a look tells (count_at), and at most 2 GiB: MPICH's status has its `cancelled` above, so
// what is more may be something else, which no memo is made of.
[[gnu::always_inline]] inline std::int64_t quick_bytes_in_status(Word status) {
    std::int64_t bytes;
    __builtin_memcpy(&bytes, reinterpret_cast<const char*>(status + profiled.facts.count_at), sizeof bytes);
    return bytes;
}

}  // namespace mpiprof::mpi
