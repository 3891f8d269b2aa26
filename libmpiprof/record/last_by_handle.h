// The last few records by a handle, each in the slot of its hash: what loses it is asked for again. Part of the
// ledger, whose thread alone uses it. A Record has a `handle`, 0 of one that is free.
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof {

template <class Record, unsigned Bits>
class LastByHandle {
  public:
    // Null: it is not known. Of no handle at all (0) it may be one that is free.
    const Record* find(Word handle) const {
        const Record& record = records_[slot(handle)];
        return record.handle == handle ? &record : nullptr;
    }
    void remember(const Record& record) { records_[slot(record.handle)] = record; }
    void forget(Word handle) {
        if (Record& record = records_[slot(handle)]; may_be_same_handle(record.handle, handle)) record.handle = 0;
    }
    template <class Is>
    void forget_if(Is is) {
        for (Record& record : records_)
            if (is(record)) record.handle = 0;
    }

  private:
    static std::size_t slot(Word handle) { return short_hash<Bits>(static_cast<std::uint64_t>(handle)); }
    Record records_[1u << Bits];
};

}  // namespace mpiprof
