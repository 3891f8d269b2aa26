// CallRegistry: numbers for the calls of a merge, which all of its threads share, in the order in which they are met.
// finish() puts them into the job by name, so that nothing in it depends on that order.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class CallRegistry {
  public:
    // The number of a call, by its name; a new one where it is met for the first time. For any thread.
    std::uint16_t number_of(const Call& call);
    // Hands the calls to the job, sorted by name. Returns the number in Job::calls of each call of the registry.
    std::vector<std::uint16_t> finish(Job& job);

  private:
    std::mutex mutex_;
    std::vector<Call> calls_;
    std::unordered_map<std::string, std::uint16_t> number_of_name_;
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

}  // namespace mpiprof::report
