// The fake library's two sides: what wrap/ is instantiated with, and what it finds behind it.
#include "tests/unit/fake_library.h"

#include <cstring>

#include "libmpiprof/wrap/wrap.h"

namespace mpiprof::test {

thread_local Script script;
Word index_of_communicator_7 = 7;

namespace {

struct Status {
    std::int64_t bytes;
};
constexpr Word status_ignore = 0;

// ---- rows ----

constexpr Call row(const char* name, Treatment treatment, Traffic traffic, SizeRule rule, int arity, const char* words,
                   std::uint16_t counter = 0) {
    return {name,
            Family::mpi,
            treatment,
            traffic,
            rule,
            false,
            static_cast<std::int8_t>(arity),
            counter,
            parse_roles(words, arity)};
}
constexpr Call rows[] = {
    row("FAKE_Send", Treatment::timed, Traffic::send, SizeRule::count_type, 4, "buf count type comm"),
    row("FAKE_Receive", Treatment::timed, Traffic::receive, SizeRule::received, 4, "count type comm status"),
    row("FAKE_Spread", Treatment::timed, Traffic::collective, SizeRule::none, 3, "counts n comm"),
    row("FAKE_Query", Treatment::counted, Traffic::none, SizeRule::none, 1, "comm", 0),
    row("FAKE_Free", Treatment::counted, Traffic::none, SizeRule::none, 1, "arg", 1),
    row("FAKE_Poll", Treatment::polled, Traffic::probe, SizeRule::none, 1, "comm", counter_of_polls),
    row("FAKE_Missing", Treatment::timed, Traffic::none, SizeRule::none, 1, "arg"),
};
constexpr std::size_t calls = static_cast<std::size_t>(FakeId::count);
static_assert(sizeof rows / sizeof rows[0] == calls);

// ---- the real functions ----

template <class... Words>
Word real(Words... words) {
    script.seen = {words...};
    script.calls += 1;
    if (script.inside) script.inside();
    return script.result;
}
Word real_send(Word buffer, Word count, Word type, Word comm) { return real(buffer, count, type, comm); }
Word real_receive(Word count, Word type, Word comm, Word status) {
    if (status != status_ignore) reinterpret_cast<Status*>(status)->bytes = script.arrives;
    return real(count, type, comm, status);
}
Word real_spread(Word counts, Word n, Word comm) { return real(counts, n, comm); }
Word real_query(Word comm) { return real(comm); }
Word real_send_fortran(Word buffer, Word count, Word type, Word comm, Word ierror) {
    if (ierror != 0) *reinterpret_cast<int*>(ierror) = script.ierror;
    return real(buffer, count, type, comm, ierror);
}

struct Known {
    const char* name;
    void* function;
};
const Known known[] = {
    {"FAKE_Send", reinterpret_cast<void*>(real_send)},          {"FAKE_Receive", reinterpret_cast<void*>(real_receive)},
    {"FAKE_Spread", reinterpret_cast<void*>(real_spread)},      {"FAKE_Query", reinterpret_cast<void*>(real_query)},
    {"FAKE_Free", reinterpret_cast<void*>(real_query)},         {"FAKE_Poll", reinterpret_cast<void*>(real_query)},
    {"fake_send_", reinterpret_cast<void*>(real_send_fortran)},
};

// ---- the library as wrap/ wants it ----

struct Fake : private wrap::LibraryDefaults {
    using LibraryDefaults::asks_itself, LibraryDefaults::is_own_code, LibraryDefaults::is_within_unseen;
    using LibraryDefaults::before_real, LibraryDefaults::after_real;
    using LibraryDefaults::begin_late, LibraryDefaults::may_be_quick, LibraryDefaults::missing;
    using LibraryDefaults::follow, LibraryDefaults::follow_unrecorded, LibraryDefaults::follows;
    using LibraryDefaults::hears_of_unrecorded, LibraryDefaults::unrecorded;
    using LibraryDefaults::looks_again;
    using LibraryDefaults::may_be_watched, LibraryDefaults::watches;
    using LibraryDefaults::may_be_watched_quickly;
    using LibraryDefaults::may_wait_first, LibraryDefaults::wait_first;

    using Id = FakeId;
    static constexpr std::uint16_t first_id = 0;
    static constexpr std::size_t calls = test::calls;
    static constexpr int spellings = 2;
    static constexpr Call row(FakeId id) { return rows[static_cast<std::size_t>(id)]; }
    static constexpr bool frees(FakeId id) { return id == FakeId::free; }
    static constexpr bool is_in_order(FakeId id) { return id == FakeId::spread; }
    template <FakeId, class Language>
    static void count_unrecorded(const Word*, Word) {
        script.in_order += 1;
    }

    template <int Spelling>
    static wrap::Real real(const char* name, Word) {
        script.lookups += 1;
        for (const Known& k : known)
            if (std::strcmp(k.name, name) == 0) return {k.function, nullptr};
        return {nullptr, nullptr};
    }
    static bool several() { return script.several; }
    static bool is_off() { return script.is_off; }
    static bool is_foreign(const wrap::Real&) { return script.is_foreign; }
    template <FakeId, class Language>
    static void before_free(Ledger&, const Word*) {
        script.freed += 1;
        runtime.forget_handles();
    }
    template <FakeId, class Language>
    static void free_unrecorded(const Word*, bool) {
        script.freed += 1;
    }

