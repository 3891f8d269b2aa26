// The profile's table of NCCL's operations by what NCCL chose for them: algorithm, protocol, number of channels. One
// table for all threads, since NCCL tells of operations in threads of its own, too. Filled by profiler.cpp, a lock for
// some nanoseconds at each operation; nothing is ever lost, but told apart less when there are too many kinds.
#pragma once

#include "libmpiprof/record/ledger.h"

namespace mpiprof::nccl {

class Operations {
  public:
    // One more operation of this kind: everything of it but its sums tells it apart.
    void add(Records& records, const format::NcclOperation& kind, Bytes bytes);

  private:
    format::NcclOperation* find(Records& records, const format::NcclOperation& kind, unsigned limit);

    static constexpr unsigned most_exact = 1024;  // and then by call and size alone
    static constexpr unsigned most = 1536;
    static constexpr unsigned slots = 4096;
    Lock lock_;
    format::Table* table_ = nullptr;
    unsigned used_ = 0;
    std::uint32_t index_[slots] = {};  // open addressing: file offset / 8, 0 = empty
};

}  // namespace mpiprof::nccl
