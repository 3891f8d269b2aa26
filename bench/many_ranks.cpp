// Makes a job of N ranks from one real profile, for bench/merge:  many_ranks PROFILE DIRECTORY N
// What differs between ranks is changed in the header; every figure is scaled a little, so that no two ranks are equal.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "libmpiprof/format/layout.h"

using namespace mpiprof::format;

namespace {

constexpr unsigned ranks_on_a_node = 64;

template <std::size_t Size>
void set_text(char (&field)[Size], const std::string& text) {
    std::memset(field, 0, Size);
    text.copy(field, Size - 1);
}

template <class Record, class Vary>
void vary_each(std::vector<char>& image, const Table& table, TableType type, Vary vary) {
    if (table.type != type) return;
    auto* records = reinterpret_cast<Record*>(image.data() + table.offset);
    for (std::uint32_t i = 0; i < table.used; ++i) vary(records[i]);
}

void vary_tables(std::vector<char>& image, unsigned rank, unsigned ranks) {
    const auto& header = *reinterpret_cast<const Header*>(image.data());
    for (std::uint64_t at = header.directory_offset; at != 0;) {
        const auto* block = reinterpret_cast<const Directory*>(image.data() + at);
        const auto* tables = reinterpret_cast<const Table*>(block + 1);
        for (std::uint32_t t = 0; t < block->used; ++t) {
            vary_each<Cell>(image, tables[t], TableType::cells,
                            [&](Cell& cell) { cell.ticks += cell.ticks / 1000 * (rank % 97); });
            vary_each<Communicator>(image, tables[t], TableType::communicators, [&](Communicator& communicator) {
                if (communicator.how == origin_world) communicator.size = ranks, communicator.rank = rank;
            });
            vary_each<Arrival>(image, tables[t], TableType::arrivals,
                               [&](Arrival& arrival) { arrival.begin += arrival.number_and_call % 89 * (rank % 97); });
        }
        at = block->next;
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return std::fprintf(stderr, "usage: many_ranks PROFILE DIRECTORY N\n"), 2;
    std::ifstream file(argv[1], std::ios::binary);
    const std::vector<char> profile((std::istreambuf_iterator<char>(file)), {});
    const unsigned ranks = static_cast<unsigned>(std::atoi(argv[3]));
    if (profile.size() < sizeof(Header)) return std::fprintf(stderr, "many_ranks: %s is no profile\n", argv[1]), 1;
    for (unsigned rank = 0; rank < ranks; ++rank) {
        std::vector<char> image = profile;
        auto& header = *reinterpret_cast<Header*>(image.data());
        header.rank = rank;
        header.size = ranks;
        header.pid = 1000 + rank;
        header.local_rank = rank % ranks_on_a_node;
        set_text(header.job, "4711");
        set_text(header.launch, "bench:4711");
        set_text(header.node, "boot-" + std::to_string(rank / ranks_on_a_node));
        set_text(header.host, "n" + std::to_string(rank / ranks_on_a_node));
        vary_tables(image, rank, ranks);
        const std::string path = std::string(argv[2]) + "/mpi_profile.4711." + std::to_string(rank);
        std::ofstream out(path, std::ios::binary);
        if (!out.write(image.data(), static_cast<std::streamsize>(image.size())).flush())
            return std::fprintf(stderr, "many_ranks: cannot write %s\n", path.c_str()), 1;
    }
}
