// The image: the profile in memory, laid out exactly as the file. It lies in one reserved address range, so a file
// offset is a pointer by addition and mappings never move. Grows by segments; tables are published in its directory.
// In its file it may lie in pieces (format::Place). Used by the ledgers and the runtime. Knows neither MPI nor the
// environment.
#pragma once

#include <string.h>

#include "libmpiprof/base/at_first.h"
#include "libmpiprof/base/basics.h"
#include "libmpiprof/format/layout.h"
#include "libmpiprof/format/node_file.h"

namespace mpiprof {

// Whether this process may have a file of so many bytes. Asked before a file grows: beyond RLIMIT_FSIZE the kernel
// answers with a signal that ends the user's program.
bool file_may_have(std::uint64_t bytes);

// Which file a descriptor means: the program may have closed it and opened something else under its number.
struct FileIdentity {
    std::uint64_t device, inode;
    bool operator==(const FileIdentity&) const = default;
};
bool identify(int fd, FileIdentity& identity);
bool identify(const char* path, FileIdentity& identity);  // not through a symbolic link
bool identify_through(const char* path, FileIdentity& identity);
// Whether `fd` still means that file and some directory still names it: one that was moved is, one that was removed is
// not.
bool is_linked(int fd, const FileIdentity& identity);

inline constexpr std::size_t largest_image = std::size_t{64} << 20;

class Image {
  public:
    // Backs the image by `fd`'s own pages: what is stored is saved, whatever kills the process. The space is taken
    // before it is mapped, since a sparse file on a full disk would end the job by SIGBUS. False: use open_private().
    bool open_mapped(int fd, const format::Place& place = {});
    // Private memory, to be written with write_to() or write_changes(). False: no memory, nothing can be recorded.
    bool open_private();

    // It never grows beyond so many bytes; 0: no bound. What finds no room is counted as dropped.
    void bound(std::uint64_t bytes) {
        if (bytes != 0) most_ = bytes;
    }

    bool is_open() const { return base_ != nullptr; }
    bool is_mapped() const { return mapped_ != 0; }
    // Whether something lies in memory alone: all of it in private memory, and of a mapping what grew on a full disk.
    bool has_unsaved() const { return bytes() > mapped_; }

    format::Header& header() const { return as<format::Header>(0); }
    char* at(std::uint64_t offset) const { return base_ + offset; }
    template <class Record>
    Record& as(std::uint64_t offset) const {
        return *reinterpret_cast<Record*>(base_ + offset);
    }
    // Records refer to each other by words of 8 bytes; what is remembered of one of 64 bytes or more, by its line.
    template <class Record>
    Record& at_word(std::uint32_t word) const {
        return as<Record>(std::uint64_t{word} * 8);
    }
    template <class Record>
    Record& at_line(std::uint32_t line) const {
        return as<Record>(std::uint64_t{line} * 64);
    }
    std::uint32_t word_of(const void* p) const { return static_cast<std::uint32_t>(offset_of(p) / 8); }
    std::uint32_t line_of(const void* p) const { return static_cast<std::uint32_t>(offset_of(p) / 64); }
    std::uint64_t offset_of(const void* p) const {
        return static_cast<std::uint64_t>(static_cast<const char*>(p) - base_);
    }

    // Space for records, zeroed, 64-byte aligned; null when the disk or the reserved range is full.
    void* take(std::size_t bytes);
    // Publishes an empty table with room for `capacity` records; null when full.
    format::Table* add_table(format::TableType type, std::uint32_t record_size, std::uint32_t capacity,
                             std::uint32_t thread);
    // The same for a table that is large: null as well where it would leave little room for all else. The rest of the
    // disk is shared with other ranks, that may ask at the same moment.
    format::Table* add_large_table(format::TableType type, std::uint32_t record_size, std::uint32_t capacity,
                                   std::uint32_t thread);
    // The next free record of the newest such table, growing by a further table of `capacity`; not yet published.
    // The caller fills it and calls publish(). Tables of one (type, thread) have one writer or the caller's lock.
    void* next_record(format::Table*& table, format::TableType type, std::uint32_t record_size, std::uint32_t capacity,
                      std::uint32_t thread);
    static void publish(format::Table* table, std::uint32_t records = 1) {
        __atomic_store_n(&table->used, table->used + records, __ATOMIC_RELEASE);
    }

