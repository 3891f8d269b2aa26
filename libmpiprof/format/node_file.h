// What a node's file is: the profiles of a node's ranks in one file (MPIPROF_FILES=node), drawn in docs/file-format.md.
// A range of it is the file of one rank in pieces, so that nothing in a profile knows where it lies. The recorder
// writes it, the reporter's read/ reads it. This header includes layout.h alone.
#pragma once

#include "libmpiprof/format/layout.h"

namespace mpiprof::format {

// Where the bytes of an image lie in its file: in pieces of a segment, `step` apart.
struct Place {
    std::uint64_t begin = 0;
    std::uint64_t step = segment_bytes;  // a file of its own has them one after the other
    constexpr std::uint64_t of(std::uint64_t offset) const {
        return begin + offset / segment_bytes * step + offset % segment_bytes;
    }
    // How long the file is where an image of so many bytes ends.
    constexpr std::uint64_t end_of(std::uint64_t bytes) const { return bytes == 0 ? begin : of(bytes - 1) + 1; }
};

namespace node_file {

// It begins as a profile does, with another format: a mpiprof-report from before there were such files says that it
// reads format 1, and what to use instead.
inline constexpr char first_line[] = "mpiprof profile, format 2. Read it with: mpiprof-report <this file>\n";
inline constexpr std::uint16_t format_major = 2;
inline constexpr std::uint16_t format_minor = 0;

// All ranks of a node make the same one of what they know, so any of them may write it, and two at once.
struct Header {
    char first_line[96];
    std::uint64_t byte_order;
    std::uint16_t format_major;
    std::uint16_t format_minor;
    std::uint32_t header_size;
    std::uint64_t key;  // a hash of the launch and of the node, of which the file's name has the last 48 bits
};
static_assert(offsetof(Header, byte_order) == 96 && offsetof(Header, format_major) == 104 && sizeof(Header) == 120);

// Whose a range is; all zeros where it is nobody's. Written under a lock of the file's bytes that it lies in, and never
// taken over: what a rank that was killed has left stays there.
struct Claim {
    std::uint64_t process_start_ns;
    std::uint64_t launch;  // the header's key, as this rank knows it
    std::uint32_t pid;
    std::uint32_t rank;   // when it was claimed
    std::uint32_t flags;  // ClaimFlags
    char reserved[36];
};
static_assert(sizeof(Claim) == 64);
enum ClaimFlags : std::uint32_t { is_elsewhere = 1 };  // the rank wrote its profile elsewhere in the end

inline constexpr std::uint32_t ranges = 256;  // a rank whose number on its node is larger has a file of its own
inline constexpr std::uint64_t claims_offset = 4096;
inline constexpr std::uint64_t images_offset = segment_bytes;
static_assert(claims_offset + ranges * sizeof(Claim) <= images_offset);

constexpr std::uint64_t claim_offset(std::uint32_t range) { return claims_offset + range * sizeof(Claim); }

// The first segments of all images, then the second ones ...: the file is as long as the largest image needs, and what
// the ranks of a node write lies together.
constexpr Place place_of(std::uint32_t range) {
    return {images_offset + std::uint64_t{range} * segment_bytes, std::uint64_t{ranges} * segment_bytes};
}

}  // namespace node_file

}  // namespace mpiprof::format
