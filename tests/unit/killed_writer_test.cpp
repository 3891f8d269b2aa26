// SIGKILL while the written store is being written, ten thousand times: whatever page the kernel had got to, the file
// is a valid profile. A child fills tables and writes them as the helper thread does, its parent kills it at a random
// moment and reads the file by its directory alone.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string>

#include "libmpiprof/record/image.h"

namespace mpiprof {
namespace {

using format::Directory;
using format::Header;
using format::Table;

constexpr auto tested_type = static_cast<format::TableType>(0x7e57);
struct Record {
    std::uint64_t words[8];
};

Record numbered(std::uint64_t table, std::uint64_t index) {
    Record r;
    for (auto& word : r.words) word = table << 32 | (index + 1);
    return r;
}

// Tables of 40 records, some of which are filled in later rounds: more tables than one directory block holds.
[[noreturn]] void write_until_killed(int fd, std::atomic<bool>& is_running) {
    is_running = true;
    Image image;
    auto written = std::make_unique<Image::Written>();
    if (!image.open_private() || !identify(fd, written->file)) _exit(1);
    constexpr unsigned tables = 300, capacity = 40;
    Table* table[tables]{};
    unsigned made = 0;
    for (;;) {
        for (unsigned i = 0; i < 25 && made < tables; ++i, ++made)
            table[made] = image.add_table(tested_type, sizeof(Record), capacity, made);
        for (unsigned t = 0; t < made; ++t) {
            if (!table[t] || table[t]->used == capacity) continue;
            const Record r = numbered(t, table[t]->used);
            memcpy(image.at(table[t]->offset) + sizeof r * table[t]->used, &r, sizeof r);
            Image::publish(table[t]);
        }
        if (image.write_changes(fd, *written) != 0) _exit(2);
    }
}

struct Found {
    bool has_begun = false;
    unsigned tables = 0, records = 0;
    std::string wrong;
};

void read_table(const std::string& bytes, const Table& table, Found& found) {
    ++found.tables;
    if (table.offset + std::uint64_t{table.record_size} * table.used > bytes.size()) {
        found.wrong = "a table of " + std::to_string(table.used) + " records lies outside of the file";
        return;
    }
    for (std::uint64_t i = 0; i < table.used; ++i, ++found.records) {
        const Record expected = numbered(table.thread, i);
        if (memcmp(bytes.data() + table.offset + sizeof expected * i, &expected, sizeof expected) != 0)
            found.wrong = "record " + std::to_string(i) + " of table " + std::to_string(table.thread) + " is not whole";
    }
}

Found read_file(const std::string& bytes) {
    Found found;
    Header header;
    if (bytes.size() < sizeof header) return found;
    memcpy(&header, bytes.data(), sizeof header);
    if (memcmp(header.first_line, format::first_line, sizeof format::first_line) != 0) return found;
    found.has_begun = true;
    for (std::uint64_t at = header.directory_offset; at != 0 && found.wrong.empty();) {
        Directory block;
        if (at + sizeof block > bytes.size()) {
            found.wrong = "a directory block lies outside of the file";
            break;
        }
        memcpy(&block, bytes.data() + at, sizeof block);
        for (std::uint32_t i = 0; i < block.used && found.wrong.empty(); ++i) {
            Table table{};
            const std::uint64_t entry = at + sizeof block + sizeof table * i;
            if (entry + sizeof table > bytes.size()) {
                found.wrong = "a directory entry lies outside of the file";
                break;
            }
            memcpy(&table, bytes.data() + entry, sizeof table);
            if (table.type == tested_type) read_table(bytes, table, found);
        }
        at = block.next;
    }
    return found;
}

std::string bytes_of(int fd) {
    std::string bytes(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)), '\0');
    if (pread(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) bytes.clear();
    return bytes;
}

TEST(killed_writer, leaves_a_valid_profile_whenever_it_is_killed) {
    const char* kills_wanted = std::getenv("KILLS");
    const int kills = kills_wanted ? std::atoi(kills_wanted) : 10000;
    std::mt19937 moments(20261120);
    std::uniform_real_distribution<> part(0, 1);
    double longest_us = 3000;  // more where the writer lacks a processor: half of the kills are to find something
    int begun = 0;
    unsigned long tables = 0, records = 0;
    char path[] = "/tmp/mpiprof-killed-XXXXXX";
    const int fd = mkstemp(path);
    ASSERT_GE(fd, 0);
    unlink(path);
    void* shared = mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    auto& is_running = *new (shared) std::atomic<bool>(false);
    for (int i = 0; i < kills; ++i) {
        ASSERT_EQ(ftruncate(fd, 0), 0);
        is_running = false;
        const pid_t child = fork();
        if (child == 0) write_until_killed(fd, is_running);
        ASSERT_GE(child, 0);
        while (!is_running) usleep(20);  // on a busy machine it may take as long as all that follows
        usleep(static_cast<useconds_t>(longest_us * part(moments)));
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself, with " << status;
        const Found found = read_file(bytes_of(fd));
        ASSERT_EQ(found.wrong, "") << "kill " << i << ", " << found.tables << " tables, " << found.records
                                   << " records before it";
        begun += found.has_begun;
        longest_us = found.has_begun ? std::max(3000.0, longest_us * 0.98) : std::min(50'000.0, longest_us * 1.02);
        tables += found.tables;
        records += found.records;
    }
    close(fd);
    EXPECT_GT(begun, kills / 4) << "most kills came before there was anything to read";
    std::printf("%d kills, %d files had begun; %lu tables and %lu records read, all whole\n", kills, begun, tables,
                records);
}

}  // namespace
}  // namespace mpiprof
