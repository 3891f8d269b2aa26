// What the second half of a row does with what was stored: operations in groups, the order of a communicator's
// collectives, launches that the GPU is watched for; and how the size of a row is found. Used by symbols.cpp and by
// what else makes symbols of rows.
#pragma once

#include "libmpiprof/nccl/library.h"

namespace mpiprof::nccl {

// An operation in a group is counted there.
template <class Sized>
struct Enqueued : Sized {
    static bool quick_after(Ledger&, const Memo&, Bytes, Ticks) {
        group.operations += 1;
        return true;
    }
    static void after(Ledger&, Memo& memo, Bytes bytes, Ticks) {
        group.operations += 1;
        watch_enqueued(memo, bytes);
    }
};
// What NCCL's profiler interface cannot tell apart: see profiler.cpp.
template <class Sized, bool IsBcast>
struct EnqueuedBroadcast : Enqueued<Sized> {
    static void note() {
        if constexpr (IsBcast)
            group.bcasts += group.depth != 0;
        else
            group.broadcasts += 1;
    }
    static bool quick_after(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks) {
        if (!Enqueued<Sized>::quick_after(ledger, memo, bytes, ticks)) return false;  // then after() does it
        note();
        return true;
    }
    static void after(Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks) {
        Enqueued<Sized>::after(ledger, memo, bytes, ticks);
        note();
    }
};
// The end of the outermost group completes what was enqueued in it.
struct GroupEnded : wrap::Sizeless {
    static bool quick_after(Ledger&, const Memo&, Bytes, Ticks) { return group.launched == 0; }
    static void after(Ledger& ledger, Memo& memo, Bytes, Ticks) {
        ledger.books.add_completed(memo, static_cast<std::int64_t>(group.launched));
        if (group.is_watched) watch_ended(memo);
    }
};

// A collective that all members of its communicator enqueue in one order, with the same arguments. It is kept and
// counted there when it is enqueued, recorded or not.
struct Ordered {
    bool has_root = false, has_op = false;
    bool has_own_counts = false;  // that members give differently
};
constexpr Ordered ordered_of(Id id) {
    const Call row = row_of(id);
    return {.has_root = find(row.roles, Role::root) >= 0,
            .has_op = find(row.roles, Role::op) >= 0,
            .has_own_counts = row.size_rule == SizeRule::scounts_sum};
}
inline constexpr auto order_words = wrap::order_words_of(table);
inline std::uint64_t order_word_of(std::uint16_t call) { return order_words[call - first_id]; }

// As the call was given them; those that it has none of are left out.
struct Given {
    std::uint64_t word;
    std::uint32_t call;
    std::int64_t count;
    Word type;
    int op, root;
};
// Member by member, since what is copied as a whole is made on the stack first.
[[gnu::always_inline]] inline void keep(Ordered o, CommunicatorTable::Counted& communicator,
                                        format::EnqueuedCollective& kept, const Given& given, Ticks when,
                                        std::uint32_t site) {
    const std::uint64_t detail = format::collective_detail(
        o.has_own_counts ? 0 : static_cast<std::uint64_t>(given.count), static_cast<unsigned>(given.type),
        o.has_op ? format::reduction_of(static_cast<unsigned>(given.op)) : 0);
    const int root = o.has_root ? given.root : 0;
    kept.when = when;
    kept.detail = detail;
    kept.site = site;
    kept.root = root;
    kept.call = given.call;
    communicator.count_kept(given.word + static_cast<std::uint64_t>(std::int64_t{root}) + detail);
}
template <Ordered O, class Base>
struct InOrder : Base {
    static constexpr bool takes_order_word = true;
    [[gnu::always_inline]] static void keep_in_hand(Ledger& ledger, const Memo& memo, std::uint64_t word) {
        const CallInHand& hand = ledger.hand;
        CommunicatorTable::Counted& communicator = ledger.counted(memo);
        keep(O, communicator, ledger.next_enqueued(memo, communicator),
             {word, memo.cell->call, hand.count, hand.type, hand.op, hand.peer()}, hand.since(), memo.cell->site);
    }
    [[gnu::always_inline]] static bool quick_after(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks,
                                                   std::uint64_t word) {
        if (!ledger.has_room_for_enqueued(memo) || !Base::quick_after(ledger, memo, bytes, ticks)) [[unlikely]]
            return false;  // then after() does it
        keep_in_hand(ledger, memo, word);
        return true;
    }
    [[gnu::always_inline]] static bool quick_after(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks) {
        return quick_after(ledger, memo, bytes, ticks, order_word_of(memo.cell->call));
    }
    static void after(Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks) {
        after(ledger, memo, bytes, ticks, order_word_of(memo.cell->call));
    }
    static void after(Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks, std::uint64_t word) {
        if (!ledger.has_room_for_enqueued(memo)) [[unlikely]]
            ledger.make_room_for_enqueued(memo);
        keep_in_hand(ledger, memo, word);
        Base::after(ledger, memo, bytes, ticks);
    }
};

// A message is counted with the rank that it goes to or comes from when it is enqueued, recorded or not: there it has
// to meet one that fits, and nothing else shows which of the two is missing.
[[gnu::always_inline]] inline void count_message(bool is_sent, format::EnqueuedPeer& with, std::uint64_t collectives,
                                                 std::uint32_t site) {
    (is_sent ? with.sent_after : with.received_after) = collectives;
    (is_sent ? with.sent_from : with.received_from) = site;
    (is_sent ? with.sent : with.received) += 1;
}
template <bool IsSent, class Base>
struct WithPeer : Base {
    [[gnu::always_inline]] static void count(Ledger& ledger, const Memo& memo, format::EnqueuedPeer& with) {
        count_message(IsSent, with, ledger.counted(memo).collectives, memo.cell->site);
    }
    [[gnu::always_inline]] static bool quick_after(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks) {
        format::EnqueuedPeer* const with = ledger.enqueued_with(memo, ledger.hand.peer());
        if (!with || !Base::quick_after(ledger, memo, bytes, ticks)) [[unlikely]]
            return false;  // then after() does it
        count(ledger, memo, *with);
        return true;
    }
    static void after(Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks) {
        ledger.make_room_for_messages(memo);
        if (format::EnqueuedPeer* const with = ledger.enqueued_with(memo, ledger.hand.peer()))
            count(ledger, memo, *with);
        Base::after(ledger, memo, bytes, ticks);
    }
};

// What is launched has to be told to gpu/ behind the real call, and then what it was.
template <class Booker>
struct Watched : Booker {
    static constexpr bool is_never_quick = true;
    static void after_real(Word result) {
        if (gpu::lone.is_in_hand && static_cast<int>(result) == success) return;  // enqueued: nothing is left to do
        if (gpu::launches.is_on()) Nccl::watch_launched(result);
    }
    template <class... OrderWord>
    static bool quick_after(Ledger&, const Memo&, Bytes, Ticks, OrderWord...) {
        return false;
    }
};

// The bytes that are given for each of so many ranks.
inline std::int64_t sum_of(Word counts, int size) {
    std::uint64_t sum = 0;
    for (int i = 0; i < size; ++i) sum += reinterpret_cast<const std::size_t*>(counts)[i];
    return static_cast<std::int64_t>(sum);
}

// What the second half needs, into the ledger's hand. False: the size of the communicator is not at hand.
template <class Row>
[[gnu::always_inline]] inline bool store_arguments(Row row, Ledger& ledger, const Word* words) {
    const Facts& facts = row.facts;
    CallInHand& hand = ledger.hand;
    hand.set_comm(facts.has(Role::comm) ? words[facts.at(Role::comm)] : no_handle);
    if (facts.size_rule != SizeRule::none) {
        hand.type = static_cast<int>(words[facts.at(Role::type)]);
        if (facts.has(Role::count)) hand.count = words[facts.at(Role::count)];
    }
    if (facts.has(Role::root)) hand.set_peer(static_cast<int>(words[facts.at(Role::root)]));
    if (facts.traffic == Traffic::send || facts.traffic == Traffic::receive)
        hand.set_peer(static_cast<int>(words[facts.peer]));
    if (facts.has(Role::op)) hand.op = static_cast<int>(words[facts.at(Role::op)]);
    if (facts.size_rule != SizeRule::count_times_size && facts.size_rule != SizeRule::scounts_sum) return true;
    const mpiprof::Group* known = ledger.groups.find(words[facts.at(Role::comm)]);
    if (!known) [[unlikely]]
        return false;
    if (facts.size_rule == SizeRule::count_times_size)
        hand.count *= known->size;
    else
        hand.count = sum_of(words[facts.at(Role::scounts)], known->size);
    return true;
}

template <class Language, class Row>
bool Nccl::store(Row row, Ledger& ledger, Word* words) {
    return store_arguments(row, ledger, words);
}
// After the real call has returned with success.
template <class Language, class Row>
void Nccl::measure(Row row, Ledger& ledger, const Word* words) {
    const Facts& facts = row.facts;
    if (facts.size_rule != SizeRule::count_times_size && facts.size_rule != SizeRule::scounts_sum) return;
    const CommInfo info = library.communicators.find(runtime.records(), words[facts.at(Role::comm)]);
    if (info.size > 0) ledger.groups.remember({info.handle, info.rank, info.size, -1, -1});
    ledger.hand.count = facts.size_rule == SizeRule::scounts_sum ? sum_of(words[facts.at(Role::scounts)], info.size)
                                                                 : words[facts.at(Role::count)] * info.size;
}

template <Id I, class Language>
struct Nccl::Size {
    static constexpr Call row = row_of(I);
    static constexpr bool can_be_quick = true, completes = false;
    static constexpr std::uint64_t order_word = format::order_word(row.name);
    using Sized = std::conditional_t<row.size_rule == SizeRule::none, wrap::Sizeless, wrap::AsStored>;
    static constexpr bool is_broadcast = I == Id::Bcast || I == Id::Broadcast;
    using Launched = std::conditional_t<is_broadcast, EnqueuedBroadcast<Sized, (I == Id::Bcast)>, Enqueued<Sized>>;
    using Message = std::conditional_t<is_message(I), WithPeer<row.traffic == Traffic::send, Launched>, Launched>;
    using Operation = std::conditional_t<is_ordered(row), InOrder<ordered_of(I), Launched>, Message>;
    using Whole = std::conditional_t<I == Id::GroupEnd, GroupEnded,
                                     std::conditional_t<is_operation(row.traffic), Operation, Sized>>;
    using Booker = std::conditional_t<(find(row.roles, Role::comm) >= 0), Whole, wrap::WithoutComm<Whole>>;
    using Watched = nccl::Watched<Booker>;

