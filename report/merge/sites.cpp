// The part `sites`: from where some of a job's ranks called MPI, added up. A place is a file (by its build-id, by its
// path where it has none) and an offset into it, so it is the same on every rank wherever the file was loaded. Sites
// are told apart by the frames that hold for all their calls, as many as the bound says; calls from others are one
// entry for each call, so that no call is lost. A rank is summed up by itself first, then taken over like any other
// part.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/merge/floors.h"
#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/merge/site_keys.h"
#include "report/model/call_sites.h"
#include "report/model/tally.h"

namespace mpiprof::report {
namespace {

// A file that lies elsewhere on another node is the same file: the first of its paths stands for all.
void known_as(Module& module, const Module& elsewhere) {
    module.take_run(elsewhere);
    if (elsewhere.path < module.path) module.path = elsewhere.path;
}

class SitesPart {
  public:
    // At most so many sites are kept apart.
    explicit SitesPart(std::size_t most) : most_(most) {}

    void add(const RankProfile& from);
    void absorb(SitesPart&& other);
    // Into Job::sites.
    void finish(Finishing& end);

  private:
    static constexpr std::size_t most_comms = 4;  // that a site names
    using Key = std::uint64_t;                    // hash of a call's name and its frames
    struct RankedComm {                           // what is worth naming first
        bool is_not_world = true;
        std::uint64_t below = 0;  // how much smaller than the largest possible
        CommRef comm;
        auto operator<=>(const RankedComm&) const = default;
    };
    struct Entry {
        CallSite site;                  // its frames' modules are in modules_
        std::vector<RankedComm> comms;  // sorted
        std::vector<WaitSum> waits;
        bool is_mixed = false;  // of several places: how many ranks, and which spent most, is not known
    };
    using Entries = std::unordered_map<Key, Entry>;
    using KeyedCell = std::pair<Key, const Cell*>;

    void add_site(const RankProfile& from, Key key, std::span<const KeyedCell> cells);
    static RankedComm ranked(const Communicator& communicator);
    static void add_comm(Entry& entry, const RankedComm& comm);
    static void merge(Entry& to, Entry&& from);
    std::uint32_t module_index(const Module& module, std::uint64_t hash);
    void take(Key key, Entry&& entry);
    void take_as_other(Entry&& entry);
    void prune(std::size_t most);

    std::size_t most_;
    Entries kept_;
    std::map<std::uint16_t, Entry> others_;  // by call
    std::optional<Key> first_left_out_;      // this one and all above it are with the others
    // Of the rank that is added, so that their memory serves the next one.
    std::vector<KeyedCell> cells_;
    Entry of_rank_;
    Numbered<Module, std::uint64_t> modules_{Module{}};  // by a hash of what tells files apart; [0] = not known
};

std::uint32_t SitesPart::module_index(const Module& module, std::uint64_t hash) {
    const std::uint32_t index = modules_.index_of(hash, module);
    known_as(modules_[index], module);
    return index;
}

void SitesPart::add_comm(Entry& entry, const RankedComm& comm) {
    const auto at = std::lower_bound(entry.comms.begin(), entry.comms.end(), comm);
    if (at != entry.comms.end() && *at == comm) return;
    entry.comms.insert(at, comm);
    if (entry.comms.size() <= most_comms) return;
    entry.comms.pop_back();
    entry.site.has_more_comms = true;
}

void SitesPart::merge(Entry& to, Entry&& from) {
    CallSite& site = to.site;
    take_largest(site, from.site);
    add_tally(site, from.site);
    site.ranks += from.site.ranks;
    site.has_more_comms |= from.site.has_more_comms;
    for (const RankedComm& comm : from.comms) add_comm(to, comm);
    for (const WaitSum& wait : from.waits) add_wait(to.waits, wait);
    to.is_mixed |= from.is_mixed;
}

void SitesPart::take_as_other(Entry&& entry) {
    entry.is_mixed |= !entry.site.frames.empty();
    entry.site.frames.clear();
    const auto [found, is_new] = others_.try_emplace(entry.site.call, std::move(entry));
    if (!is_new) merge(found->second, std::move(entry));
}

void SitesPart::take(Key key, Entry&& entry) {
    if (first_left_out_ && key >= *first_left_out_) {
        entry.is_mixed = true;
        return take_as_other(std::move(entry));
    }
    const auto [found, is_new] = kept_.try_emplace(key, std::move(entry));
    if (!is_new) merge(found->second, std::move(entry));
    if (kept_.size() > 2 * most_) prune(most_);
}

// Those with the smallest keys stay. What is once left out could never come back, so which these are does not depend on
// the order of the ranks.
void SitesPart::prune(std::size_t most) {
    if (kept_.size() <= most) return;
    std::vector<Key> keys;
    for (const auto& [key, entry] : kept_) keys.push_back(key);
    std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(most), keys.end());
    first_left_out_ = keys[most];
    for (std::size_t i = most; i < keys.size(); ++i) {
        const auto found = kept_.find(keys[i]);
        take_as_other(std::move(found->second));
        kept_.erase(found);
    }
}

SitesPart::RankedComm SitesPart::ranked(const Communicator& communicator) {
    const CommKind kind = kind_of(communicator);
    const bool is_one = kind == CommKind::known || kind == CommKind::by_members;
    return {.is_not_world = communicator.origin != Origin::world,
            .below = ~std::uint64_t{0} - (is_one && !communicator.is_inter ? communicator.size : 0),
            .comm = {kind, is_one ? communicator.id : 0}};
}

// All calls that the rank has made at one site, or at sites that are not told apart.
void SitesPart::add_site(const RankProfile& from, Key key, std::span<const KeyedCell> cells) {
    const Profile& profile = from.profile;
    CallSite& site = of_rank_.site;
    site = {};
    of_rank_.is_mixed = false;
    of_rank_.comms.clear();
    of_rank_.waits.clear();
    site.call = from.calls[cells.front().second->call];
    for (const auto& [same_key, cell] : cells) {
        add_tally(site, *cell);
        if (cell->communicator != 0 && cell->communicator < profile.communicators.size())
            add_comm(of_rank_, ranked(profile.communicators[cell->communicator]));
        if (const auto wait = wait_of(profile, *cell, site.call)) add_wait(of_rank_.waits, *wait);
    }
    site.ranks = 1;
    site.largest_ns = site.time_ns;
    site.largest_rank = profile.rank;
    const std::uint32_t place = cells.back().second->site;
    if (!SiteKeys::is_known(profile, place)) return take_as_other(std::move(of_rank_));
    if (!kept_.contains(key))
        for (const Frame& frame : SiteKeys::common(profile.sites[place])) {
            const std::uint64_t hash = from.site_keys.of_module(frame);
            site.frames.push_back(
                {.module = hash == 0 ? 0 : module_index(profile.modules[frame.module], hash), .offset = frame.offset});
        }
    take(key, std::move(of_rank_));
}

void SitesPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    cells_.clear();
    for (const Cell& cell : profile.cells)
        if (profile.calls[cell.call].treatment == Treatment::timed)
            cells_.emplace_back(from.site_keys.of(cell.call, cell.site), &cell);
    std::sort(cells_.begin(), cells_.end());
    for (auto first = cells_.begin(); first != cells_.end();) {
        const Key key = first->first;
        const auto next = std::find_if(first, cells_.end(), [&](const KeyedCell& c) { return c.first != key; });
        add_site(from, key, {first, next});
        first = next;
    }
}

