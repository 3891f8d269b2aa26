// The table of rules: the name that the screens print in brackets, `explain` takes and the exports carry.
#include "report/analysis/finding.h"

#include <algorithm>
#include <array>

namespace mpiprof::report {
namespace {

struct Name {
    Rule rule;
    std::string_view id;
};
constexpr std::array names{
    Name{Rule::hang, "hang"},
    Name{Rule::unfinished, "unfinished"},
    Name{Rule::errors, "errors"},
    Name{Rule::paused, "paused"},
    Name{Rule::overlap, "overlap"},
    Name{Rule::crowded, "crowded"},
    Name{Rule::waiting, "waiting"},
    Name{Rule::waits, "waits"},
    Name{Rule::requests, "requests"},
    Name{Rule::imbalance, "imbalance"},
    Name{Rule::slow_node, "slow-node"},
    Name{Rule::polling, "polling"},
    Name{Rule::placement, "placement"},
    Name{Rule::nccl_waiting, "nccl-waiting"},
    Name{Rule::nccl_exposed, "nccl-exposed"},
    Name{Rule::gpu_idle, "gpu-idle"},
    Name{Rule::graph_replays, "graph-replays"},
    Name{Rule::dropped, "dropped"},
    Name{Rule::order, "order"},
    Name{Rule::left_over, "left-over"},
    Name{Rule::wrong_launcher, "wrong-launcher"},
    Name{Rule::slow_rank, "slow-rank"},
    Name{Rule::growing_work, "growing-work"},
    Name{Rule::varying, "varying-lateness"},
    Name{Rule::serial_chain, "serial-chain"},
    Name{Rule::one_serves_all, "one-serves-all"},
    Name{Rule::small_messages, "small-messages"},
    Name{Rule::cheap_calls, "cheap-calls"},
    Name{Rule::unequal_comms, "unequal-communicators"},
    Name{Rule::init, "init"},
    Name{Rule::setup, "setup"},
    Name{Rule::file_io, "file-io"},
    Name{Rule::transfers, "transfers"},
    Name{Rule::healthy, "healthy"},
    Name{Rule::unseen, "unseen"},
    Name{Rule::masks, "masks"},
    Name{Rule::too_many, "too-many"},
    Name{Rule::threads, "threads"},
    Name{Rule::starved, "starved"},
    Name{Rule::beyond, "beyond"},
    Name{Rule::throttled, "throttled"},
    Name{Rule::memory, "memory"},
    Name{Rule::unbound, "unbound"},
    Name{Rule::spread, "spread"},
    Name{Rule::far_gpu, "far-gpu"},
    Name{Rule::far_adapter, "far-adapter"},
};

constexpr bool are_in_order() {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i].rule != static_cast<Rule>(i)) return false;
    return names.back().rule == Rule::far_adapter;
}
static_assert(are_in_order(), "every rule has its name, in the order of the enumeration");

}  // namespace

std::string_view id_of(Rule rule) { return names[static_cast<std::size_t>(rule)].id; }

std::span<const Rule> all_rules() {
    static constexpr auto rules = [] {
        std::array<Rule, names.size()> all{};
        for (std::size_t i = 0; i < names.size(); ++i) all[i] = names[i].rule;
        return all;
    }();
    return rules;
}

std::optional<Rule> rule_called(std::string_view id) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const Name& name) { return name.id == id; });
    return found == names.end() ? std::nullopt : std::optional(found->rule);
}

}  // namespace mpiprof::report
