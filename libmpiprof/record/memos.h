// A thread's memos, and what it knows of the handles that they hold. Part of the ledger, whose hot path asks here
// first: the first slot of a call is by where it was called alone; what changes there from call to call, a size or a
// caller, has a second one, in a table of its own, so that it takes nobody's first. When a handle ends, memos that hold
// it keep what they know of their place in the program. The thread alone uses it.
#pragma once

#include "libmpiprof/record/frame_rule.h"
#include "libmpiprof/record/growing_pairs.h"
#include "libmpiprof/record/handles.h"
#include "libmpiprof/record/memo.h"

namespace mpiprof {

class Memos {
  public:
    void open() {
        peers_[first_memos].peer = MemoPeer::no_rank;
        seconds_.open();
    }

    // ---- hot ----
    // Where the first memo of a call lies, as an offset into their partners.
    std::size_t offset_of(std::uint64_t key) const {
        std::size_t at = short_hash<memo_bits>(key) * sizeof(MemoPeer);
        asm("" : "+r"(at));  // a compiler that knows how it was found finds it anew for whatever lies there
        return at;
    }
    Memo& at(std::size_t offset) {
        return *reinterpret_cast<Memo*>(reinterpret_cast<char*>(memos_) + offset * (sizeof(Memo) / sizeof(MemoPeer)));
    }
    const MemoPeer& peer_at(std::size_t offset) const {
        return *reinterpret_cast<const MemoPeer*>(reinterpret_cast<const char*>(peers_) + offset);
    }
    // Second memos share one slot, where nobody is remembered.
    static constexpr std::size_t no_offset() { return first_memos * sizeof(MemoPeer); }
    Memo& first(std::uint64_t key) { return memos_[short_hash<memo_bits>(key)]; }
    // The second memo that knows a call of the same key as this first one; null: none does.
    Memo* second(const Memo& first, const Word* frame, std::uint16_t communicator, std::uint8_t bin) {
        Memo* m = seconds_.slots(second_hash(first.key, first, frame, communicator, bin));
        if (is_same_place(*m, first.key, frame, communicator, bin)) [[likely]]
            return m;
        return is_same_place(m[1], first.key, frame, communicator, bin) ? m + 1 : nullptr;
    }
    // The first slot of this call is another call's, which may not be made any more: now and then it is left to
    // whoever asks. True: known() will take it.
    bool takes_turn(std::uint64_t key) {
        constexpr unsigned calls_a_turn = 64;
        if (++disputed_ % calls_a_turn != 0) [[likely]]
            return false;
        first(key).key = no_key;
        return true;
    }
    // Whether the callers are those that this memo, of the same return address, was made for. Another frame may be of
    // other callers, or the same ones deeper in a recursion: it is looked into, and has a memo of its own.
    static bool is_called_alike(const Memo& m, const Word* frame) {
        if (m.frame != frame) [[unlikely]]
            return false;
        if (!compares_words) return true;
        return lower_half(above(frame, m.at[0])) == m.word[0] && lower_half(above(frame, m.at[1])) == m.word[1];
    }
    static bool hit(const Memo& m, std::uint64_t key, Word type, Word comm) {
        return m.key == key && m.type == type && m.comm == comm;
    }

    // ---- slow ----
    // The memo of a call whose handles have this meaning: the one that hits, else null.
    Memo* known(std::uint64_t key, Word type, Word comm, const Word* frame, const Meaning& meaning, Bytes bytes);
    // One of the slots of a call that has none, not valid yet.
    Memo& take(std::uint64_t key, const Word* frame, const Meaning& meaning, Bytes bytes);
    // The first memo of a call's key, if it was made for the same callers; else null.
    const Memo* first_of_place(std::uint64_t key, const Word* frame) {
        const Memo& m = first(key);
        return m.key == key && is_called_alike(m, frame) ? &m : nullptr;
    }
    bool is_first(const Memo& m) const {
        return reinterpret_cast<std::uintptr_t>(&m) - reinterpret_cast<std::uintptr_t>(memos_) < sizeof memos_;
    }
    // The lower half of a word above the frame, where these are compared.
    static std::uint32_t word_above(const Word* frame, std::uint16_t at) {
        return compares_words ? lower_half(above(frame, at)) : 0;
    }
    // From now on the first memo of a place holds these handles: a call with the same ones asks for nothing.
    void hold(Memo& first, Word type, Word comm, const Meaning& meaning);
    // Nobody is remembered in its slot: it may become another call's.
    void forget_peer(const Memo& m) { peer_of(m) = {MemoPeer::no_rank, nullptr}; }
    void remember_peer(const Memo& m, int peer, format::Peer* known) { peer_of(m) = {peer, known}; }
    // All of them, and all handles.
    void forget();

