// NcclChoicesPart: what NCCL chose for its operations, added up over some of a job's ranks. A part of a
// merge. Communicators of one size are one here, so it stays small
// in any job.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "report/merge/rank_profile.h"
#include "report/model/nccl_operation.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class NcclChoicesPart {
  public:
    void add(const RankProfile& from);
    void absorb(NcclChoicesPart&& other);
    // Into Job::nccl_choices.
    void finish(Finishing& end);

  private:
    struct Key {
        std::uint16_t call = 0;
        std::uint8_t bin = 0;
        std::uint32_t comm_size = 0;
        std::string algorithm, protocol;
        std::uint8_t channels = 0;
        std::uint64_t tag = 0;
        auto operator<=>(const Key&) const = default;
    };
    struct Sums {
        std::uint64_t operations = 0, bytes = 0, called_elsewhere = 0;
    };
    void take(Key key, const Sums& sums);

    static constexpr std::size_t most_kept = 65536;  // no NCCL has so many; a damaged file may
    std::map<Key, Sums> sums_;
};

}  // namespace mpiprof::report
