// Words become values, or nothing where they are none.
#include "report/commands/option_values.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "report/model/number_list.h"

namespace mpiprof::report {

std::vector<std::uint32_t> ranks_of(const std::string& text) {
    constexpr std::uint64_t most = 1'000'000;
    std::vector<std::uint32_t> ranks;
    const NumberList list = NumberList::parse(text);
    if (list.count() > most) return ranks;
    for (const NumberList::Range& range : list.ranges())
        for (std::uint64_t rank = range.first; rank <= range.last; ++rank)
            ranks.push_back(static_cast<std::uint32_t>(rank));
    return ranks;
}

std::optional<TimeChoice> time_of(const std::string& text) {
    using Kind = TimeChoice::Kind;
    constexpr std::pair<std::string_view, Kind> kinds[] = {
        {"process", Kind::process}, {"mpi", Kind::mpi}, {"iteration", Kind::iteration}};
    for (const auto& [word, kind] : kinds)
        if (text == word) return TimeChoice{kind, {}};
    constexpr std::string_view region = "region:";
    if (text.starts_with(region) && text.size() > region.size())
        return TimeChoice{Kind::region, text.substr(region.size())};
    return std::nullopt;
}

std::optional<double> share_of(std::string text) {
    if (text.ends_with('%')) text.pop_back();
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_all = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    return is_all && value >= 0 && value <= 1e6 ? std::optional(value / 100) : std::nullopt;
}

std::size_t edits_between(std::string_view from, std::string_view to) {
    std::vector<std::size_t> edits(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j) edits[j] = j;
    for (std::size_t i = 1; i <= from.size(); ++i) {
        std::size_t diagonal = std::exchange(edits[0], i);
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const std::size_t changed = diagonal + (from[i - 1] != to[j - 1]);
            diagonal = std::exchange(edits[j], std::min({edits[j] + 1, edits[j - 1] + 1, changed}));
        }
    }
    return edits.back();
}

}  // namespace mpiprof::report
