// A lock around a map by name.
#include "report/merge/call_registry.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mpiprof::report {

std::uint16_t CallRegistry::number_of(const Call& call) {
    const std::lock_guard guard(mutex_);
    const auto [found, is_new] = number_of_name_.try_emplace(call.name, static_cast<std::uint16_t>(calls_.size()));
    if (is_new) calls_.push_back(call);
    return found->second;
}

std::vector<std::uint16_t> CallRegistry::finish(Job& job) {
    std::vector<std::uint16_t> by_name(calls_.size());
    std::iota(by_name.begin(), by_name.end(), std::uint16_t{0});
    std::sort(by_name.begin(), by_name.end(),
              [&](std::uint16_t a, std::uint16_t b) { return calls_[a].name < calls_[b].name; });
    std::vector<std::uint16_t> order(calls_.size());
    for (std::size_t i = 0; i < by_name.size(); ++i) {
        order[by_name[i]] = static_cast<std::uint16_t>(i);
        job.calls.push_back(std::move(calls_[by_name[i]]));
    }
    return order;
}

std::span<const std::uint16_t> CallNumbers::of(const Profile& profile) {
    for (std::size_t i = 0; i < profile.calls.size(); ++i) {
        const Call& call = profile.calls[i];
        if (i < names_.size() && names_[i] == call.name) continue;
        names_.resize(std::max(names_.size(), i + 1));
        numbers_.resize(names_.size());
        names_[i] = call.name;
        numbers_[i] = registry_->number_of(call);
    }
    return std::span(numbers_).first(profile.calls.size());
}

}  // namespace mpiprof::report
