// Writes a node's file (libmpiprof/format/node_file.h) from profiles, one range each. For tests of the reporter and for
// bench/many_ranks; the recorder does it under locks, this does not. Pages of zeros are left as holes, so that a file
// of large ranges takes as much of the disk as a recorder's.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "libmpiprof/format/node_file.h"

namespace mpiprof::test {

class NodeFileWriter {
  public:
    static constexpr std::uint64_t key = 0x1234'5678'9abc'def0;

    // An existing file keeps its other ranges.
    explicit NodeFileWriter(const std::string& path)
        : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), is_sound_(fd_ >= 0) {}
    ~NodeFileWriter() { close(fd_); }
    NodeFileWriter(const NodeFileWriter&) = delete;
    NodeFileWriter& operator=(const NodeFileWriter&) = delete;

    // Whether all of it could be written.
    bool is_sound() const { return is_sound_; }

    void begin() {
        format::node_file::Header header{};
        std::memcpy(header.first_line, format::node_file::first_line, sizeof format::node_file::first_line);
        header.byte_order = format::byte_order_mark;
        header.format_major = format::node_file::format_major;
        header.format_minor = format::node_file::format_minor;
        header.header_size = sizeof header;
        header.key = key;
        write_at(0, std::as_bytes(std::span(&header, 1)));
    }
    // `profile` begins with a header.
    void put(std::uint32_t range, std::span<const std::byte> profile) {
        format::Header header{};
        std::memcpy(static_cast<void*>(&header), profile.data(), sizeof header);
        const format::node_file::Claim claim{.process_start_ns = header.process_start_ns,
                                             .launch = key,
                                             .pid = header.pid,
                                             .rank = header.rank,
                                             .flags = 0,
                                             .reserved = {}};
        write_at(format::node_file::claim_offset(range), std::as_bytes(std::span(&claim, 1)));
        const format::Place place = format::node_file::place_of(range);
        for (std::size_t at = 0; at < profile.size(); at += page_bytes) {
            const auto page = profile.subspan(at, std::min(page_bytes, profile.size() - at));
            const bool is_hole = at + page_bytes < profile.size() &&
                                 std::ranges::all_of(page, [](std::byte b) { return b == std::byte{0}; });
            if (!is_hole) write_at(place.of(at), page);
        }
    }

  private:
    static constexpr std::size_t page_bytes = 4096;

    void write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
        const ssize_t written = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        is_sound_ &= written == static_cast<ssize_t>(bytes.size());
    }

    int fd_;
    bool is_sound_;
};

}  // namespace mpiprof::test
