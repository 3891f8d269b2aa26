// Sets of values, and their ranks.
#include "report/merge/settings.h"

#include <algorithm>
#include <utility>

namespace mpiprof::report {
namespace {

// MPIPROF_RANKS, where all ranks say the same; what is no list ("all") is none.
NumberList chosen_ranks(const std::vector<SettingRow>& settings) {
    for (const SettingRow& row : settings)
        if (row.name == "RANKS" && row.values.size() == 1) return NumberList::parse(row.values.front().value);
    return {};
}

}  // namespace

void SharedValues::add(const std::vector<Setting>& values, std::uint32_t rank) {
    if (values.empty()) return;  // mpitrace's text, for one
    if (!last_ranks_ || values != last_) {
        std::vector<Setting> sorted = values;
        std::sort(sorted.begin(), sorted.end());
        last_ranks_ = &ranks_[std::move(sorted)];
        last_ = values;
    }
    last_ranks_->push_back(rank);
}

void SharedValues::absorb(SharedValues&& other) {
    for (auto& [values, ranks] : other.ranks_) {
        auto& to = ranks_[values];
        to.insert(to.end(), ranks.begin(), ranks.end());
    }
}

std::vector<SettingRow> SharedValues::rows() const {
    std::map<std::string, std::map<std::pair<std::string, SettingSource>, std::vector<std::uint32_t>>> by_name;
    for (const auto& [settings, ranks] : ranks_)
        for (const Setting& one : settings) {
            auto& to = by_name[one.name][{one.value, one.source}];
            to.insert(to.end(), ranks.begin(), ranks.end());
        }
    std::vector<SettingRow> rows;
    for (auto& [name, values] : by_name) {
        SettingRow& row = rows.emplace_back(SettingRow{.name = name, .values = {}});
        for (auto& [value, ranks] : values) {
            std::sort(ranks.begin(), ranks.end());
            row.values.push_back({.value = value.first,
                                  .source = value.second,
                                  .count = static_cast<std::uint32_t>(ranks.size()),
                                  .ranks = std::move(ranks)});
        }
        std::sort(row.values.begin(), row.values.end(), [](const SettingValue& a, const SettingValue& b) {
            return a.count != b.count ? a.count > b.count : a.ranks < b.ranks;
        });
        row.values.front().ranks.clear();
    }
    return rows;
}

void SettingsPart::finish(Finishing& end) {
    end.job.settings = values_.rows();
    end.job.chosen_ranks = chosen_ranks(end.job.settings);
}

}  // namespace mpiprof::report
