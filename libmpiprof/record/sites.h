// Call sites of this rank: return address -> site id, stored as module + build-id + offset so that the same place in the
// program is the same site on every rank, whatever ASLR did. One per process, shared by its threads.
// Called once per new (address, call, type, communicator), never on the hot path; the reporter symbolises.
#pragma once

#include "libmpiprof/record/image.h"

namespace mpiprof {

class Sites {
  public:
    // Site id of the call that returns to `address`; 0 when the table is full (the drop counter says so).
    std::uint32_t find(Image& image, Word address);

  private:
    struct Known {
        Word address;
        std::uint32_t site;
    };
    std::uint32_t add_locked(Image& image, Word address);
    format::Frame frame_of(Image& image, Word address);
    bool remember(Word address, std::uint32_t site);
    bool grow();

    Lock lock_;
    Known* known_ = nullptr;  // open addressing, at most half full
    std::uint32_t capacity_ = 0;
    std::uint32_t used_ = 0;
    std::uint32_t sites_ = 0;   // published so far; ids begin at 1
    std::uint32_t frames_ = 0;
    std::uint32_t modules_ = 0;
    static constexpr std::uint32_t max_modules = 256;
    struct Range {
        std::uint64_t base;
        std::uint64_t end;
    };
    Range modules_seen_[max_modules] = {};
    format::Table* site_table_ = nullptr;
    format::Table* frame_table_ = nullptr;
    format::Table* module_table_ = nullptr;
};

}  // namespace mpiprof