void SitesPart::absorb(SitesPart&& other) {
    for (auto& [call, entry] : other.others_) take_as_other(std::move(entry));
    const std::vector<std::uint32_t> module_of = modules_.absorb(other.modules_);
    for (std::uint32_t i = 1; i < module_of.size(); ++i) known_as(modules_[module_of[i]], other.modules_[i]);
    for (auto& [key, entry] : other.kept_) {
        for (Place& place : entry.site.frames) place.module = module_of[place.module];
        take(key, std::move(entry));
    }
}

void SitesPart::finish(Finishing& end) {
    prune(most_);
    const auto judge = [&](Entry& entry) {
        const auto waiting = end.floors.of(entry.waits);
        entry.site.judged_ns = waiting.judged_ns;
        entry.site.waiting_ns = waiting.waiting_ns;
    };
    for (auto& [key, entry] : kept_) judge(entry);
    for (auto& [call, entry] : others_) judge(entry);
    for (const auto& [key, correction] : end.corrections) {
        if (const auto kept = kept_.find(key); kept != kept_.end())
            correction.apply(kept->second.site);
        else if (const auto other = others_.find(correction.call); other != others_.end())
            correction.apply(other->second.site);
    }
    std::vector<std::pair<Key, Entry>> all;
    for (auto& [key, entry] : kept_) all.emplace_back(key, std::move(entry));
    for (auto& [call, entry] : others_) all.emplace_back(0, std::move(entry));
    for (auto& [key, entry] : all) entry.site.call = end.order[entry.site.call];
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::make_tuple(~a.second.site.time_ns, a.second.site.call, a.first) <
               std::make_tuple(~b.second.site.time_ns, b.second.site.call, b.first);
    });
    CallSites& result = end.job.sites;
    std::vector<std::uint32_t> module_of(modules_.values().size());
    for (auto& [key, entry] : all) {
        CallSite& site = result.sites.emplace_back(std::move(entry.site));
        for (Place& place : site.frames) {  // numbered in the order of their use
            if (place.module != 0 && module_of[place.module] == 0) {
                module_of[place.module] = static_cast<std::uint32_t>(result.modules.size());
                result.modules.push_back(modules_[place.module]);
            }
            place.module = module_of[place.module];
        }
        for (const RankedComm& ranked : entry.comms) site.comms.push_back(ranked.comm);
        if (entry.is_mixed) site.ranks = site.largest_rank = 0, site.largest_ns = 0;
    }
}

}  // namespace

std::unique_ptr<MergePart> sites_part(std::size_t most) { return std::make_unique<PartOf<SitesPart>>(most); }
std::unique_ptr<MergePart> sites_part() { return sites_part(16384); }

}  // namespace mpiprof::report
