// Questions about communicators and types, asked of the library once and remembered until the handle's life ends.
#include "libmpiprof/mpi/library.h"

#include "libmpiprof/record/text.h"

#include <string.h>

namespace mpiprof::mpi {

constinit Library library;

bool Library::adopt(const void* init_function) {
    const void* canonical = wrap::find_beside("PMPI_Init", init_function);
    if (!canonical) canonical = init_function;
    if (!first_) first_ = canonical;
    return first_ == canonical;
}

bool Library::is_ours(const void* function) const { return wrap::find_beside("PMPI_Init", function) == first_; }

void Library::identify(const void* init_function) { facts = mpi::identify(init_function, ask); }

Word Library::comm_from_fortran(Word comm) const { return ask.comm_f2c ? ask.comm_f2c(static_cast<int>(comm)) : comm; }
Word Library::type_from_fortran(Word type) const { return ask.type_f2c ? ask.type_f2c(static_cast<int>(type)) : type; }

CommInfo Library::describe(Word handle) {
    CommInfo info{handle, 0, false, 0, 0, -1, -1};
    int flag = 0;
    if (ask.comm_rank) ask.comm_rank(handle, &info.rank);
    if (ask.comm_test_inter && ask.comm_test_inter(handle, &flag) == 0) info.inter = flag != 0;
    if (info.inter && ask.comm_remote_size) ask.comm_remote_size(handle, &info.size);
    else if (ask.comm_size) ask.comm_size(handle, &info.size);
    int topology = 0, n = 0, weighted = 0;
    if (info.inter || !ask.topo_test || ask.topo_test(handle, &topology) != 0) return info;
    if (topology == facts.topo_cart && ask.cartdim_get && ask.cartdim_get(handle, &n) == 0) info.in_degree = info.out_degree = 2 * n;
    if (topology == facts.topo_graph && ask.graph_neighbors_count && ask.graph_neighbors_count(handle, info.rank, &n) == 0)
        info.in_degree = info.out_degree = n;
    if (topology == facts.topo_dist_graph && ask.dist_graph_neighbors_count)
        ask.dist_graph_neighbors_count(handle, &info.in_degree, &info.out_degree, &weighted);
    return info;
}

std::uint16_t Library::publish(const CommInfo& info) {
    Image& image = runtime.records().image;
    if (published_ == 0) {  // record 0: not told apart
        if (!image.next_record(table_, format::TableType::communicators, sizeof(format::Communicator), 16, 0)) return 0;
        Image::publish(table_);
        published_ = 1;
    }
    if (published_ > max_communicators) return 0;
    auto* record = static_cast<format::Communicator*>(
        image.next_record(table_, format::TableType::communicators, sizeof(format::Communicator), 16, 0));
    if (!record) return 0;
    record->size = static_cast<std::uint32_t>(info.size);
    record->rank = static_cast<std::uint32_t>(info.rank);
    record->flags = info.inter;
    record->how = info.handle == facts.world ? format::origin_world : info.handle == facts.self ? format::origin_self : format::origin_unknown;
    char name[512] = {};  // MPI_MAX_OBJECT_NAME of every known library fits
    int length = 0;
    if (ask.comm_get_name && ask.comm_get_name(info.handle, name, &length) == 0)
        copy(record->name, name);
    Image::publish(table_);
    return static_cast<std::uint16_t>(published_++);
}

CommInfo Library::communicator(Word handle) {
    const Guard guard(lock_);
    for (unsigned i = 0; i < known_count_; ++i)
        if (known_[i].handle == handle) return known_[i];
    CommInfo info = describe(handle);
    info.index = publish(info);
    if (info.index == 0) add(runtime.records().image.header().drops.communicators, 1);
    if (known_count_ < max_communicators) known_[known_count_++] = info;
    return info;
}

void Library::forget_communicator(Word handle) {
    const Guard guard(lock_);
    for (unsigned i = 0; i < known_count_; ++i) {
        if (known_[i].handle != handle) continue;
        known_[i] = known_[--known_count_];
        return;
    }
}

std::uint64_t Library::type_size(Ledger& ledger, Word type) {
    // MPICH's predefined types carry their size in the handle: 0x4c00SSxx.
    if (facts.family == MpiFamily::mpich && (static_cast<std::uint32_t>(type) & 0xffff0000u) == 0x4c000000u)
        return static_cast<std::uint64_t>(type) >> 8 & 0xff;
    Ledger::TypeSize& known = ledger.type_size_entry(type);
    if (known.handle == type && known.epoch == ledger.epoch()) return known.size;
    std::int64_t bytes = 0;
    if (!ask.type_size_x || ask.type_size_x(type, &bytes) != 0 || bytes < 0) bytes = 0;
    known = {type, ledger.epoch(), static_cast<std::uint64_t>(bytes)};
    return known.size;
}

// One wrapper serves all manglings of a Fortran name, and so must find whichever the library exports.
wrap::Real Mpi::find_mangled(const char* name, Word return_address) {
    wrap::Real real = find_real(name, return_address);  // mpi_x_
    const std::size_t length = strlen(name);
    char other[80];
    if (real.function || length + 2 > sizeof other) return real;
    memcpy(other, name, length);
    other[length] = '_';
    other[length + 1] = 0;
    real = find_real(other, return_address);  // mpi_x__
    if (real.function) return real;
    other[length - 1] = 0;
    real = find_real(other, return_address);  // mpi_x
    if (real.function) return real;
    for (char* c = other; *c; ++c)
        if (*c >= 'a' && *c <= 'z') *c = static_cast<char>(*c - 'a' + 'A');
    return find_real(other, return_address);  // MPI_X
}

}  // namespace mpiprof::mpi
