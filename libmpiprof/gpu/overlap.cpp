// The other kernels of a portion are made disjoint and sorted, so that those beside an interval are found by bisection.
#include "libmpiprof/gpu/overlap.h"

namespace mpiprof::gpu {

bool Overlap::open() {
    if (!portions_) portions_ = static_cast<Portions*>(private_pages(sizeof(Portions)));
    return portions_;
}

void Overlap::add(std::uint32_t device, std::uint64_t start, std::uint64_t end, bool is_nccl) {
    if (!portions_ || end <= start) return;
    Portion& p = portions_->portion[now_];
    unsigned& count = is_nccl ? p.nccl_count : p.other_count;
    if (count < most) (is_nccl ? p.nccl : p.other)[count++] = {start, end, device};
}

// Sorts by heap: libc's sort may allocate, and what CUPTI hands over is nearly sorted already.
void Overlap::tidy(Portion& p) {
    Interval* const all = p.other;
    const auto less = [](const Interval& a, const Interval& b) {
        return a.device != b.device ? a.device < b.device : a.start < b.start;
    };
    const auto swap = [&](unsigned a, unsigned b) {
        const Interval kept = all[a];
        all[a] = all[b];
        all[b] = kept;
    };
    const auto sink = [&](unsigned at, unsigned n) {
        for (unsigned child; (child = 2 * at + 1) < n; at = child) {
            if (child + 1 < n && less(all[child], all[child + 1])) ++child;
            if (!less(all[at], all[child])) return;
            swap(at, child);
        }
    };
    unsigned sorted = 1;
    while (sorted < p.other_count && !less(all[sorted], all[sorted - 1])) ++sorted;
    if (sorted < p.other_count) {
        for (unsigned i = p.other_count / 2; i-- > 0;) sink(i, p.other_count);
        for (unsigned n = p.other_count; n-- > 1;) {
            swap(0, n);
            sink(0, n);
        }
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < p.other_count; ++i) {
        Interval& last = all[kept ? kept - 1 : 0];
        if (kept && last.device == all[i].device && all[i].start <= last.end) {
            if (all[i].end > last.end) last.end = all[i].end;
        } else {
            all[kept++] = all[i];
        }
    }
    p.other_count = kept;
}

// The length of what is covered by the union of the others of all three portions.
std::uint64_t Overlap::hidden(const Interval& nccl) const {
    unsigned at[3];  // the first that ends behind the moment looked at
    const auto ends_behind = [&](const Interval& other, std::uint64_t moment) {
        return other.device > nccl.device || (other.device == nccl.device && other.end > moment);
    };
    for (unsigned k = 0; k < 3; ++k) {
        const Portion& p = portions_->portion[k];
        unsigned low = 0, high = p.other_count;
        while (low < high) {
            const unsigned middle = (low + high) / 2;
            if (ends_behind(p.other[middle], nccl.start))
                high = middle;
            else
                low = middle + 1;
        }
        at[k] = low;
    }
    std::uint64_t covered = 0, moment = nccl.start;
    while (moment < nccl.end) {
        const Interval* next = nullptr;
        for (unsigned k = 0; k < 3; ++k) {
            const Portion& p = portions_->portion[k];
            while (at[k] < p.other_count && !ends_behind(p.other[at[k]], moment)) ++at[k];
            if (at[k] == p.other_count) continue;
            const Interval& other = p.other[at[k]];
            if (other.device == nccl.device && other.start < nccl.end && (!next || other.start < next->start))
                next = &other;
        }
        if (!next) break;
        const std::uint64_t from = next->start > moment ? next->start : moment,
                            to = next->end < nccl.end ? next->end : nccl.end;
        covered += to - from;
        moment = to;
    }
    return covered;
}

}  // namespace mpiprof::gpu
