// Open MPI, MPICH and everybody with MPICH's ABI, the MPI-5 standard ABI; by symbols, never by file name.
#include "libmpiprof/mpi/family.h"

#include <string.h>

#include "libmpiprof/base/text.h"
#include "libmpiprof/record/call_in_hand.h"
#include "libmpiprof/wrap/real.h"

namespace mpiprof::mpi {
namespace {

using wrap::find_beside;

template <class F>
void ask(F& function, const char* name, const void* near) {
    function = reinterpret_cast<F>(find_beside(name, near));
}

Questions find_questions(const void* init) {
    Questions q{};
    ask(q.type_size_x, "PMPI_Type_size_x", init);
    ask(q.comm_rank, "PMPI_Comm_rank", init);
    ask(q.comm_size, "PMPI_Comm_size", init);
    ask(q.comm_test_inter, "PMPI_Comm_test_inter", init);
    ask(q.comm_remote_size, "PMPI_Comm_remote_size", init);
    ask(q.comm_get_name, "PMPI_Comm_get_name", init);
    ask(q.comm_get_parent, "PMPI_Comm_get_parent", init);
    ask(q.barrier, "PMPI_Barrier", init);
    ask(q.comm_group, "PMPI_Comm_group", init);
    ask(q.comm_remote_group, "PMPI_Comm_remote_group", init);
    ask(q.win_get_group, "PMPI_Win_get_group", init);
    ask(q.group_size, "PMPI_Group_size", init);
    ask(q.group_translate_ranks, "PMPI_Group_translate_ranks", init);
    ask(q.group_free, "PMPI_Group_free", init);
    ask(q.topo_test, "PMPI_Topo_test", init);
    ask(q.cartdim_get, "PMPI_Cartdim_get", init);
    ask(q.graph_neighbors_count, "PMPI_Graph_neighbors_count", init);
    ask(q.dist_graph_neighbors_count, "PMPI_Dist_graph_neighbors_count", init);
    ask(q.comm_create_keyval, "PMPI_Comm_create_keyval", init);
    ask(q.type_create_keyval, "PMPI_Type_create_keyval", init);
    ask(q.win_create_keyval, "PMPI_Win_create_keyval", init);
    ask(q.comm_set_attr, "PMPI_Comm_set_attr", init);
    ask(q.type_set_attr, "PMPI_Type_set_attr", init);
    ask(q.win_set_attr, "PMPI_Win_set_attr", init);
    ask(q.comm_get_attr, "PMPI_Comm_get_attr", init);
    ask(q.type_get_attr, "PMPI_Type_get_attr", init);
    ask(q.win_get_attr, "PMPI_Win_get_attr", init);
    ask(q.comm_delete_attr, "PMPI_Comm_delete_attr", init);
    ask(q.comm_free_keyval, "PMPI_Comm_free_keyval", init);
    ask(q.type_free_keyval, "PMPI_Type_free_keyval", init);
    ask(q.win_free_keyval, "PMPI_Win_free_keyval", init);
    ask(q.type_get_envelope, "PMPI_Type_get_envelope", init);
    ask(q.get_count_c, "PMPI_Get_count_c", init);
    ask(q.test_cancelled, "PMPI_Test_cancelled", init);
    ask(q.query_thread, "PMPI_Query_thread", init);
    ask(q.query_cuda_support, "MPIX_Query_cuda_support", init);
    ask(q.get_library_version, "PMPI_Get_library_version", init);
    ask(q.comm_c2f, "PMPI_Comm_c2f", init);
    ask(q.win_c2f, "PMPI_Win_c2f", init);
    ask(q.comm_f2c, "PMPI_Comm_f2c", init);
    ask(q.type_f2c, "PMPI_Type_f2c", init);
    ask(q.request_f2c, "PMPI_Request_f2c", init);
    ask(q.message_f2c, "PMPI_Message_f2c", init);
    ask(q.request_c2f, "PMPI_Request_c2f", init);
    ask(q.message_c2f, "PMPI_Message_c2f", init);
    ask(q.win_f2c, "PMPI_Win_f2c", init);
    return q;
}

// A Fortran constant that is a variable's address, or the address that a variable holds. A Fortran program has
// variables of the library in itself; the library's own are meant where there is no such program.
const void* address(const char* name, const void* near) {
    const void* in_program = wrap::find_in_program(name);
    return in_program ? in_program : find_beside(name, near);
}
const void* pointed_to(const char* name, const void* near) {
    const void* variable = address(name, near);
    return variable ? *static_cast<void* const*>(variable) : nullptr;
}

FamilyFacts open_mpi(const void* init, const Questions& q) {
    FamilyFacts f{};
    f.family = MpiFamily::open_mpi;
    f.wide_handles = true;
    // Never the symbol ompi_mpi_comm_world: in executables with copy relocations it has another address.
    f.world = q.comm_f2c ? q.comm_f2c(0) : no_handle;
    f.self = q.comm_f2c ? q.comm_f2c(1) : no_handle;
    f.comm_null = q.comm_f2c ? q.comm_f2c(2) : no_handle;
    f.byte = q.type_f2c ? q.type_f2c(1) : no_handle;
    f.type_null = q.type_f2c ? q.type_f2c(0) : no_handle;
    f.request_null = q.request_f2c ? q.request_f2c(0) : no_handle;
    f.fortran_request_null = 0;
    if (const void* empty = find_beside("ompi_request_empty", init)) {
        f.complete = {-1, reinterpret_cast<Word>(empty)};
        if (q.request_f2c && q.request_f2c(1) == f.complete.bits) f.fortran_complete = {-1, 1};
    }
    f.in_place = 1;
    f.status_ignore = f.statuses_ignore = 0;
    f.count_at = 16;
    f.proc_null = -2;
    f.root = -4;
    f.any_source = -1;
    f.source_at = 0;
    f.status_bytes = 24;
    f.topo_cart = 1;
    f.topo_graph = 2;
    f.topo_dist_graph = 3;
    f.fortran_in_place = f.f08_in_place = address("mpi_fortran_in_place_", init);
    f.fortran_status_ignore = f.f08_status_ignore = address("mpi_fortran_status_ignore_", init);
    f.fortran_statuses_ignore = f.f08_statuses_ignore = address("mpi_fortran_statuses_ignore_", init);
    return f;
}

FamilyFacts mpich(const void* init) {
    FamilyFacts f{};
    f.family = MpiFamily::mpich;
    f.world = 0x44000000;
    f.self = 0x44000001;
    f.comm_null = 0x04000000;
    f.byte = 0x4c00010d;
    f.type_null = 0x0c000000;
    f.request_null = f.fortran_request_null = 0x2c000000;
    f.complete = f.fortran_complete = {0xc0000000, 0x40000000};  // those that are built in, since MPICH 4
    f.in_place = -1;
    f.status_ignore = f.statuses_ignore = 1;
    f.count_at = 0;
    f.proc_null = -1;
    f.root = -3;
    f.any_source = -2;
    f.source_at = 8;
    f.status_bytes = 20;
    f.topo_graph = 1;
    f.topo_cart = 2;
    f.topo_dist_graph = 3;
    f.fortran_in_place = pointed_to("MPIR_F_MPI_IN_PLACE", init);
    f.f08_in_place = address("MPIR_F08_MPI_IN_PLACE", init);
    f.fortran_status_ignore = pointed_to("MPI_F_STATUS_IGNORE", init);
    // By pointer the library knows its own; a program has others in itself.
    f.f08_status_ignore = address("MPIR_F08_MPI_STATUS_IGNORE_OBJ", init);
    f.f08_statuses_ignore = address("MPIR_F08_MPI_STATUSES_IGNORE_OBJ", init);
    if (!f.f08_status_ignore) f.f08_status_ignore = pointed_to("MPI_F08_STATUS_IGNORE", init);
    if (!f.f08_statuses_ignore) f.f08_statuses_ignore = pointed_to("MPI_F08_STATUSES_IGNORE", init);
    f.fortran_statuses_ignore = pointed_to("MPI_F_STATUSES_IGNORE", init);
    return f;
}

FamilyFacts standard_abi() {
    FamilyFacts f{};
    f.family = MpiFamily::standard_abi;
    f.wide_handles = true;
    f.opaque_status = true;
    f.world = 0x101;
    f.self = 0x102;
    f.comm_null = 0x100;
    f.byte = 0x247;
    f.type_null = 0x200;
    f.request_null = f.fortran_request_null = 0x180;
    f.in_place = 1;
    f.status_ignore = f.statuses_ignore = 0;
    f.proc_null = -3;
    f.root = -4;
    f.any_source = -1;
    f.source_at = 0;
    f.status_bytes = 32;
    f.topo_cart = 211;
    f.topo_graph = 212;
    f.topo_dist_graph = 213;
    return f;
}

bool speaks_standard_abi(const void* init) {
    using AbiVersion = int (*)(int*, int*);
    const auto abi_version = reinterpret_cast<AbiVersion>(find_beside("PMPI_Abi_get_version", init));
    int major = -1, minor = -1;  // native libraries that know the function answer -1
    return abi_version && abi_version(&major, &minor) == 0 && major >= 1;
}

bool is_mpich(const void* init, const Questions& q) {
    if (find_beside("MPIR_Err_create_code", init) || find_beside("MPIR_F_MPI_IN_PLACE", init)) return true;
    char text[8192] = {};  // MPI_MAX_LIBRARY_VERSION_STRING of every known library fits
    int length = 0;
    if (!q.get_library_version || q.get_library_version(text, &length) != 0) return false;
    return any_of("MPICH\0Intel(R) MPI\0MVAPICH\0", [&](const char* name) { return strstr(text, name) != nullptr; });
}

FamilyFacts facts_of(const void* init, const Questions& questions) {
    // In this order: Open MPI's standard-ABI library depends on libopen_mpi and so has the ompi_ symbols, too.
    if (speaks_standard_abi(init)) return standard_abi();
    if (find_beside("ompi_mpi_comm_world", init)) return open_mpi(init, questions);
    if (is_mpich(init, questions)) return mpich(init);
    FamilyFacts nothing{};       // counts and times only: no constant, no handle, no size of this library is known
    nothing.status_ignore = -1;  // nor that a caller wants none
    return nothing;
}

}  // namespace

constinit Profiled profiled{};

Profiled identify(const void* init) {
    const Questions questions = find_questions(init);
    return {facts_of(init, questions), questions};
}

std::uint64_t ask_bytes_in_status(const void* status) {
    const Questions& ask = profiled.ask;
    std::int64_t count = 0;
    if (!ask.get_count_c || ask.get_count_c(status, profiled.facts.byte, &count) != 0 || count < 0) return 0;
    return static_cast<std::uint64_t>(count);
}

bool is_of_cancelled(const void* status) {
    int flag = 0;
    return profiled.ask.test_cancelled && profiled.ask.test_cancelled(status, &flag) == 0 && flag != 0;
}

}  // namespace mpiprof::mpi
