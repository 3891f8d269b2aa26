// The requests in flight that this thread posted: which call and size each belongs to and since when, so that the time
// from post to completion and the time blocked for it can be booked there. A small table, lossy by design: what finds no
// place, or is completed by another thread, is counted as not remembered, never waited for.
// Called by the ledger's owner thread only; neither locks nor allocates.
#pragma once

#include "libmpiprof/format/layout.h"
#include "libmpiprof/record/basics.h"

namespace mpiprof {

class Requests {
  public:
    struct alignas(32) Request {
        Word handle;                   // as the program holds it; 0 = free
        format::Histogram* posted_by;  // its call and size
        Ticks since;                   // the posting call's begin; 0 = not in flight (persistent, or booked already)
        Bytes bytes;                   // persistent: what a start moves; else once - (how many more share the handle)
        bool is_persistent() const { return bytes <= once / 2; }
    };
    static constexpr Bytes once = ~Bytes{0};

    enum class Put { done, no_place, shared };
    // Remembers a request. Shared: the handle is another's that is in flight; nothing was changed.
    Put put(const Request& request) {
        Request* place = &table_[place_of(request.handle)];
        Request& other = table_[place_of(request.handle) ^ 1];
        // A completed request's handle is given out again: the newer meaning counts, wherever the older one lies.
        if (other.handle == request.handle || (place->handle != 0 && place->handle != request.handle)) [[unlikely]] place = &other;
        if (place->handle == 0) ++in_use_;
        else if (place->handle != request.handle) return Put::no_place;
        else if (place->since != 0 && !place->is_persistent() && request.since != 0) [[unlikely]] return Put::shared;
        *place = request;
        return Put::done;
    }
    Request* find(Word handle) {
        Request& first = table_[place_of(handle)];
        if (first.handle == handle) [[likely]] return &first;
        Request& second = table_[place_of(handle) ^ 1];
        return second.handle == handle ? &second : nullptr;
    }
    void drop(Request& request) {
        request.handle = 0;
        --in_use_;
    }
    bool is_empty() const { return in_use_ == 0; }

  private:
    static constexpr unsigned bits = 10;
    static unsigned place_of(Word handle) { return static_cast<unsigned>(mix(static_cast<std::uint64_t>(handle)) >> (64 - bits)); }
    unsigned in_use_ = 0;
    Request table_[1u << bits];  // each handle has two places, in one cache line
};

}  // namespace mpiprof
