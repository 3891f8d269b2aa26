// CommsPart: what happened on each communicator, added up over some of a job's ranks. A part of a
// merge. At most `most_kept` communicators are kept apart, the largest;
// the others are added up as one. Which these are does not depend on the order either: what is once left out could
// never come back.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "report/merge/rank_profile.h"
#include "report/model/comms.h"
#include "report/model/profile.h"

namespace mpiprof::report {

// How ranks know it of each other.
CommKind kind_of(const Communicator& communicator);

class CommsPart {
  public:
    static constexpr std::size_t most_kept = 4096;

    explicit CommsPart(std::size_t most = most_kept) : most_(most) {}

    void add(const RankProfile& from);
    void absorb(CommsPart&& other);
    // Into Job::comms.
    void finish(Finishing& end);

  private:
    // What is kept apart, first what is worth it most.
    struct Key {
        bool is_not_world = true;
        std::uint64_t below = 0;  // how much smaller than the largest possible
        std::uint64_t mixed_id = 0;
        CommKind kind = CommKind::none;
        std::uint64_t id = 0;
        auto operator<=>(const Key&) const = default;
    };
    struct Entered {
        std::uint16_t call = 0;
        std::uint32_t ranks = 0;
        std::uint64_t fewest = 0, most = 0;
        std::uint32_t fewest_rank = 0, most_rank = 0;
    };
    struct Entry {
        Comm comm;  // without its sums and entries
        std::vector<CommSum> sums;
        std::vector<Entered> entered;
    };
    using Entries = std::map<Key, Entry>;

    static Key key_of(const Communicator& communicator);
    static Entries entries_of(const RankProfile& from);
    static void count_entries(const RankProfile& from, std::span<Entry* const> entry_of);
    static void merge(Entry& to, Entry&& from);
    void take(const Key& key, Entry&& entry);
    void take_as_other(Entry&& entry);

    std::size_t most_;
    Entries kept_;                      // known, by_members
    std::map<CommKind, Entry> others_;  // all that are together
    std::optional<Key> first_left_out_;
};

}  // namespace mpiprof::report
