// StandingsPart: where the threads of ranks that are not finalized stand, over some of a job's ranks. A part of
// a merge.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/merge/rank_profile.h"
#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class StandingsPart {
  public:
    void add(const RankProfile& from);
    void absorb(StandingsPart&& other);
    void finish(Finishing& end);

  private:
    struct Renumbering;
    void add_standings(const RankProfile& from);
    void add_entries(const RankProfile& from);
    void add_memberships(const RankProfile& from);
    void add_made(const RankProfile& from);
    void add_enqueued(const RankProfile& from);
    void say_what_it_waits_for(const RankProfile& from, const Thread& thread, Standing& standing);
    std::uint32_t group_index(const Profile& profile, std::uint16_t communicator);
    std::uint32_t place_index(const Profile& profile, const Frame& frame);
    std::uint32_t group_index(const Group& group);

    std::vector<Standing> standings_;
    std::vector<Entries> entries_;
    std::vector<Membership> memberships_;
    std::vector<Made> made_;
    std::vector<EnqueuedWith> enqueued_with_;
    // Interned; [0] = not known.
    std::vector<Module> modules_{Module{}};
    std::vector<Place> places_{Place{}};
    std::vector<Group> groups_{Group{}};
    std::map<std::pair<std::string, std::string>, std::uint32_t> module_index_;     // by path and build-id
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> place_index_;  // by module and offset
    std::unordered_map<std::uint64_t, std::uint32_t> group_index_;                  // by id
};

}  // namespace mpiprof::report
