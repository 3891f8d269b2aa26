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
        Ticks since;                   // the posting call's begin; 0 = persistent and not started
        Bytes bytes;                   // persistent: what a start moves; else once
        bool is_persistent() const { return bytes != once; }
    };
    static constexpr Bytes once = ~Bytes{0};

    // Remembers a request. False if there was no place.
    bool put(const Request& request) {
        Request* place = &table_[place_of(request.handle)];
        Request& other = table_[place_of(request.handle) ^ 1];
        // MPI gives a completed request's handle out again: the newer meaning counts, wherever the older one lies.
        if (other.handle == request.handle || (place->handle != 0 && place->handle != request.handle)) [[unlikely]] place = &other;
        if (place->handle == 0) ++in_use_;
        else if (place->handle != request.handle) return false;
        *place = request;
        return true;
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
