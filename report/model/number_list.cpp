// Ranges read, joined and counted.
#include "report/model/number_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace mpiprof::report {
namespace {

// A number at the beginning of `text`, which is then shorter.
std::optional<std::uint32_t> take_number(std::string_view& text) {
    std::uint32_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return number;
}

bool take(std::string_view& text, char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

NumberList NumberList::parse(std::string_view text) {
    NumberList list;
    if (const auto end = text.find_last_not_of(" \t\n"); end != std::string_view::npos) text = text.substr(0, end + 1);
    do {
        const auto first = take_number(text);
        const auto last = first && take(text, '-') ? take_number(text) : first;
        if (!last || *last < *first) return {};
        list.ranges_.push_back({*first, *last});
    } while (take(text, ','));
    if (!text.empty()) return {};
    list.settle();
    return list;
}

NumberList NumberList::of(Range range) {
    NumberList list;
    list.ranges_.push_back(range);
    return list;
}

NumberList NumberList::of(std::vector<Range> ranges) {
    NumberList list;
    list.ranges_ = std::move(ranges);
    list.settle();
    return list;
}

NumberList NumberList::within(Range bounds) const {
    NumberList list;
    for (const Range& range : ranges_)
        if (range.first <= bounds.last && range.last >= bounds.first)
            list.ranges_.push_back({std::max(range.first, bounds.first), std::min(range.last, bounds.last)});
    return list;
}

void NumberList::settle() {
    std::sort(ranges_.begin(), ranges_.end());
    std::size_t kept = 0;
    for (const Range& range : ranges_) {
        if (kept != 0 && range.first <= std::uint64_t{ranges_[kept - 1].last} + 1)
            ranges_[kept - 1].last = std::max(ranges_[kept - 1].last, range.last);
        else
            ranges_[kept++] = range;
    }
    ranges_.resize(kept);
}

std::uint64_t NumberList::count() const {
    std::uint64_t count = 0;
    for (const Range& range : ranges_) count += range.size();
    return count;
}

std::uint64_t NumberList::overlap(const NumberList& other) const {
    std::uint64_t count = 0;
    for (std::size_t i = 0, k = 0; i < ranges_.size() && k < other.ranges_.size();) {
        const Range& a = ranges_[i];
        const Range& b = other.ranges_[k];
        const std::uint32_t first = std::max(a.first, b.first);
        const std::uint32_t last = std::min(a.last, b.last);
        if (first <= last) count += std::uint64_t{last} - first + 1;
        if (a.last < b.last)
            ++i;
        else
            ++k;
    }
    return count;
}

void NumberList::add(const NumberList& other) {
    ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
    settle();
}

std::string NumberList::text() const {
    std::string text;
    for (const Range& range : ranges_) {
        if (!text.empty()) text += ',';
        text +=
            range.first == range.last ? fmt::format("{}", range.first) : fmt::format("{}-{}", range.first, range.last);
    }
    return text;
}

}  // namespace mpiprof::report
