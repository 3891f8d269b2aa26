// Bus bandwidth of collective calls by nccl-tests' definitions: what the busiest link carries, so that it can be held
// against the hardware whatever the operation and the number of ranks. For sections.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "report/model/job.h"

namespace mpiprof::report {

// Bus bandwidth = recorded bytes x factor / time. The factor depends on the sizes of the communicators on which the
// calls were made: it is the mean over them, by bytes.
class BusFactors {
  public:
    // `must_agree`: only a part of the ranks is asked for, of which the shares of the communicators are not known.
    BusFactors(const Job& job, bool must_agree);
    // Of one size bin, or of all. Empty: the operation has none, or the size of a communicator is not known.
    std::optional<double> of(std::uint16_t call, std::optional<std::uint8_t> bin) const;

  private:
    struct Mean {
        double bytes = 0, weighted = 0;
        std::optional<double> only;  // the factor, as long as there is one
        bool is_known = true, agrees = true;
        void add(std::uint64_t bytes, std::optional<double> factor);
    };
    bool must_agree_;
    std::map<std::pair<std::uint16_t, int>, Mean> means_;  // -1: of all bins
};

}  // namespace mpiprof::report
