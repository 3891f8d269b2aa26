// The profile's table of NCCL's operations by what NCCL chose for them: algorithm, protocol, number of channels. One
// table for all threads, since NCCL tells of operations in threads of its own, too. Filled by profiler.cpp, a lock for
// some nanoseconds at each operation; nothing is ever lost, but told apart less when there are too many kinds.
#pragma once

#include "libmpiprof/base/open_table.h"
#include "libmpiprof/record/records.h"

namespace mpiprof::nccl {

class Operations {
  public:
    // One more operation of this kind: everything of it but its sums tells it apart. Its record; null: there was no
    // room to tell it apart.
    format::NcclOperation* add(Records& records, format::NcclOperation kind, Bytes bytes);
    // One more of a record that add() answered; the caller holds the lock.
    static void add_known(format::NcclOperation& operation, Bytes bytes) {
        mpiprof::add(operation.bytes, bytes);
        mpiprof::add(operation.operations, 1);
    }
    Lock& lock() { return lock_; }

  private:
    std::uint64_t known_tag(std::uint64_t tag);
    format::NcclOperation* find(Records& records, const format::NcclOperation& kind, unsigned limit);

    static constexpr unsigned most_exact = 1024;  // and then by call and size alone
    static constexpr unsigned most = 1536;
    // A program may tag each step by its number.
    static constexpr unsigned most_tags = 64;
    std::uint64_t tags_[most_tags] = {};
    Lock lock_;
    Rows<format::NcclOperation, 32> rows_;
    OpenTable<std::uint32_t, OpenTableSize{.inside = 4096, .outside = 0, .most = 4096}> known_{};  // words of the file
};

}  // namespace mpiprof::nccl
