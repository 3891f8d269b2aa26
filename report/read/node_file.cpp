// What is not a rank's is not needed: where ranges lie follows from the format, and each says itself whether a profile
// is there. So damage to the head of the file, or to the claims, loses no rank.
#include "report/read/node_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "libmpiprof/format/node_file.h"
#include "report/read/profile_reader.h"

namespace mpiprof::report {
namespace {

namespace node = format::node_file;

// No constants: gcc cannot work them out while it looks for undefined behaviour.
const std::string_view line = node::first_line;
const std::size_t end_of_format = line.find('.') + 1;
const std::string_view magic = line.substr(0, line.find('2'));
constexpr std::uint64_t page_bytes = 4096;

bool is_zero(ByteSpan bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Whether the profile of some rank should be there, as far as these bytes can be its claim.
bool is_claim(const node::Claim& claim) {
    return claim.pid != 0 && (claim.flags & node::is_elsewhere) == 0 &&
           is_zero(std::as_bytes(std::span(claim.reserved)));
}

// As far as there are so many bytes.
bool begins_as_profile(ByteSpan bytes) {
    const std::string_view text = as_text(bytes);
    return text.substr(0, magic.size()) == magic.substr(0, text.size());
}

// A rank whose disk was full was killed: the end of its image was never written. Its own file would end there; in this
// one other ranks may have written further behind, and it reads as zeros.
std::uint64_t bytes_kept(ByteSpan image) {
    if (image.size() < sizeof(format::Header)) return image.size();
    const auto header = load_prefix<format::Header>(image.data(), sizeof(format::Header));
    std::uint64_t kept = image.size();
    if (header.state != format::State::running || header.mapped_bytes == 0 || header.mapped_bytes >= kept) return kept;
    while (kept > header.mapped_bytes) {
        const std::uint64_t page = std::max((kept - 1) / page_bytes * page_bytes, header.mapped_bytes);
        if (!is_zero(image.subspan(page, kept - page))) break;
        kept = page;
    }
    return kept;
}

}  // namespace

std::string name_of_range(std::string_view path, std::uint32_t range) {
    return fmt::format("{}, range {}", path, range);
}

bool looks_like_node(ByteSpan beginning) {
    const std::string_view text = as_text(beginning);
    if (!text.starts_with(magic)) return false;
    if (text.starts_with(line.substr(0, end_of_format))) return true;
    std::uint16_t major = 0;
    constexpr std::size_t at = offsetof(node::Header, format_major);
    if (beginning.size() < at + sizeof major) return false;
    std::memcpy(&major, beginning.data() + at, sizeof major);
    return major == node::format_major;
}

bool is_what_it_says(ByteSpan beginning) {
    std::uint64_t mark = 0;
    constexpr std::size_t at = offsetof(node::Header, byte_order);
    if (beginning.size() < at + sizeof mark || !begins_as_profile(beginning)) return false;
    std::memcpy(&mark, beginning.data() + at, sizeof mark);
    return mark == format::byte_order_mark || mark == __builtin_bswap64(format::byte_order_mark);
}

Result<NodeFile> NodeFile::open(const std::string& path) {
    return OpenFile::open(path).map([&](OpenFile&& file) { return NodeFile(std::move(file), path); });
}

// As far as all of its segments lie within the file.
std::uint64_t NodeFile::bytes_there(std::uint32_t range) const {
    const format::Place place = node::place_of(range);
    if (file_.size() <= place.begin) return 0;
    const std::uint64_t behind = file_.size() - place.begin, whole = behind / place.step;
    const std::uint64_t there =
        whole * format::segment_bytes + std::min<std::uint64_t>(behind % place.step, format::segment_bytes);
    return std::min(there, FileReader::largest_file);
}

Result<FileBytes> NodeFile::read(std::uint32_t range, std::uint64_t limit, std::vector<std::byte>& buffer) const {
    const format::Place place = node::place_of(range);
    const std::uint64_t there = bytes_there(range), wanted = std::min(there, limit);
    if (buffer.size() < wanted) buffer = std::vector<std::byte>(wanted);
    std::uint64_t done = 0;
    while (done < wanted) {
        const std::uint64_t piece = std::min<std::uint64_t>(format::segment_bytes, wanted - done);
        const std::int64_t n = file_.read_at(place.of(done), std::span(buffer).subspan(done, piece));
        if (n < 0) return cannot_read(name_of_range(path_, range), static_cast<int>(-n));
        done += static_cast<std::uint64_t>(n);
        if (static_cast<std::uint64_t>(n) < piece) return FileBytes{ByteSpan(buffer).first(done), done};
    }
    const ByteSpan bytes = ByteSpan(buffer).first(done);
    const std::uint64_t used = image_bytes_of(bytes);
    if (used == 0 || used > done) return FileBytes{bytes, there};
    const std::uint64_t kept = bytes_kept(bytes.first(used));
    return kept == used ? FileBytes{bytes, there} : FileBytes{bytes.first(kept), kept};
}

// Whose the profile was, the claim says, if it can be one.
tl::unexpected<Problem> NodeFile::damaged(std::uint32_t range, const std::uint32_t* rank) const {
    return problem(name_of_range(path_, range),
                   fmt::format("is damaged: no profile begins at byte {} of the file", node::place_of(range).begin),
                   fmt::format("{} is left out; copy it again", rank ? fmt::format("rank {}", *rank) : "its rank"));
}

bool NodeFile::has_only_zeros(std::uint32_t range, std::vector<std::byte>& buffer) const {
    const auto segment = read(range, format::segment_bytes, buffer);
    return segment && is_zero(segment->bytes);
}

void NodeFile::each_head(const std::function<void(std::uint32_t range, const Result<FileBytes>& head)>& use) const {
    std::vector<std::byte> buffer(format::segment_bytes);
    std::vector<node::Claim> claims(node::ranges);
    (void)file_.read_at(node::claims_offset, std::as_writable_bytes(std::span(claims)));
    for (std::uint32_t range = 0; range < node::ranges; ++range) {
        const std::uint32_t* rank = is_claim(claims[range]) ? &claims[range].rank : nullptr;
        const auto head = read(range, head_bytes, buffer);
        const bool is_nobodys = head && is_zero(head->bytes);
        if (is_nobodys && !rank) continue;
        // A rank that was killed before it recorded has left nothing behind its head, either.
        if (is_nobodys ? has_only_zeros(range, buffer) : !head || begins_as_profile(head->bytes))
            use(range, head);
        else
            use(range, damaged(range, rank));
    }
}

}  // namespace mpiprof::report
