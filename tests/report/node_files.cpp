#include "tests/report/node_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "libmpiprof/format/node_file.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;
namespace node = format::node_file;

void write_at(const fs::path& path, std::uint64_t offset, const void* bytes, std::size_t count) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_GE(fd, 0) << path;
    EXPECT_EQ(pwrite(fd, bytes, count, static_cast<off_t>(offset)), static_cast<ssize_t>(count)) << path;
    close(fd);
}

bool is_profile(const Bytes& bytes) {
    return bytes.size() >= sizeof(format::Header) && std::memcmp(bytes.data(), "mpiprof profile", 15) == 0;
}

format::Header header_of(const Bytes& bytes) {
    format::Header header{};
    std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
    return header;
}

}  // namespace

Bytes bytes_of(const fs::path& path) {
    const std::string text = read_file(path);
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
}

void begin_node_file(const fs::path& path) {
    node::Header header{};
    std::memcpy(header.first_line, node::first_line, sizeof node::first_line);
    header.byte_order = format::byte_order_mark;
    header.format_major = node::format_major;
    header.format_minor = node::format_minor;
    header.header_size = sizeof header;
    header.key = 0x1234'5678'9abc'def0;
    write_at(path, 0, &header, sizeof header);
}

void put_into_range(const fs::path& path, std::uint32_t range, const Bytes& profile) {
    const format::Header header = header_of(profile);
    const node::Claim claim{.process_start_ns = header.process_start_ns,
                            .launch = 0x1234'5678'9abc'def0,
                            .pid = header.pid,
                            .rank = header.rank,
                            .flags = 0,
                            .reserved = {}};
    write_at(path, node::claim_offset(range), &claim, sizeof claim);
    const format::Place place = node::place_of(range);
    for (std::size_t at = 0; at < profile.size(); at += format::segment_bytes)
        write_at(path, place.of(at), profile.data() + at,
                 std::min<std::size_t>(format::segment_bytes, profile.size() - at));
}

void as_node_files(const fs::path& from, const fs::path& to) {
    fs::create_directories(to);
    std::map<std::string, std::vector<Bytes>> nodes;
    for (const auto& entry : fs::directory_iterator(from)) {
        const Bytes bytes = bytes_of(entry.path());
        if (is_profile(bytes))
            nodes[header_of(bytes).node].push_back(bytes);
        else
            fs::copy(entry.path(), to / entry.path().filename());
    }
    int number = 0;
    for (auto& [name, profiles] : nodes) {
        const fs::path path = to / fmt::format("mpi_profile.{}.node{:012x}", header_of(profiles[0]).job, ++number);
        begin_node_file(path);
        std::sort(profiles.begin(), profiles.end(),
                  [](const Bytes& a, const Bytes& b) { return header_of(a).rank < header_of(b).rank; });
        for (std::uint32_t i = 0; i < profiles.size(); ++i) put_into_range(path, i, profiles[i]);
    }
}

}  // namespace mpiprof::test
