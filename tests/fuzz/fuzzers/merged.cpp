// Any bytes as a merged file, as a page that carries one, or as a node's file, all the way to a report. Checksums would
// keep nearly every change from being read, so the second kind of input is what lies behind them: numbers of records,
// then index and block as they are before zlib.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "libmpiprof/format/node_file.h"
#include "report/analysis/analysed.h"
#include "report/merge/merge.h"
#include "report/model/base64.h"
#include "report/model/given_names.h"
#include "report/read/deflate.h"
#include "report/read/job_dir.h"
#include "report/read/page_data.h"
#include "report/sections/section.h"
#include "report/views/view.h"
#include "tests/fuzz/fuzzers/pipeline.h"

namespace {

using namespace mpiprof::report;
using Bytes = std::vector<std::byte>;

struct Counts {
    std::uint8_t files, lines;
    std::uint16_t texts;
};

// A file whose checksums are right. Offsets within the index are the input's.
Bytes framed(ByteSpan input) {
    Counts counts{};
    if (input.size() < sizeof counts) return {};
    std::memcpy(&counts, input.data(), sizeof counts);
    input = input.subspan(sizeof counts);
    const std::size_t index_size =
        counts.files * sizeof(merged::File) + counts.lines * sizeof(merged::Line) + counts.texts;
    Bytes index(sizeof(merged::Block));
    const ByteSpan given = input.first(std::min(index_size, input.size()));
    index.insert(index.end(), given.begin(), given.end());
    index.resize(sizeof(merged::Block) + index_size);
    const ByteSpan block = input.subspan(given.size());
    const Bytes stream = deflated(block);

    merged::Header header{};
    std::string(merged::magic).copy(header.first_line, sizeof header.first_line);
    header.byte_order = merged::byte_order_mark;
    header.format_major = merged::format_major;
    header.header_size = sizeof header;
    const merged::Block place{sizeof header, stream.size(), block.size()};
    std::memcpy(index.data(), &place, sizeof place);
    const Bytes index_stream = deflated(index);
    header.index_offset = sizeof header + stream.size();
    header.index_bytes = index_stream.size();
    header.file_bytes = header.index_offset + index_stream.size();
    header.blocks = 1;
    header.files = counts.files;
    header.lines = counts.lines;
    header.texts_bytes = counts.texts;
    header.world_size = 2;
    header.launch = {0, counts.texts};
    const auto bytes = std::as_bytes(std::span(&header, 1));
    header.checksum = checksum(bytes.first(offsetof(merged::Header, checksum)));
    Bytes file(bytes.begin(), bytes.end());
    file.insert(file.end(), stream.begin(), stream.end());
    file.insert(file.end(), index_stream.begin(), index_stream.end());
    return file;
}

// A node's file with two ranges: 128 bytes of claims, then half of what is left for each image. Its header is whole, or
// as many bytes of the input come before.
Bytes node_of(ByteSpan input, bool has_own_head) {
    namespace node = mpiprof::format::node_file;
    Bytes file(node::place_of(1).of(0));
    const auto put = [&](ByteSpan bytes, std::uint64_t at) {
        file.resize(std::max<std::size_t>(file.size(), at + bytes.size()));
        std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(at));
    };
    const ByteSpan head = input.first(has_own_head ? std::min(sizeof(node::Header), input.size()) : 0);
    put(has_own_head ? head : std::as_bytes(std::span(node::first_line)), 0);
    input = input.subspan(head.size());
    const ByteSpan claims = input.first(std::min<std::size_t>(128, input.size()));
    put(claims, node::claims_offset);
    input = input.subspan(claims.size());
    constexpr std::size_t most = mpiprof::format::segment_bytes;
    const ByteSpan first = input.first(std::min(input.size() / 2, most));
    put(first, node::place_of(0).begin);
    put(input.subspan(first.size()).first(std::min(input.size() - first.size(), most)), node::place_of(1).begin);
    return file;
}

void report_on(const std::string& path) {
    Progress progress;
    const Found found = find_profiles({path}, 1, progress);
    for (const std::string& line : found.problems)
        if (line.empty()) mpiprof::fuzz::broken("a problem without words", path);
    for (const Launch& launch : found.launches) {
        auto job = merge(launch, 1, progress);
        if (!job) continue;
        for (auto* modules : {&job->modules, &job->sites.modules})  // looking into programs is symbols.cpp's matter
            for (Module& module : *modules) module.path.clear();
        for (const char* name : {"summary", "ranks"}) {
            const Section& section = *find_section(name);
            const auto tables = section.answer(*job, {});
            if (tables)
                mpiprof::fuzz::expect_safe_on_a_terminal(
                    find_view("text")->show({section.name, *tables}, {.width = 80, .has_utf8 = true}));
        }
        RankReader reader(launch);
        for (const Rank& rank : job->ranks) (void)reader.profile(rank.rank);
    }
}

// What a page carries, where base64 and zlib would keep nearly every change from being read.
void look_for_data(ByteSpan input) {
    if (const auto names = GivenNames::unpacked(as_text(input)); names && names->packed().size() > 2 * input.size() + 8)
        mpiprof::fuzz::broken("names grow", "");
    if (const auto bytes = bytes_of_base64(as_text(input)); bytes && bytes_of_base64(base64_of(*bytes)) != bytes)
        mpiprof::fuzz::broken("bytes do not come back", "");
    (void)data_in_page(input, "page.html");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const ByteSpan input(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    if (data[0] == 'P') look_for_data(input);
    const bool is_node = data[0] == 'N' || data[0] == 'H';
    const Bytes file = is_node       ? node_of(input, data[0] == 'H')
                       : data[0] % 2 ? framed(input)
                                     : Bytes(input.begin(), input.end());
    static const int memory = memfd_create("merged", MFD_CLOEXEC);
    if (ftruncate(memory, 0) != 0 || pwrite(memory, file.data(), file.size(), 0) != static_cast<ssize_t>(file.size()))
        return 0;
    report_on("/proc/self/fd/" + std::to_string(memory));
    return 0;
}
