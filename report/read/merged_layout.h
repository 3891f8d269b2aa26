// What a merged file is: the profiles of one launch in one file, as docs/file-format.md draws it. Plain structs at
// fixed offsets, little-endian; those who write and read it include this, nobody else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace mpiprof::report::merged {

inline constexpr std::string_view magic = "mpiprof launch, format ";
inline constexpr std::uint64_t byte_order_mark = 0x0102030405060708;
inline constexpr std::uint16_t format_major = 1;
inline constexpr std::uint16_t format_minor = 0;

// Into the texts at the end of the index.
struct Text {
    std::uint32_t offset;
    std::uint32_t length;
};

struct Header {
    char first_line[96];
    std::uint64_t byte_order;
    std::uint16_t format_major;
    std::uint16_t format_minor;
    std::uint32_t header_size;
    std::uint64_t file_bytes;  // a shorter file is cut off
    std::uint64_t index_offset;
    std::uint64_t index_bytes;  // in the file; inflated it is blocks, files, lines, texts, one after the other
    std::uint64_t merged_at_ns;
    std::uint64_t started_at_ns;  // of the launch
    std::uint32_t blocks;
    std::uint32_t files;
    std::uint32_t lines;
    std::uint32_t texts_bytes;
    std::uint32_t world_size;
    std::uint32_t flags;  // Flags
    Text launch;
    Text job;
    Text command;
    std::uint32_t reserved;
    std::uint32_t checksum;  // CRC-32 of all before it
};
static_assert(sizeof(Header) == 208 && offsetof(Header, checksum) == 204);

enum Flags : std::uint32_t {
    texts_alone = 1,  // mpitrace's; no profile among them
    world_was_spawned = 2,
    ranks_were_chosen = 4,  // by name: the missing ones are no fault
};

// A zlib stream of the bytes of some files, one after the other.
struct Block {
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t size;  // inflated
};

struct File {
    std::uint32_t rank;
    std::uint32_t flags;  // FileFlags
    std::uint32_t block;
    std::uint32_t life;    // report::Life of its process when it was merged
    std::uint64_t offset;  // in the inflated block
    std::uint64_t bytes;
    std::uint64_t modified_at_ns;
    std::uint64_t born_at_ns;
    Text path;  // where it was
};
enum FileFlags : std::uint32_t {
    is_text = 1,        // mpitrace's
    is_difference = 2,  // its bytes are xor those of the file before it in the block, as far as both go
};

// What had to be said of files, and what the scheduler calls the job.
struct Line {
    std::uint32_t kind;  // LineKind
    std::uint32_t reserved;
    Text text;
};
enum LineKind : std::uint32_t { of_file = 0, of_launch = 1, job_ids = 2 };

// Makes the difference of two files, or a file of the difference: as far as both go.
inline void xor_with(std::span<std::byte> bytes, std::span<const std::byte> other) {
    const std::size_t common = std::min(bytes.size(), other.size());
    std::size_t i = 0;
    for (std::uint64_t a, b; i + sizeof a <= common; i += sizeof a) {  // a GiB of zeros is merged in less than a second
        std::memcpy(&a, bytes.data() + i, sizeof a);
        std::memcpy(&b, other.data() + i, sizeof b);
        a ^= b;
        std::memcpy(bytes.data() + i, &a, sizeof a);
    }
    for (; i < common; ++i) bytes[i] ^= other[i];
}

static_assert(sizeof(Block) == 24 && sizeof(File) == 56 && sizeof(Line) == 16);

}  // namespace mpiprof::report::merged