    // Copies text into the string table and returns its offset. `length` becomes what was stored: strings are cut to 4
    // KiB, and 0 (with offset 0) if there is no room. The drop counter says so.
    std::uint64_t add_string(const char* text, std::size_t& length);

    // Writes the whole image to its place in `fd`. Returns 0 or errno.
    int write_to(int fd, const format::Place& place = {}) const;
    // Writes the pages of what is in memory alone that differ from the last time. A file that is cut off at any moment
    // is a valid profile: the directory, as it was before the pages behind it were copied, is written after them.
    // Returns 0 or errno. For one thread; touches nothing that belongs to a thread.
    struct Written;
    int write_changes(int fd, Written& written) const;
    std::uint64_t bytes() const { return base_ ? relaxed(header().image_bytes) : 0; }

  private:
    bool reserve();
    bool grow();
    bool grow_mapped(void* where);
    bool format_header();
    void close();
    void* take_locked(std::size_t bytes);
    format::Table* add_table_locked(format::TableType type, std::uint32_t record_size, std::uint32_t capacity,
                                    std::uint32_t thread);
    bool reserve_on_disk(std::size_t end);
    void give_back_on_disk(std::size_t end);
    bool change_blocks(int mode, std::size_t end);
    void copy_directory(Written& written) const;
    int write_page(int fd, const char* page, std::size_t at, std::size_t bytes, Written& written) const;
    int write_part(int fd, const char* from, std::size_t at, std::size_t bytes, const Written& written) const;

    char* base_ = nullptr;
    std::size_t reserved_ = 0;
    std::size_t committed_ = 0;
    AtFirst<std::size_t, ~std::size_t{0}> most_;
    std::size_t used_ = 0;
    std::size_t mapped_ = 0;  // so much of it lies in the file's own pages
    AtFirst<int, -1> fd_;     // of the mapping, while it can grow
    FileIdentity file_{};
    format::Place place_{0, 0};  // in it
    bool full_ = false;
    format::Directory* directory_ = nullptr;
    format::Table* strings_ = nullptr;
    Lock lock_;
};

// What of an image is in its file: for each page what it looked like when it was last written. It begins as zeros, and
// large: in pages of its own only what is used is in memory.
struct Image::Written {
    static constexpr std::size_t page_bytes = 4096;
    static constexpr std::size_t head_bytes = 2 * page_bytes;  // header and first directory
    // What every image has comes first, so that it touches few pages.
    unsigned block_count;
    // Set by another thread that has waited long enough and writes the file by itself now: nothing more is to be
    // written, and what a slow disk still had in hand must not stay there, where it is older.
    std::uint32_t given_up;
    FileIdentity file;
    format::Place place;  // in it
    alignas(64) char head[head_bytes];
    std::uint64_t pages[largest_image / page_bytes];
    // The further directory blocks, with the two pages at most that each lies in. More of them than that are written
    // like any other page.
    static constexpr unsigned most_blocks = 31;
    struct Block {
        std::uint64_t begin, end;  // offsets of the pages
        char pages[2 * page_bytes];
    } blocks[most_blocks];
    void give_up() { __atomic_store_n(&given_up, 1, __ATOMIC_SEQ_CST); }
    bool is_given_up() const { return __atomic_load_n(&given_up, __ATOMIC_SEQ_CST) != 0; }
    bool holds(std::uint64_t page) const {
        for (unsigned i = 0; i < block_count; ++i)
            if (page >= blocks[i].begin && page < blocks[i].end) return true;
        return false;
    }
};

}  // namespace mpiprof
