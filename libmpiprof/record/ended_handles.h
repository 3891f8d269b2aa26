// The handles whose lives ended lately, for the other threads of the process: whoever ends or makes one publishes it
// here before the real call, and each thread forgets what it knew of it before its next call is booked. Read without a
// lock; a thread that has missed too many is told so. Knows no MPI, and keeps no handle for itself.
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof {

enum class HandleKind : std::uint8_t { type, communicator, window };

// A handle as both languages spell it, `fortran` by Language::group_key() where that matters. What is none is 0.
struct EndedHandle {
    HandleKind kind;
    Word c, fortran;
};

class EndedHandles {
  public:
    std::uint64_t count() const { return __atomic_load_n(&count_, __ATOMIC_ACQUIRE); }

    // By one thread at a time.
    void publish(const EndedHandle& ended) {
        Entry& entry = entries_[count_ % kept];
        // Begun before a word changes: a reader that was overtaken meets the new word and sees it.
        __atomic_store_n(&begun_, count_ + 1, __ATOMIC_RELAXED);
        __atomic_store_n(&entry.kind, static_cast<Word>(ended.kind), __ATOMIC_RELEASE);
        __atomic_store_n(&entry.c, ended.c, __ATOMIC_RELEASE);
        __atomic_store_n(&entry.fortran, ended.fortran, __ATOMIC_RELEASE);
        __atomic_store_n(&count_, count_ + 1, __ATOMIC_RELEASE);
    }
    // Hands on what ended since `seen`, which is brought up to date. False: it was too much, all may have ended.
    template <class End>
    bool since(std::uint64_t& seen, End end) const {
        const std::uint64_t now = count();
        for (; seen != now; ++seen) {
            const Entry& entry = entries_[seen % kept];
            const EndedHandle ended{static_cast<HandleKind>(__atomic_load_n(&entry.kind, __ATOMIC_ACQUIRE)),
                                    __atomic_load_n(&entry.c, __ATOMIC_ACQUIRE),
                                    __atomic_load_n(&entry.fortran, __ATOMIC_ACQUIRE)};
            if (__atomic_load_n(&begun_, __ATOMIC_RELAXED) - seen > kept) {
                seen = now;
                return false;
            }
            end(ended);
        }
        return true;
    }

    // Which threads may know a datatype: before one asks for its size, it says so. Several handles share a place, so
    // that the answer may be yes for nothing. Either the asking thread finds the new size, or the one that made the
    // type finds the asking one: hence the total order.
    void note_holder(Word type, std::uint32_t thread) {
        std::uint16_t& holder = holder_of(type);
        const std::uint16_t mine = name_of(thread);
        std::uint16_t before = __atomic_load_n(&holder, __ATOMIC_RELAXED);
        if (before == mine || before == several) return;
        if (before != nobody ||
            !__atomic_compare_exchange_n(&holder, &before, mine, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            __atomic_store_n(&holder, several, __ATOMIC_SEQ_CST);
    }
    // `thread` may be 0, which no thread is.
    bool may_be_held_by_others(Word type, std::uint32_t thread) {
        const std::uint16_t holder = __atomic_load_n(&holder_of(type), __ATOMIC_SEQ_CST);
        return holder != nobody && (holder == several || holder != name_of(thread));
    }

  private:
    static constexpr unsigned kept = 64, holder_bits = 10;
    static constexpr std::uint16_t nobody = 0, several = 0xffff;
    static std::uint16_t name_of(std::uint32_t thread) {
        return thread < several ? static_cast<std::uint16_t>(thread) : several;
    }
    std::uint16_t& holder_of(Word type) {
        return holders_[mix(static_cast<std::uint64_t>(type)) >> (64 - holder_bits)];
    }
    struct Entry {
        Word kind, c, fortran;
    };
    std::uint64_t begun_ = 0, count_ = 0;
    Entry entries_[kept] = {};
    std::uint16_t holders_[1u << holder_bits] = {};
};

}  // namespace mpiprof
