// Entered and left some thousand times a second at most: nothing here is hot.
#include "libmpiprof/record/regions.h"

#include <stdio.h>
#include <string.h>

#include "libmpiprof/base/text.h"

namespace mpiprof {
namespace {

using format::Region;

const char* named(const char* name) { return name && *name ? name : "(no name)"; }

}  // namespace

// 0 where there is no room.
std::uint16_t Regions::find(Image& image, const char* name, std::uint16_t parent, std::uint32_t flags) {
    char wanted[sizeof(Region::name)] = "";
    append(wanted, name);
    for (unsigned i = 1; i <= count_; ++i)
        if (records_[i]->parent == parent && records_[i]->flags == flags && strcmp(records_[i]->name, wanted) == 0)
            return static_cast<std::uint16_t>(i);
    if (!rows_.newest() && !rows_.add(image, {})) return 0;  // record 0: outside all regions
    Region* region = count_ == most ? nullptr : rows_.next(image);
    if (!region) {
        count_drop(image.header().drops.strings);
        return 0;
    }
    copy(region->name, wanted);
    region->parent = parent;
    region->flags = flags;
    region->min_ticks = ~std::uint64_t{0};
    rows_.publish();
    records_[++count_] = region;
    return static_cast<std::uint16_t>(count_);
}

void Regions::count(Image& image, Region& region, Ticks ticks, std::uint64_t items) {
    add(region.entered, 1);
    add(region.ticks, ticks);
    add(region.items, items);
    if (ticks < region.min_ticks) relaxed(region.min_ticks, ticks);
    if (ticks > region.max_ticks) relaxed(region.max_ticks, ticks);
    durations_.count(image, region.durations, ticks);
}

void Regions::enter(std::uint16_t index, const format::Anchor& now) {
    relaxed(record(index)->inside_since, now.ticks);
    entered_ns_[depth_] = now.monotonic_ns;
    open_[depth_++] = index;
    __atomic_store_n(&current_, index, __ATOMIC_RELAXED);
}

void Regions::leave(Image& image, Ticks now) {
    Region& region = *record(open_[--depth_]);
    __atomic_store_n(&current_, depth_ ? open_[depth_ - 1] : std::uint16_t{0}, __ATOMIC_RELAXED);
    const Ticks since = relaxed(region.inside_since);
    relaxed(region.inside_since, 0);
    count(image, region, now > since ? now - since : 0, 0);
}

void Regions::begin(Image& image, const char* name, const format::Anchor& now) {
    if (untold_ == 0 && depth_ < most_nested)
        if (const std::uint16_t index = find(image, named(name), current(), 0)) return enter(index, now);
    if (untold_++ != 0 || depth_ == most_nested)
        count_drop(image.header().drops.strings);  // else find() has counted it
}

bool Regions::end(Image& image, const char* name, Ticks now) {
    if (untold_) {
        --untold_;
        return true;
    }
    unsigned at = depth_;
    if (name)
        while (at > 0 && strncmp(record(open_[at - 1])->name, named(name), sizeof(Region::name) - 1) != 0) --at;
    if (at == 0) return false;
    while (depth_ >= at) leave(image, now);
    return true;
}

void Regions::iterate(Image& image, std::uint64_t items, const format::Anchor& since, const format::Anchor& now) {
    format::Anchor from = last_mark_.ticks ? last_mark_ : since;
    last_mark_ = now;
    if (depth_ > 0 && relaxed(record(current())->inside_since) > from.ticks) {
        from.ticks = relaxed(record(current())->inside_since);
        from.monotonic_ns = entered_ns_[depth_ - 1];
    }
    const std::uint16_t index = find(image, "iteration", current(), format::is_iteration);
    if (!index) return;
    count(image, *record(index), now.ticks > from.ticks ? now.ticks - from.ticks : 0, items);
    iteration_times_.add(image, index, now.monotonic_ns > from.monotonic_ns ? now.monotonic_ns - from.monotonic_ns : 0);
}

void Regions::reset(Image& image, const format::Anchor& now) {
    while (depth_ > 0) leave(image, now.ticks);
    untold_ = 0;
    char name[32];
    snprintf(name, sizeof name, "after reset %u", ++resets_);
    begin(image, name, now);
}

}  // namespace mpiprof
