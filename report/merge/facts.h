// FactsPart: where some of a job's ranks ran and under whose settings. A part of a merge. What many ranks say alike is
// kept once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/merge/rank_profile.h"
#include "report/model/job.h"
#include "report/model/placement.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class FactsPart {
  public:
    void add(const RankProfile& from);
    void absorb(FactsPart&& other);
    // After the nodes of the job have their numbers.
    void finish(Finishing& end);

  private:
    using Assignment = std::pair<std::string, std::string>;  // name, value
    using Environment = std::vector<std::uint32_t>;          // of assignments_, sorted
    struct Description {
        std::uint32_t rank;  // that wrote it; the lowest counts
        std::vector<Fact> facts;
        NodeUse use{};
    };

    std::uint32_t list_index(const std::string& text);
    std::uint32_t assignment_index(Assignment assignment);
    std::uint32_t environment_index(Environment environment);
    void describe(const std::string& node, Description description);
    void sort_lists(Placement& placement);
    void sort_variables(Placement& placement) const;

    std::vector<std::string> lists_{std::string()};
    std::unordered_map<std::string, std::uint32_t> list_index_{{std::string(), 0}};
    std::vector<Assignment> assignments_;
    std::map<Assignment, std::uint32_t> assignment_index_;
    std::vector<Environment> environments_{Environment{}};
    std::map<Environment, std::uint32_t> environment_index_{{Environment{}, 0}};
    std::map<std::string, Description> nodes_;
    std::vector<RankPlace> ranks_;
};

}  // namespace mpiprof::report
