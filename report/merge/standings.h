// StandingsPart: where the threads of ranks that are not finalized stand, over some of a job's ranks. A piece of Part,
// which calls it; associative and commutative like it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class StandingsPart {
  public:
    // The call maps and `order` say what number a call has here, and in the end.
    void add(const Profile& profile, std::span<const std::uint16_t> call_map);
    void absorb(StandingsPart&& other, std::span<const std::uint16_t> call_map);
    // The rank lived longer than it could tell.
    void extend(std::uint32_t rank, std::uint64_t longer_ns);
    void finish(Job& job, std::span<const std::uint16_t> order);

  private:
    void add_standings(const Profile& profile, std::span<const std::uint16_t> call_map);
    void add_entries(const Profile& profile, std::span<const std::uint16_t> call_map);
    std::uint32_t place_index(const Profile& profile, const Frame& frame);
    std::uint32_t group_index(const Group& group);

    std::vector<Standing> standings_;
    std::vector<Entries> entries_;
    // Interned; [0] = not known.
    std::vector<Module> modules_{Module{}};
    std::vector<Place> places_{Place{}};
    std::vector<Group> groups_{Group{}};
    std::map<std::pair<std::string, std::string>, std::uint32_t> module_index_;     // by path and build-id
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> place_index_;  // by module and offset
    std::unordered_map<std::uint64_t, std::uint32_t> group_index_;                  // by id
};

}  // namespace mpiprof::report
