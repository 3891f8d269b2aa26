// The profile's table of communicators, which the libraries share: cells name a communicator by its index here,
// whichever library made it. Record 0 stands for those that are not told apart.
#pragma once

#include "libmpiprof/format/arrivals.h"
#include "libmpiprof/format/collective_order.h"
#include "libmpiprof/record/rows.h"

namespace mpiprof {

class CommunicatorTable {
  public:
    static constexpr unsigned most = 1024;  // in a profile
    struct Slot {
        format::Communicator* record;  // to be filled; null: no room
        std::uint16_t index;           // 0: not told apart
    };
    // A slot for one more.
    Slot take(Image& image);
    // Of one that was never used, and is not any more.
    void give_back(const Slot& slot);

    // The record of a communicator, or one that stands for those that are not told apart.
    struct Counted : format::Communicator {
        void count(std::uint64_t word) {
            collectives += 1;
            order = format::order_after(order, word);
        }
        // The same of one that is kept elsewhere: what is counted is whole, for whoever reads meanwhile.
        void count_kept(std::uint64_t word) {
            order = format::order_after(order, word);
            __atomic_thread_fence(__ATOMIC_RELEASE);
            collectives += 1;
        }
        // Whether the times of the next call are to be kept.
        bool is_at_arrival() const { return collectives == next_arrival; }
        // One whose times are not known.
        void count_untimed(std::uint64_t word) {
            if (is_at_arrival()) next_arrival = format::arrival_after(collectives);
            count(word);
        }
    };
    Counted& at(std::uint16_t index) { return *at_[index]; }
    // Before at().
    void open() {
        nobody_.next_arrival = format::no_arrival;
        at_[0] = &nobody_;
    }

  private:
    Counted* at_[most] = {};
    Counted nobody_ = {};
    std::uint16_t given_back_[64] = {};
    unsigned given_back_count_ = 0;
    Lock lock_;
    Rows<format::Communicator, 16> rows_;
    unsigned used_ = 0;
};

// Ids are hashes of what all members know.
inline std::uint64_t hash_of_id(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t x = mix((a ^ mix(b + 1)) + (a >> 31));
    return x ^ x >> 32;
}

// What a library's room knows of the communicators that are alive, by handle (`Known::info.handle`). Guarded by its
// owner.
template <class Known>
class KnownCommunicators {
  public:
    Known* find(Word handle) {
        for (unsigned i = count_; i-- > 0;)  // the newest first
            if (known_[i].info.handle == handle) return &known_[i];
        return nullptr;
    }
    // One more, zero but for its handle. If there is no room the youngest gives way: it is learned again when it comes
    // back.
    Known& add(Word handle) {
        if (count_ == most) {
            --count_;
            has_lost_some_ = true;
        }
        Known& k = known_[count_++];
        k = {};
        k.info.handle = handle;
        return k;
    }
    // False: it was not known.
    bool forget(Word handle) {
        Known* k = find(handle);
        if (k) *k = known_[--count_];
        return k;
    }
    // Whether one that is alive may not be known any more.
    bool has_lost_some() const { return has_lost_some_; }
    Known* begin() { return known_; }
    Known* end() { return known_ + count_; }
    const Known* begin() const { return known_; }
    const Known* end() const { return known_ + count_; }

  private:
    static constexpr unsigned most = 1024;  // alive at the same time
    Known known_[most] = {};
    unsigned count_ = 0;
    bool has_lost_some_ = false;
};

}  // namespace mpiprof
