// SitesPart: from where some of a job's ranks called MPI, added up. A part of a merge. A place is a file (by its
// build-id, by its path where it has none) and an offset into it, so it is the same on every rank wherever the file was
// loaded. Sites are told apart by the frames that hold for all their calls. At most `most_kept` are kept apart; calls
// from others are one entry for each call, so that no call is lost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/merge/rank_profile.h"
#include "report/model/call_sites.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class SitesPart {
  public:
    static constexpr std::size_t most_kept = 16384;
    static constexpr std::size_t most_comms = 4;  // that a site names

    explicit SitesPart(std::size_t most = most_kept) : most_(most) {}

    void add(const RankProfile& from);
    void absorb(SitesPart&& other);
    // Into Job::sites.
    void finish(Finishing& end);

  private:
    using Key = std::uint64_t;  // hash of a call's name and its frames
    struct RankedComm {         // what is worth naming first
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

    class OfOneRank;
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
    std::vector<Module> modules_{Module{}};
    std::vector<std::uint64_t> module_hashes_{0};
    std::unordered_map<std::uint64_t, std::uint32_t> module_of_hash_;
};

}  // namespace mpiprof::report
