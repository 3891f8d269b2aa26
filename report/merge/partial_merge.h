// PartialMerge: some of a job's profiles added up, by one thread. It is a list of equal parts, each of which knows one
// subject; adding a profile and absorbing another one are associative and commutative, so ranks may be added in any
// order by any thread. finish() makes the Job of it. Calls have numbers that all threads of a merge agree on.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

// Numbers for the calls of a merge, in the order in which they are met. finish() puts them into the job by name, so
// that nothing in it depends on that order.
class CallRegistry {
  public:
    // The number of a call, by its name; a new one where it is met for the first time. For any thread.
    std::uint16_t number_of(const Call& call);
    // Gives the job the calls, sorted by name. Returns the number in Job::calls of each call of the registry.
    std::vector<std::uint16_t> finish(Job& job);

  private:
    std::mutex mutex_;
    Numbered<Call, std::string> calls_;  // by name
};

// The numbers of one profile's calls, for one thread. Ranks of a job mostly have the same dictionary, so the numbers of
// the rank before are tried first and the registry is rarely asked.
class CallNumbers {
  public:
    explicit CallNumbers(CallRegistry& registry) : registry_(&registry) {}
    std::span<const std::uint16_t> of(const Profile& profile);

  private:
    CallRegistry* registry_;
    std::vector<std::uint16_t> numbers_;
    std::vector<std::string> names_;
};

class PartialMerge {
  public:
    // The registry outlives the PartialMerge and is that of all that absorb each other.
    explicit PartialMerge(CallRegistry& registry);

    void add(const Profile& profile);
    // How many kept collectives of a profile's communicators it needs, as it stands: the Thinning of the next to be
    // read.
    unsigned thinning(const Profile& profile, const Communicator& communicator) const;
    void absorb(PartialMerge&& other);
    void add_problem(std::string line) { problems_.push_back(std::move(line)); }
    // The sums, sorted; identity (launch, size ...) is that of the lowest rank. This is empty afterwards.
    Job finish();

  private:
    CallRegistry* registry_;
    CallNumbers numbers_;
    std::vector<std::unique_ptr<MergePart>> parts_;  // in the order in which they finish
    std::vector<std::string> problems_;
};

}  // namespace mpiprof::report