    template <class Language>
    static Meaning meaning(Ledger&, Word type, Word comm, std::int64_t) {
        script.questions += 1;
        const auto index = static_cast<std::uint16_t>(comm == 7 ? index_of_communicator_7 : comm);
        return {type == no_handle ? 1 : static_cast<std::uint64_t>(type), index};
    }

    template <FakeId I, class Language>
    struct Size;
};

struct Received : wrap::AsStored {
    static bool look(const CallInHand& hand, std::int64_t& seen) {
        seen = booking(hand).count;
        return !script.status_is_opaque;
    }
    static Word quick_type(const CallInHand&) { return no_handle; }
    static std::int64_t quick_count(const CallInHand&, std::int64_t seen) { return seen; }
    static Bytes quick_bytes(const CallInHand&, std::int64_t seen, std::uint64_t) { return static_cast<Bytes>(seen); }
    static Booking booking(const CallInHand& hand) {
        return {no_handle, reinterpret_cast<const Status*>(hand.status)->bytes};
    }
};

template <FakeId I, class Language>
struct Fake::Size {
    static constexpr Roles roles = row(I).roles;
    static constexpr bool can_be_quick = true, completes = false;
    using Booker = std::conditional_t<I == FakeId::receive, Received, wrap::AsStored>;

    template <class... Words>
    static void make_room(Ledger&, Words...) {}
    template <class... Words>
    [[gnu::always_inline]] static bool store(Ledger& ledger, Words&... args) {
        CallInHand& hand = ledger.hand;
        int position = 0;
        if constexpr (find(roles, Role::status) >= 0)
            ((position++ == find(roles, Role::status) && args == status_ignore
                  ? void(args = reinterpret_cast<Word>(hand.scratch))
                  : void()),
             ...);
        const Word words[] = {args..., 0};
        hand.type = no_handle;
        ledger.hand.set_comm(no_handle);
        hand.count = 0;
        if constexpr (find(roles, Role::comm) >= 0)
            ledger.hand.set_comm(Language::handle(words[find(roles, Role::comm)]));
        if constexpr (find(roles, Role::status) >= 0) hand.status = words[find(roles, Role::status)];
        if constexpr (find(roles, Role::type) >= 0) {
            hand.type = Language::handle(words[find(roles, Role::type)]);
            hand.count = Language::count(words[find(roles, Role::count)]);
        }
        return I != FakeId::spread;
    }
    static void measure(Ledger& ledger, const Word* words) {
        std::int64_t sum = 0;
        if constexpr (I == FakeId::spread)
            for (std::int64_t i = 0; i < Language::count(words[1]); ++i) sum += Language::count_at(words[0], i);
        ledger.hand.count = sum;
    }
};

CallInfo infos[calls];
char names[calls * 16];

}  // namespace

void forget_real_functions() { wrap::forget_functions<Fake>(); }

const Catalogue& fake_catalogue() {
    static constinit Catalogue catalogue{names, infos, static_cast<std::uint16_t>(calls), 3};
    std::size_t at = 0;
    for (std::size_t i = 0; i < calls; ++i) {
        infos[i] = {static_cast<std::uint16_t>(at),
                    rows[i].family,
                    rows[i].treatment,
                    rows[i].traffic,
                    rows[i].size_rule,
                    rows[i].counter};
        std::strcpy(names + at, rows[i].name);
        at += std::strlen(rows[i].name) + 1;
    }
    return catalogue;
}

}  // namespace mpiprof::test

using mpiprof::Word;
using mpiprof::test::Fake;
using mpiprof::test::FakeId;

#define WRAPPER(symbol, id, Spelling, Language, parameters, ...)                                      \
    namespace {                                                                                       \
    struct Text_##symbol {                                                                            \
        static const char* text() { return #symbol; }                                                 \
    };                                                                                                \
    }                                                                                                 \
    Word symbol parameters {                                                                          \
        return mpiprof::wrap::call<Fake, FakeId::id, Spelling, Language, Text_##symbol>(__VA_ARGS__); \
    }

using C = mpiprof::wrap::C<false>;
using Fortran = mpiprof::wrap::Fortran<false>;
WRAPPER(FAKE_Send, send, 0, C, (Word a, Word b, Word c, Word d), a, b, c, d)
WRAPPER(FAKE_Receive, receive, 0, C, (Word a, Word b, Word c, Word d), a, b, c, d)
WRAPPER(FAKE_Spread, spread, 0, C, (Word a, Word b, Word c), a, b, c)
WRAPPER(FAKE_Query, query, 0, C, (Word a), a)
WRAPPER(FAKE_Free, free, 0, C, (Word a), a)
WRAPPER(FAKE_Poll, poll, 0, C, (Word a), a)
WRAPPER(FAKE_Missing, missing, 0, C, (Word a), a)
WRAPPER(fake_send_, send, 1, Fortran, (Word a, Word b, Word c, Word d, Word e), a, b, c, d, e)
#undef WRAPPER
