// The parts `settings`, under which settings of libmpiprof some of a job's ranks ran, and `labels`, what they say of
// the run. Ranks with the same values, which mostly are all, are kept once.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libmpiprof/format/rank_choice.h"
#include "report/merge/part.h"
#include "report/model/setting_row.h"

namespace mpiprof::report {
namespace {

class SharedValues {
  public:
    SharedValues() = default;
    SharedValues(SharedValues&&) = default;  // no copies: recent_ points into ranks_
    SharedValues& operator=(SharedValues&&) = default;
    void add(const std::vector<Setting>& values, std::uint32_t rank);
    void absorb(SharedValues&& other);
    std::vector<SettingRow> rows() const;  // by name

  private:
    std::map<std::vector<Setting>, std::vector<std::uint32_t>> ranks_;  // who has exactly these
    // Those of ranks before, in the order of their profiles, which is the next one's, too; and who has them.
    struct Recent {
        std::vector<Setting> values;
        std::vector<std::uint32_t>* ranks = nullptr;
    };
    static constexpr std::size_t most_recent = 4;
    std::vector<Recent> recent_;
    std::size_t oldest_ = 0;
};

void SharedValues::add(const std::vector<Setting>& values, std::uint32_t rank) {
    if (values.empty()) return;  // mpitrace's text, for one
    for (const Recent& recent : recent_)
        if (values == recent.values) return recent.ranks->push_back(rank);
    std::vector<Setting> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    Recent next{values, &ranks_[std::move(sorted)]};
    next.ranks->push_back(rank);
    if (recent_.size() < most_recent)
        recent_.push_back(std::move(next));
    else
        recent_[oldest_++ % most_recent] = std::move(next);
}

void SharedValues::absorb(SharedValues&& other) {
    for (auto& [values, ranks] : other.ranks_) {
        auto& to = ranks_[values];
        to.insert(to.end(), ranks.begin(), ranks.end());
    }
}

// Who has a value is listed where there are others, of which the most frequent one lists nobody either.
std::vector<SettingRow> SharedValues::rows() const {
    using Lists = std::vector<const std::vector<std::uint32_t>*>;
    std::map<std::string, std::map<std::pair<std::string, SettingSource>, Lists>> by_name;
    for (const auto& [settings, ranks] : ranks_)
        for (const Setting& one : settings) by_name[one.name][{one.value, one.source}].push_back(&ranks);
    std::vector<SettingRow> rows;
    for (auto& [name, values] : by_name) {
        SettingRow& row = rows.emplace_back(SettingRow{.name = name});
        for (auto& [value, lists] : values) {
            std::size_t count = 0;
            std::vector<std::uint32_t> ranks;
            for (const auto* list : lists) {
                count += list->size();
                if (values.size() > 1) ranks.insert(ranks.end(), list->begin(), list->end());
            }
            std::sort(ranks.begin(), ranks.end());
            row.values.push_back({.value = value.first,
                                  .source = value.second,
                                  .count = static_cast<std::uint32_t>(count),
                                  .ranks = std::move(ranks)});
        }
        std::sort(row.values.begin(), row.values.end(), [](const SettingValue& a, const SettingValue& b) {
            return a.count != b.count ? a.count > b.count : a.ranks < b.ranks;
        });
        row.values.front().ranks.clear();
    }
    return rows;
}

// What all ranks say of a setting; empty: they differ, or do not say.
std::string_view value_for_all(const std::vector<SettingRow>& settings, std::string_view name) {
    for (const SettingRow& row : settings)
        if (row.name == name && row.values.size() == 1) return row.values.front().value;
    return {};
}

// "500M": libmpiprof has checked it, and refused what is none.
std::uint64_t amount(std::string_view text) {
    std::uint64_t number = 0;
    const char* end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
    const char letter = end == text.data() + text.size() ? ' ' : *end;
    constexpr std::string_view letters = "kKmMgG";
    constexpr std::array<std::uint64_t, 3> units{1000, 1'000'000, 1'000'000'000};
    const auto at = letters.find(letter);
    return at == std::string_view::npos ? number : number * units[at / 2];
}

// MPIPROF_RANKS, and every second, third ... of them where MPIPROF_MAX_FILES or MPIPROF_MAX_BYTES leaves no more;
// empty: all are. What is no list ("all") is none.
NumberList chosen_ranks(const std::vector<SettingRow>& settings, std::uint32_t size) {
    NumberList listed = NumberList::parse(value_for_all(settings, "RANKS"));
    const auto choice = format::choose_ranks(size, amount(value_for_all(settings, "MAX_FILES")),
                                             amount(value_for_all(settings, "MAX_BYTES")));
    if (choice.stride == 1) return listed;
    std::vector<NumberList::Range> chosen;
    for (std::uint64_t at = 0; choice.stride != 0 && at < size; at += choice.stride) {
        const auto rank = static_cast<std::uint32_t>(at);
        if (listed.empty() || listed.contains(NumberList::of(NumberList::Range{rank, rank})))
            chosen.push_back({rank, rank});
    }
    return NumberList::of(std::move(chosen));
}

class SettingsPart {
  public:
    void add(const RankProfile& from) {
        values_.add(from.profile.settings, from.profile.rank);
        size_ = std::max(size_, from.profile.size);
    }
    void absorb(SettingsPart&& other) {
        values_.absorb(std::move(other.values_));
        size_ = std::max(size_, other.size_);
    }
    void finish(Finishing& end) {
        end.job.settings = values_.rows();
        end.job.chosen_ranks = chosen_ranks(end.job.settings, size_);
    }

  private:
    SharedValues values_;
    std::uint32_t size_ = 0;  // of the world
};

class LabelsPart {
  public:
    void add(const RankProfile& from) { values_.add(from.profile.labels, from.profile.rank); }
    void absorb(LabelsPart&& other) { values_.absorb(std::move(other.values_)); }
    void finish(Finishing& end) { end.job.labels = values_.rows(); }

  private:
    SharedValues values_;
};

}  // namespace

std::unique_ptr<MergePart> settings_part() { return std::make_unique<PartOf<SettingsPart>>(); }
std::unique_ptr<MergePart> labels_part() { return std::make_unique<PartOf<LabelsPart>>(); }

}  // namespace mpiprof::report