    // ---- handles ----
    // Few: what has lost its slot is asked for again, and with as many more a thread would take a page more.
    using Types = Handles<5>;
    using Comms = Handles<4>;
    // What is known of a C handle; null: it is to be asked for, and learned.
    Types::Known* known_type(Word type) { return types_.find(type); }
    Comms::Known* known_comm(Word comm) { return comms_.find(comm); }
    Types::Known* learn_type(Word type, std::uint64_t bytes);
    Comms::Known* learn_comm(Word comm, std::uint16_t index);
    std::uint8_t slot_of_type(Word type) const { return types_.slot(type); }
    std::uint8_t slot_of_comm(Word comm) const { return comms_.slot(comm); }
    // It ended.
    void forget_type(Word type) {
        if (const std::uint8_t slot = types_.slot(type); types_.at(slot).handle == type) [[unlikely]]
            release_type(slot);
    }
    void forget_comm(Word comm) {
        if (const std::uint8_t slot = comms_.slot(comm); comms_.at(slot).handle == comm) release_comm(slot);
    }

  private:
    static constexpr unsigned memo_bits = 8;
    static constexpr unsigned first_memos = 1u << memo_bits;
    static constexpr bool compares_words = MPIPROF_HAS_OWN_UNWINDER;
    // At 0 lies the call's own return address, or where that is in a register, a word of our own frame.
    static Word above(const Word* frame, std::uint16_t at) { return !returns_by_register || at != 0 ? frame[at] : 0; }
    // What differs between callers; where the next but one lies is known below the first memo's own caller only.
    static std::uint64_t caller_part(const Memo& first, const Word* frame) {
        const Word caller = above(frame, first.at[0]);
        const Word next = lower_half(caller) == first.word[0] ? above(frame, first.at[1]) : 0;
        return static_cast<std::uint64_t>(caller + next * 2);
    }
    static std::uint64_t second_hash(std::uint64_t key, const Memo& first, const Word* frame,
                                     std::uint16_t communicator, std::uint8_t bin) {
        std::uint64_t x = key + std::uint64_t{bin} * 8 + std::uint64_t{communicator} * 512;
        if (first.frame == frame && first.key == key)
            x += caller_part(first, frame);
        else
            x += lower_half(frame) * 5u;
        return x;
    }
    // Whether a memo knows this call by its place, whatever its handles.
    static bool is_same_place(const Memo& m, std::uint64_t key, const Word* frame, std::uint16_t communicator,
                              std::uint8_t bin) {
        return m.key == key && m.bin == bin && is_called_alike(m, frame) && m.cell->communicator == communicator;
    }
    static bool is_of(const Memo& m, std::uint64_t key, const Word* frame, const Meaning& meaning, Bytes bytes) {
        return is_same_place(m, key, frame, meaning.communicator, hot_bin(bytes)) && m.cell->buffer == meaning.buffer;
    }
    // Callers are told apart by where they lie below the first memo's frame. If that is another one than this, of which
    // there are more callers than two, these take each other's slots: now and then the first slot is left to one of
    // them.
    bool takes_first_of_others(const Memo& first, const Word* frame, std::uint64_t hash) {
        constexpr unsigned calls_a_turn = 16;
        const Memo* const two = seconds_.slots(hash);
        const auto is_this = [&](const Memo& m) { return m.key == first.key && m.frame == frame; };
        return first.frame != frame && is_this(two[0]) && is_this(two[1]) && ++crowded_ % calls_a_turn == 0;
    }
    MemoPeer& peer_of(const Memo& m) { return peers_[is_first(m) ? &m - memos_ : std::ptrdiff_t{first_memos}]; }
    void release_type(std::uint8_t slot);
    void release_comm(std::uint8_t slot);

    unsigned learned_ = 0, disputed_ = 0, crowded_ = 0;
    // Without initialisers: its owner lies in zero pages, which stay untouched.
    Types types_;
    Comms comms_;
    Memo memos_[first_memos];
    // Of calls that have another size, communicator, caller or depth of recursion than the first memo of their place in
    // the program. They hold no handle, so that no handle's end concerns them.
    GrowingPairs<Memo, 128, 4096> seconds_;
    MemoPeer peers_[first_memos + 1];
    // Where Handles know what a first memo holds. Not told by what it holds: Fortran's handle is another word than the
    // C handle that they know.
    struct HeldAt {
        std::uint8_t type, comm;
    };
    HeldAt held_at_[first_memos];
};

// The first slot unless it is taken; of a first and second ones that other calls have, each in its turn: rivals end up
// in slots of their own.
inline Memo& Memos::take(std::uint64_t key, const Word* frame, const Meaning& meaning, Bytes bytes) {
    Memo* m = &first(key);
    if (m->key != no_key) {
        const std::uint64_t hash = second_hash(key, *m, frame, meaning.communicator, hot_bin(bytes));
        const bool takes_second =
            m->key == key ? !takes_first_of_others(*m, frame, hash) : seconds_.has_room(hash) || ++learned_ % 2 == 0;
        if (takes_second) m = &seconds_.take(hash);
    }
    m->key = no_key;  // not valid while half filled: a fork or a longjmp out of here must not leave a wrong entry
    m->frame = frame;
    return *m;
}

}  // namespace mpiprof
