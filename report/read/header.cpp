// Telling a whole profile from everything else that can bear its name, in words that say what to do.
#include "report/read/header.h"

#include <algorithm>
#include <string_view>

namespace mpiprof::report {
namespace {

using namespace format;

// The oldest header that has ever been written; whatever is shorter is not one.
constexpr std::size_t least_header = offsetof(Header, loaded);
constexpr std::size_t most_header = 1u << 20;
constexpr std::string_view magic = "mpiprof profile, format ";

bool all_zero(ByteSpan bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

tl::unexpected<Problem> cut_off(std::string_view path, std::uint64_t have, std::uint64_t need) {
    return problem(path, fmt::format("is truncated: {} of {} bytes", have, need),
                   "copy it again, or check for a full disk or quota");
}

tl::unexpected<Problem> not_a_profile(std::string_view path, ByteSpan bytes) {
    if (bytes.empty()) return problem(path, "is empty", "its rank ended before recording began, or the disk was full");
    if (all_zero(bytes)) return problem(path, "contains only zeros", "its rank ended before recording began");
    return problem(path, "is not a profile", "profiles begin with \"mpiprof profile\" or \"Data for MPI rank\"");
}

}  // namespace

Result<Header> read_header(ByteSpan bytes, std::uint64_t file_size, std::string_view path) {
    const std::string_view begin = as_text(bytes.first(std::min(bytes.size(), magic.size())));
    if (begin.empty() || begin != magic.substr(0, begin.size())) return not_a_profile(path, bytes);
    if (bytes.size() < least_header) return cut_off(path, file_size, least_header);

    const std::size_t there = std::min(bytes.size(), sizeof(Header));
    auto header = load_prefix<Header>(bytes.data(), there);
    if (header.byte_order == __builtin_bswap64(byte_order_mark))
        return problem(path, "was written on a big-endian machine", "this mpiprof-report reads little-endian profiles");
    if (header.byte_order != byte_order_mark) return problem(path, "is damaged: its byte-order mark is wrong");
    if (header.format_major != format_major)
        return problem(
            path, fmt::format("has format {}, this mpiprof-report reads format {}", header.format_major, format_major),
            "use the mpiprof-report that came with the library that wrote it");
    if (header.header_size < least_header || header.header_size > most_header)
        return problem(path, fmt::format("is damaged: a header of {} bytes", header.header_size));

    const std::uint64_t known = std::min<std::uint64_t>(header.header_size, sizeof(Header));
    if (there < known) return cut_off(path, file_size, header.header_size);
    if (there > known) header = load_prefix<Header>(bytes.data(), known);  // an older library's
    if (file_size < header.image_bytes && !ends_on_a_full_disk(header, file_size))
        return cut_off(path, file_size, header.image_bytes);
    if (header.size == 0 || header.rank >= header.size)
        return problem(path, fmt::format("says it is rank {} of {} ranks", header.rank, header.size), "it is left out");
    return header;
}

bool ends_on_a_full_disk(const Header& header, std::uint64_t file_size) {
    return file_size < header.image_bytes && header.mapped_bytes != 0 && file_size >= header.mapped_bytes &&
           header.mapped_bytes < header.image_bytes;
}

std::uint64_t started_at(const Header& header) {
    return header.started.realtime_ns ? header.started.realtime_ns : header.loaded.realtime_ns;
}

std::uint64_t updated_at(const Header& header) {
    if (header.ended.realtime_ns) return header.ended.realtime_ns;
    return std::max(header.updated.realtime_ns, started_at(header));
}

}  // namespace mpiprof::report
