// What the parts of a merge are given: a rank's profile to add, and the job to finish. Made by PartialMerge; read by
// each part.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>

#include "report/merge/correction.h"
#include "report/merge/floors.h"
#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

struct RankProfile {
    const Profile& profile;
    // The number that each call of the profile has in the registry of the merge.
    std::span<const std::uint16_t> calls;
    // The profile's cells by call, bin and kind of buffer; Sum::call is still an index into Profile::calls.
    std::span<const Sum> sums = {};
};

struct Finishing {
    Job& job;
    // The number in Job::calls of each call of the registry.
    std::span<const std::uint16_t> order;
    // By the numbers of the registry; from WaitsPart to those behind it.
    Floors floors = {};
    // By the keys of sites (site_keys.h); from ArrivalsPart to SitesPart.
    std::unordered_map<std::uint64_t, Correction> corrections = {};
};

// A part of a merge: some of what profiles say, added up over some of a job's ranks. Adding and absorbing are
// associative and commutative, so any thread may add any rank and the job is the same.
template <class T>
concept MergePart = requires(T part, T other, const RankProfile& rank, Finishing& end) {
    part.add(rank);
    part.absorb(std::move(other));
    part.finish(end);
};

}  // namespace mpiprof::report
