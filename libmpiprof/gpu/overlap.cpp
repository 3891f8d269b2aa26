// The other kernels of a portion are made disjoint and sorted, so that those beside an interval are found by bisection.
#include "libmpiprof/gpu/overlap.h"

namespace mpiprof::gpu {
namespace {

constexpr unsigned all_portions = 7;

}  // namespace

bool Overlap::open() {
    if (!portions_) portions_ = static_cast<Portions*>(private_pages(sizeof(Portions)));
    return portions_;
}

void Overlap::add(std::uint32_t device, std::uint64_t start, std::uint64_t end, bool is_nccl) {
    if (!portions_ || end <= start) return;
    if (Span* span = span_of(device)) {
        if (!span->is_begun || start < span->begin) span->begin = start;
        if (!span->is_begun || end > span->end) span->end = end;
        span->is_begun = true;
    }
    Portion& p = portions_->portion[now_];
    unsigned& count = is_nccl ? p.nccl_count : p.other_count;
    if (count < most) (is_nccl ? p.nccl : p.other)[count++] = {start, end, device};
}

// Null: of so many devices nothing more is told.
Overlap::Span* Overlap::span_of(std::uint32_t device) {
    for (unsigned i = 0; i < span_count_; ++i)
        if (spans_[i].device == device) return &spans_[i];
    if (span_count_ == most_devices) return nullptr;
    spans_[span_count_] = {device, false, 0, 0, 0};
    return &spans_[span_count_++];
}

// What is told of a span so far stays told.
void Overlap::begin_stretch() {
    for (unsigned i = 0; i < span_count_; ++i) spans_[i] = {spans_[i].device, false, 0, 0, 0};
}

unsigned Overlap::turn(Known (&known)[most_devices]) {
    if (!portions_) return 0;
    const unsigned oldest = (now_ + 1) % 3, last = (now_ + 2) % 3;
    Portion &now = portions_->portion[now_], &before = portions_->portion[last];
    tidy(now.other, now.other_count);
    __builtin_memcpy(now.united, now.nccl, now.nccl_count * sizeof *now.nccl);
    now.united_count = now.nccl_count;
    tidy(now.united, now.united_count);
    for (unsigned i = 0; i < span_count_; ++i) {
        Span& span = spans_[i];
        Known& k = known[i] = {span.device, 0, 0, 0, span.end - span.begin - span.told, 0};
        span.told += k.recorded;
        const auto each = [&](const Interval* all, unsigned count, auto see) {
            for (unsigned n = 0; n < count; ++n)
                if (all[n].device == span.device) see(all[n], all[n].end - all[n].start);
        };
        each(now.other, now.other_count, [&](const Interval& other, std::uint64_t ns) {
            k.any += ns - beside_others(other, 1u << oldest | 1u << last);
        });
        each(before.nccl, before.nccl_count,
             [&](const Interval& nccl, std::uint64_t) { k.hidden += beside_others(nccl, all_portions); });
        each(before.united, before.united_count, [&](const Interval& nccl, std::uint64_t ns) {
            const std::uint64_t hidden = beside_others(nccl, all_portions);
            k.nccl += ns;
            k.nccl_hidden += hidden;
            k.any += ns - hidden;
        });
    }
    now_ = oldest;
    Portion& next = portions_->portion[now_];
    next.nccl_count = next.other_count = next.united_count = 0;
    return span_count_;
}

// Sorts by heap: libc's sort may allocate, and what CUPTI hands over is nearly sorted already.
void Overlap::tidy(Interval* all, unsigned& count) {
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
    while (sorted < count && !less(all[sorted], all[sorted - 1])) ++sorted;
    if (sorted < count) {
        for (unsigned i = count / 2; i-- > 0;) sink(i, count);
        for (unsigned n = count; n-- > 1;) {
            swap(0, n);
            sink(0, n);
        }
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < count; ++i) {
        Interval& last = all[kept ? kept - 1 : 0];
        if (kept && last.device == all[i].device && all[i].start <= last.end) {
            if (all[i].end > last.end) last.end = all[i].end;
        } else {
            all[kept++] = all[i];
        }
    }
    count = kept;
}

// The length of what is covered by the union of the others of some portions, a bit each.
std::uint64_t Overlap::beside_others(const Interval& interval, unsigned portions) const {
    unsigned at[3];  // the first that ends behind the moment looked at
    const auto ends_behind = [&](const Interval& other, std::uint64_t moment) {
        return other.device > interval.device || (other.device == interval.device && other.end > moment);
    };
    for (unsigned k = 0; k < 3; ++k) {
        const Portion& p = portions_->portion[k];
        unsigned low = 0, high = portions >> k & 1 ? p.other_count : 0;
        while (low < high) {
            const unsigned middle = (low + high) / 2;
            if (ends_behind(p.other[middle], interval.start))
                high = middle;
            else
                low = middle + 1;
        }
        at[k] = low;
    }
    std::uint64_t covered = 0, moment = interval.start;
    while (moment < interval.end) {
        const Interval* next = nullptr;
        for (unsigned k = 0; k < 3; ++k) {
            const Portion& p = portions_->portion[k];
            if (!(portions >> k & 1)) continue;
            while (at[k] < p.other_count && !ends_behind(p.other[at[k]], moment)) ++at[k];
            if (at[k] == p.other_count) continue;
            const Interval& other = p.other[at[k]];
            if (other.device == interval.device && other.start < interval.end && (!next || other.start < next->start))
                next = &other;
        }
        if (!next) break;
        const std::uint64_t from = next->start > moment ? next->start : moment,
                            to = next->end < interval.end ? next->end : interval.end;
        covered += to - from;
        moment = to;
    }
    return covered;
}

}  // namespace mpiprof::gpu
