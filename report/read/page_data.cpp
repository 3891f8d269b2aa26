// The size of the names stands before their stream.
#include "report/read/page_data.h"

#include <cstring>

#include "report/model/base64.h"
#include "report/model/page_marks.h"
#include "report/read/deflate.h"

namespace mpiprof::report {
namespace {

constexpr std::uint64_t most_names = std::uint64_t{64} << 20;

tl::unexpected<Problem> damaged(const std::string& path, std::string_view what) {
    return problem(path, fmt::format("is damaged: {}", what), "copy it again, or make the page once more");
}

std::optional<std::string_view> between(std::string_view text, std::string_view begin, std::string_view end) {
    const auto from = text.find(begin);
    if (from == std::string_view::npos) return {};
    text.remove_prefix(from + begin.size());
    const auto to = text.find(end);
    return to == std::string_view::npos ? std::nullopt : std::optional(text.substr(0, to));
}

std::optional<GivenNames> names_in(std::string_view text) {
    const auto bytes = bytes_of_base64(text);
    std::uint64_t size = 0;
    if (!bytes || bytes->size() < sizeof size) return {};
    std::memcpy(&size, bytes->data(), sizeof size);
    const ByteSpan stream = ByteSpan(*bytes).subspan(sizeof size);
    if (size > most_names || size > most_inflated(stream.size())) return {};
    std::vector<std::byte> names(size);
    if (!inflate_into(names, stream)) return {};
    return GivenNames::unpacked(as_text(names));
}

}  // namespace

bool looks_like_page(ByteSpan beginning) {
    const std::string_view text = as_text(beginning.first(std::min(beginning.size(), page_head_bytes)));
    return text.starts_with(page_beginning) && text.find(page_maker) != std::string_view::npos;
}

Result<PageData> data_in_page(ByteSpan page, const std::string& path) {
    const std::string_view text = as_text(page);
    const auto launch = between(text, launch_begins, data_end);
    const auto names = between(text, names_begin, data_end);
    if (!launch)
        return problem(path, "is a page without data", "make it with --data full, or name the job's directory");
    auto bytes = bytes_of_base64(*launch);
    if (!bytes || bytes->empty()) return damaged(path, "its data");
    auto known = names ? names_in(*names) : std::nullopt;
    if (!known) return damaged(path, "its names of functions");
    return PageData{std::move(*bytes), std::make_shared<const GivenNames>(std::move(*known))};
}

std::string launch_text(ByteSpan merged_file) { return base64_of(merged_file); }

std::string names_text(const GivenNames& names) {
    const std::string packed = names.packed();
    const std::uint64_t size = packed.size();
    std::vector<std::byte> bytes(sizeof size);
    std::memcpy(bytes.data(), &size, sizeof size);
    const auto stream = deflated(std::as_bytes(std::span(packed)));
    bytes.insert(bytes.end(), stream.begin(), stream.end());
    return base64_of(bytes);
}

}  // namespace mpiprof::report
