// The factors: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
#include "report/analysis/bus_bandwidth.h"

namespace mpiprof::report {
namespace {

std::optional<double> factor(BusRule rule, const Comm& comm) {
    if (rule == BusRule::whole) return 1.0;
    if (comm.size == 0 || comm.is_inter) return std::nullopt;
    const double n = comm.size;
    switch (rule) {
        case BusRule::twice_around:
            return 2 * (n - 1) / n;
        case BusRule::all_but_mine:
            return (n - 1) / n;
        case BusRule::other_blocks:
            return n - 1;
        case BusRule::none:
        case BusRule::whole:
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
            const BusRule rule = job.calls[sum.call].bus;
            if (rule == BusRule::none || sum.bytes == 0) continue;
            const auto of_comm = factor(rule, comm);
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
