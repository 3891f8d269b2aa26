// The factors as a table: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
#include "report/analysis/bus_bandwidth.h"

#include <algorithm>
#include <array>

namespace mpiprof::report {
namespace {

enum class Rule : std::uint8_t {
    twice_around,  // 2 (n-1)/n of the size
    all_but_mine,  // (n-1)/n of the size, which is n blocks
    other_blocks,  // the same where the recorded size is one block: n-1 of them
    whole,         // the size
};

struct Operation {
    std::string_view name;
    Rule rule;
};
constexpr std::array operations{
    Operation{"MPI_Allreduce", Rule::twice_around},
    Operation{"MPI_Reduce_scatter", Rule::all_but_mine},
    Operation{"MPI_Reduce_scatter_block", Rule::all_but_mine},
    Operation{"MPI_Allgather", Rule::other_blocks},
    Operation{"MPI_Alltoall", Rule::other_blocks},
    Operation{"MPI_Gather", Rule::other_blocks},
    Operation{"MPI_Scatter", Rule::other_blocks},
    Operation{"MPI_Bcast", Rule::whole},
    Operation{"MPI_Reduce", Rule::whole},
    Operation{"ncclAllReduce", Rule::twice_around},
    Operation{"ncclReduceScatter", Rule::all_but_mine},
    Operation{"ncclAllGather", Rule::all_but_mine},
    Operation{"ncclAlltoAll", Rule::all_but_mine},
    Operation{"ncclAllToAll", Rule::all_but_mine},
    Operation{"ncclGather", Rule::all_but_mine},
    Operation{"ncclScatter", Rule::all_but_mine},
    Operation{"ncclBroadcast", Rule::whole},
    Operation{"ncclBcast", Rule::whole},
    Operation{"ncclReduce", Rule::whole},
    Operation{"ncclSend", Rule::whole},
    Operation{"ncclRecv", Rule::whole},
};

// Twins with large counts, and with a configuration, are the same operation.
std::string_view base_of(std::string_view name) {
    for (const std::string_view suffix : {"_c", "Config"})
        if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    return name;
}

const Operation* operation_of(std::string_view name) {
    const auto found =
        std::find_if(operations.begin(), operations.end(), [&](const Operation& o) { return o.name == base_of(name); });
    return found == operations.end() ? nullptr : &*found;
}

std::optional<double> factor(Rule rule, const Comm& comm) {
    if (rule == Rule::whole) return 1.0;
    if (comm.size == 0 || comm.is_inter) return std::nullopt;
    const double n = comm.size;
    switch (rule) {
        case Rule::twice_around:
            return 2 * (n - 1) / n;
        case Rule::all_but_mine:
            return (n - 1) / n;
        case Rule::other_blocks:
            return n - 1;
        case Rule::whole:
            break;
    }
    return 1.0;
}

}  // namespace

void BusFactors::Mean::add(std::uint64_t more, std::optional<double> factor) {
    if (!factor) {
        is_known = false;
        return;
    }
    agrees &= !only || *only == *factor;
    only = factor;
    bytes += static_cast<double>(more);
    weighted += static_cast<double>(more) * *factor;
}

BusFactors::BusFactors(const Job& job, bool must_agree) : must_agree_(must_agree) {
    for (const Comm& comm : job.comms)
        for (const CommSum& sum : comm.sums) {
            const Operation* operation = operation_of(job.calls[sum.call].name);
            if (!operation || sum.bytes == 0) continue;
            const auto of_comm = factor(operation->rule, comm);
            for (const int bin : {static_cast<int>(sum.bin), -1}) means_[{sum.call, bin}].add(sum.bytes, of_comm);
        }
}

std::optional<double> BusFactors::of(std::uint16_t call, std::optional<std::uint8_t> bin) const {
    const auto found = means_.find({call, bin ? static_cast<int>(*bin) : -1});
    if (found == means_.end()) return std::nullopt;
    const Mean& mean = found->second;
    if (!mean.is_known || mean.weighted <= 0 || (must_agree_ && !mean.agrees)) return std::nullopt;
    return mean.agrees ? *mean.only : mean.weighted / mean.bytes;
}

}  // namespace mpiprof::report
