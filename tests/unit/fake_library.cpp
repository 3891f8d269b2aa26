// The fake library's two sides: what wrap/ is instantiated with, and what it finds behind it.
#include "tests/unit/fake_library.h"

#include <cstring>
#include <utility>

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
    using LibraryDefaults::before_real, LibraryDefaults::after_real, LibraryDefaults::unrecorded;
    using LibraryDefaults::begin_late, LibraryDefaults::may_be_quick, LibraryDefaults::missing;
    using LibraryDefaults::follow, LibraryDefaults::follow_unrecorded;
    using LibraryDefaults::is_own_code, LibraryDefaults::is_within_unseen;
    using LibraryDefaults::looks_again, LibraryDefaults::watches, LibraryDefaults::wait_first;

    using Id = FakeId;
    static constexpr std::uint16_t first_id = 0;
    static constexpr std::size_t calls = test::calls;
    static constexpr int spellings = 2;
    static constexpr wrap::RowFacts facts_of(FakeId id) {
        wrap::RowFacts facts(static_cast<std::uint16_t>(id), rows[static_cast<std::size_t>(id)]);
        facts.frees = id == FakeId::free;
        facts.is_in_order = id == FakeId::spread;
        return facts;
    }
    template <class Language, class Row>
    static void count_unrecorded(Row, const Word*, Word) {
        script.in_order += 1;
    }

    static wrap::Real real(int, const char* name, Word) {
        script.lookups += 1;
        if (const auto interrupt = std::exchange(script.while_looked_for, nullptr)) interrupt();
        for (const Known& k : known)
            if (std::strcmp(k.name, name) == 0) return {k.function, nullptr};
        return {nullptr, nullptr};
    }
    static bool several() { return script.several; }
    static bool is_off() { return script.is_off; }
    static bool is_foreign(const wrap::Real&) { return script.is_foreign; }
    template <class Language, class Row>
    static void before_free(Row, Ledger&, const Word*) {
        script.freed += 1;
        runtime.forget_handles();
    }
    template <class Language, class Row>
    static void free_unrecorded(Row, const Word*, bool) {
        script.freed += 1;
    }

    template <class Language>
    static Meaning meaning(Ledger&, Word type, Word comm, std::int64_t) {
        script.questions += 1;
        const auto index = static_cast<std::uint16_t>(comm == 7 ? index_of_communicator_7 : comm);
        return {type == no_handle ? 1 : static_cast<std::uint64_t>(type), index};
    }

    template <class Language, class Row>
    [[gnu::always_inline]] static bool store_words(Row row, Ledger& ledger, const Word* words) {
        const wrap::RowFacts& facts = row.facts;
        CallInHand& hand = ledger.hand;
        hand.type = no_handle;
        hand.count = 0;
        hand.set_comm(facts.has(Role::comm) ? Language::handle(words[facts.at(Role::comm)]) : no_handle);
        if (facts.has(Role::status)) hand.status = words[facts.at(Role::status)];
        if (facts.has(Role::type)) {
            hand.type = Language::handle(words[facts.at(Role::type)]);
            hand.count = Language::count(words[facts.at(Role::count)]);
        }
        return !facts.has(Role::counts);
    }
    template <class Language, class Row>
    static bool store(Row row, Ledger& ledger, Word* words) {
        if (row.facts.has(Role::status))
            if (Word& status = words[row.facts.at(Role::status)]; status == status_ignore)
                status = reinterpret_cast<Word>(ledger.hand.scratch);
        return store_words<Language>(row, ledger, words);
    }
    template <class Language, class Row>
    static void measure(Row row, Ledger& ledger, const Word* words) {
        std::int64_t sum = 0;
        if (row.facts.has(Role::counts))
            for (std::int64_t i = 0; i < Language::count(words[1]); ++i) sum += Language::count_at(words[0], i);
        ledger.hand.count = sum;
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
    using Row = wrap::FixedRow<Fake, I>;
    static constexpr bool can_be_quick = true, completes = false;
    using Booker = std::conditional_t<I == FakeId::receive, Received, wrap::AsStored>;

    template <class... Words>
    [[gnu::always_inline]] static bool store(Ledger& ledger, Words&... args) {
        int position = 0;
        ((position++ == Row::facts.at(Role::status) && args == status_ignore
              ? void(args = reinterpret_cast<Word>(ledger.hand.scratch))
              : void()),
         ...);
        const Word words[] = {args..., 0};
        return store_words<Language>(Row(), ledger, words);
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
