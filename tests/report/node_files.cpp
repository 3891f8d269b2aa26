#include "tests/report/node_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/report/node_file_writer.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;

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
    NodeFileWriter file(path);
    file.begin();
    EXPECT_TRUE(file.is_sound()) << path;
}

void put_into_range(const fs::path& path, std::uint32_t range, const Bytes& profile) {
    NodeFileWriter file(path);
    file.put(range, profile);
    EXPECT_TRUE(file.is_sound()) << path;
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
