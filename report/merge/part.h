// MergePart: one subject of a merge, added up over some of a job's ranks. A part is a file that defines what add,
// absorb and finish do, and a row of parts.def; PartialMerge makes one of each and knows no more of them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

#include "report/merge/floors.h"
#include "report/merge/site_keys.h"
#include "report/model/job.h"
#include "report/model/profile.h"
#include "report/read/thinning.h"

namespace mpiprof::report {

struct RankProfile {
    const Profile& profile;
    // The number that each call of the profile has in the registry of the merge.
    std::span<const std::uint16_t> calls;
    // The profile's cells by call, bin and kind of buffer; Sum::call is still an index into Profile::calls.
    std::span<const Sum> sums = {};
    // What its call sites are known by: worked out once, however many parts ask.
    mutable SiteKeys site_keys{profile};
};

struct Finishing {
    Job& job;
    // The number in Job::calls of each call of the registry.
    std::span<const std::uint16_t> order;
    // By the numbers of the registry; from the part `waits` to those behind it.
    Floors floors = {};
    // By the keys of sites (site_keys.h); from the part `arrivals` to the part `sites`.
    std::unordered_map<std::uint64_t, Correction> corrections = {};

    // The row of such calls, when the part `rows` has finished; there is one.
    Row& row_of(const WaitKey& key) const;
};

class MergePart {
  public:
    virtual ~MergePart() = default;
    virtual void add(const RankProfile& from) = 0;
    // Of the kept collectives of one communicator of the profile that is added next: see Thinning.
    virtual unsigned thinning(const Profile&, const Communicator&) const { return no_kept_calls; }
    // The same part of another PartialMerge, which is empty afterwards.
    virtual void absorb(MergePart& other) = 0;
    virtual void finish(Finishing& end) = 0;
};

// What a part is made of. Adding and absorbing are associative and commutative, so any thread may add any rank and the
// job is the same.
template <class T>
concept Mergeable = requires(T part, T other, const RankProfile& rank, Finishing& end) {
    part.add(rank);
    part.absorb(std::move(other));
    part.finish(end);
};

template <Mergeable T>
class PartOf : public MergePart {
  public:
    explicit PartOf(auto... bounds) : part_(bounds...) {}
    void add(const RankProfile& from) override { part_.add(from); }
    unsigned thinning(const Profile& profile, const Communicator& communicator) const override {
        if constexpr (requires { part_.thinning(profile, communicator); }) return part_.thinning(profile, communicator);
        return no_kept_calls;
    }
    void absorb(MergePart& other) override { part_.absorb(std::move(static_cast<PartOf&>(other).part_)); }
    void finish(Finishing& end) override { part_.finish(end); }

  private:
    T part_;
};

#define PART(name) std::unique_ptr<MergePart> name##_part();
#include "report/merge/parts.def"
#undef PART

// Of other bounds than those of real jobs.
std::unique_ptr<MergePart> comms_part(std::size_t most);
std::unique_ptr<MergePart> sites_part(std::size_t most);
std::unique_ptr<MergePart> peers_part(std::uint32_t most_pairs);

}  // namespace mpiprof::report
