// From the settings that the ranks ran under, and from what each of them waits for.
#include "report/analysis/doubts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "report/model/named_calls.h"

namespace mpiprof::report {
namespace {

using Kind = Doubt::Kind;

// Some rank ran under another value than the one with which all calls are recorded.
bool is_set(const Job& job, std::string_view name, std::string_view value_that_leaves_out_nothing) {
    return std::ranges::any_of(job.settings, [&](const SettingRow& row) {
        return row.name == name && std::ranges::any_of(row.values, [&](const SettingValue& value) {
                   return value.value != value_that_leaves_out_nothing;
               });
    });
}

constexpr std::pair<std::string_view, std::string_view> leaving_out[] = {
    {"FUNCTIONS", "all"}, {"BEGIN_TIME", "0"}, {"END_TIME", "never"}};

std::optional<Doubt> doubt_of(const Job& job, const Standing& standing) {
    const auto doubt = [&](Kind kind) { return Doubt{.kind = kind, .rank = standing.rank}; };
    if (standing.is_inside && standing.call && meets_other_processes(job.calls[*standing.call]))
        return doubt(Kind::meets_others);
    for (const std::vector<Message>* messages : {&standing.waits_for, &standing.posted})
        for (const Message& message : *messages) {
            if (message.group == 0) return doubt(Kind::unknown_requests);
            if (job.groups[message.group].is_inter) return doubt(Kind::other_group);
            if (!message.is_collective && !message.is_sent && message.peer == any_rank) return doubt(Kind::any_source);
        }
    if (standing.waits_for_more) return doubt(Kind::unknown_requests);
    if (standing.is_inside && job.groups[standing.group].is_inter) return doubt(Kind::other_group);
    return std::nullopt;
}

}  // namespace

bool leaves_out_functions(const Job& job) { return is_set(job, "FUNCTIONS", "all"); }

std::optional<Doubt> doubt_of_recording(const Job& job) {
    if (job.lacks_ranks()) return Doubt{.kind = Kind::no_profile};
    if (job.profiles() < job.size) return Doubt{.kind = Kind::not_chosen};
    for (const auto& [name, value] : leaving_out)
        if (is_set(job, name, value)) return Doubt{.kind = Kind::left_out, .setting = name};
    for (const Rank& rank : job.ranks)
        if (rank.paused_ns != 0) return Doubt{.kind = Kind::paused, .rank = rank.rank};
    return std::nullopt;
}

std::optional<Doubt> doubt_of_silence(const Job& job) {
    if (auto doubt = doubt_of_recording(job)) return doubt;
    if (is_set(job, "NCCL", "on")) return Doubt{.kind = Kind::left_out, .setting = "NCCL"};
    for (const Standing& standing : job.standings)
        if (auto doubt = doubt_of(job, standing)) return doubt;
    return std::nullopt;
}

}  // namespace mpiprof::report
