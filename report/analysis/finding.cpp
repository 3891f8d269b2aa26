// The names of the rules.
#include "report/analysis/finding.h"

#include <array>

namespace mpiprof::report {
namespace {

struct Name {
    Rule rule;
    std::string_view id;
};
constexpr std::array names{
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
    Name{Rule::dropped, "dropped"},
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

}  // namespace mpiprof::report
