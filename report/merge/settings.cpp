// Sets of settings, and their ranks.
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

void SettingsPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    if (profile.settings.empty()) return;  // mpitrace's text
    if (!last_ranks_ || profile.settings != last_) {
        std::vector<Setting> sorted = profile.settings;
        std::sort(sorted.begin(), sorted.end());
        last_ranks_ = &ranks_[std::move(sorted)];
        last_ = profile.settings;
    }
    last_ranks_->push_back(profile.rank);
}

void SettingsPart::absorb(SettingsPart&& other) {
    for (auto& [settings, ranks] : other.ranks_) {
        auto& to = ranks_[settings];
        to.insert(to.end(), ranks.begin(), ranks.end());
    }
}

void SettingsPart::finish(Finishing& end) {
    std::map<std::string, std::map<std::pair<std::string, SettingSource>, std::vector<std::uint32_t>>> by_name;
    for (const auto& [settings, ranks] : ranks_)
        for (const Setting& one : settings) {
            auto& to = by_name[one.name][{one.value, one.source}];
            to.insert(to.end(), ranks.begin(), ranks.end());
        }
    std::vector<SettingRow>& rows = end.job.settings;
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
    end.job.chosen_ranks = chosen_ranks(rows);
}

}  // namespace mpiprof::report