    template <class... Words>
    [[gnu::always_inline]] static bool store(Ledger& ledger, Words&... args) {
        const Word words[sizeof...(Words) + 1] = {args..., 0};
        return store_arguments(wrap::FixedRow<Nccl, I>(), ledger, words);
    }
};

template <class Language, class Row>
[[gnu::noinline]] void Nccl::count_unrecorded(Row row, const Word* words, Word result) {
    const Facts& facts = row.facts;
    if (!runtime.is_recording() || Language::failed(result, CallInHand{})) return;
    const CommInfo info = library.communicators.find(runtime.records(), words[facts.at(Role::comm)]);
    Records& records = runtime.records();
    CommunicatorTable::Counted& communicator = records.communicators.at(info.index);
    if (facts.traffic == Traffic::send || facts.traffic == Traffic::receive) {
        EnqueuedPeers& messages = records.enqueued_peers;
        messages.make_room(records.image, info.index, communicator);
        format::EnqueuedPeer* const with = messages.with(info.index, static_cast<int>(words[facts.peer]));
        if (with) count_message(facts.traffic == Traffic::send, *with, communicator.collectives, 0);
        return;
    }
    const auto given = [&](Role role) { return facts.has(role) ? words[facts.at(role)] : Word{0}; };
    const bool has_block_of_each = facts.size_rule == SizeRule::count_times_size;
    records.enqueued.make_room(records.image, info.index, communicator);
    keep({facts.has(Role::root), facts.has(Role::op), facts.size_rule == SizeRule::scounts_sum}, communicator,
         records.enqueued.next(info.index, communicator),
         {order_word_of(facts.id), facts.id, given(Role::count) * (has_block_of_each ? info.size : 1),
          given(Role::type), static_cast<int>(given(Role::op)), static_cast<int>(given(Role::root))},
         0, 0);
}

}  // namespace mpiprof::nccl
