// The fastest of some round trips: the answer was given in its middle, give or take half of it.
#include "libmpiprof/mpi/clock_offsets.h"

#include <unistd.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/mpi/library.h"

namespace mpiprof::mpi {
namespace {

constexpr int round_trips = 24, some_tag = 17;

// A communicator of our own, so that no message of the program's meets ours.
class Exchange {
  public:
    Exchange() {
        find(dup_, "PMPI_Comm_dup");
        find(free_, "PMPI_Comm_free");
        find(allgather_, "PMPI_Allgather");
        find(send_, "PMPI_Send");
        find(receive_, "PMPI_Recv");
        if (!dup_ || !free_ || !allgather_ || !send_ || !receive_ || dup_(profiled.facts.world, &comm_) != 0)
            comm_ = no_handle;
        else
            comm_ = library.normal(comm_);
    }
    ~Exchange() {
        if (is_open()) free_(&comm_);
    }
    bool is_open() const { return comm_ != no_handle; }
    template <class T>
    bool gather_all(const T& mine, T* all) {
        return allgather_(&mine, sizeof mine, profiled.facts.byte, all, sizeof mine, profiled.facts.byte, comm_) == 0;
    }
    bool send(std::uint64_t value, int to) {
        return send_(&value, sizeof value, profiled.facts.byte, to, some_tag, comm_) == 0;
    }
    bool receive(std::uint64_t& value, int from) {
        char status[64];
        return receive_(&value, sizeof value, profiled.facts.byte, from, some_tag, comm_, status) == 0;
    }

  private:
    template <class F>
    static void find(F& function, const char* name) {
        function = reinterpret_cast<F>(wrap::find_beside(name, reinterpret_cast<const void*>(profiled.ask.comm_rank)));
    }
    Word comm_ = 0;
    int (*dup_)(Word, Word*);
    int (*free_)(Word*);
    int (*allgather_)(const void*, int, Word, void*, int, Word, Word);
    int (*send_)(const void*, int, Word, int, int, Word);
    int (*receive_)(void*, int, Word, int, int, Word, void*);
};

std::uint64_t hash_of_node() {
    char text[128] = {}, boot[64] = {};
    gethostname(text, sizeof text - sizeof boot);  // also of a rank that has no profile
    append(text, first_line_of("/proc/sys/kernel/random/boot_id", boot));
    std::uint64_t hash = 1;
    for (const char* c = text; *c; ++c) hash = mix(hash ^ static_cast<unsigned char>(*c)) + (hash >> 29);
    return hash;
}

ClockOffset ask_rank_0(Exchange& exchange) {
    ClockOffset best{};
    for (int i = 0; i < round_trips; ++i) {
        const std::uint64_t before = kernel_nanoseconds(CLOCK_MONOTONIC);
        std::uint64_t theirs = 0;
        if (!exchange.send(before, 0) || !exchange.receive(theirs, 0)) return {};
        const std::uint64_t after = kernel_nanoseconds(CLOCK_MONOTONIC), error = (after - before) / 2 + 1;
        if (best.is_known && error >= best.error_ns) continue;
        const std::uint64_t middle = before + (after - before) / 2;
        best = {true, middle, static_cast<std::int64_t>(theirs - middle), error};
    }
    return best;
}

void answer(Exchange& exchange, int rank) {
    for (int i = 0; i < round_trips; ++i) {
        std::uint64_t theirs = 0;
        if (!exchange.receive(theirs, rank) || !exchange.send(kernel_nanoseconds(CLOCK_MONOTONIC), rank)) return;
    }
}

// The lowest rank of the same node.
int first_of(const std::uint64_t* nodes, int rank) {
    for (int i = 0; i < rank; ++i)
        if (nodes[i] == nodes[rank]) return i;
    return rank;
}

}  // namespace

ClockOffset measure_clock_offset() {
    int rank = 0, size = 1;
    if (!library.is_known() || profiled.facts.byte == no_handle ||
        profiled.ask.comm_rank(profiled.facts.world, &rank) != 0 ||
        profiled.ask.comm_size(profiled.facts.world, &size) != 0)
        return {};
    Exchange exchange;
    if (!exchange.is_open()) return {};
    const std::size_t bytes = static_cast<std::size_t>(size) * (sizeof(std::uint64_t) + sizeof(ClockOffset));
    auto* measured = static_cast<ClockOffset*>(private_pages(bytes));
    if (!measured) return {};
    auto* nodes = reinterpret_cast<std::uint64_t*>(measured + size);
    ClockOffset mine{};
    if (exchange.gather_all(hash_of_node(), nodes)) {
        if (rank == 0) {
            for (int other = 1; other < size; ++other)
                if (first_of(nodes, other) == other) answer(exchange, other);
            mine = {true, kernel_nanoseconds(CLOCK_MONOTONIC), 0, 0};
        } else if (first_of(nodes, rank) == rank) {
            mine = ask_rank_0(exchange);
        }
        if (exchange.gather_all(mine, measured)) mine = measured[first_of(nodes, rank)];
    }
    munmap(measured, bytes);
    return mine;
}

}  // namespace mpiprof::mpi
