// The room of a pretend library, as docs/adding-a-library.md shows it: relay_put(buffer, bytes, peer) is timed,
// relay_rank() is counted. contract.py compiles it, once as it is and once for each hook that is missing or misspelt.
#include "libmpiprof/host/launch.h"
#include "libmpiprof/wrap/start.h"
#include "libmpiprof/wrap/wrap.h"

namespace mpiprof::relay {

inline constexpr std::uint16_t first_id = 700;
inline constexpr std::uint16_t first_counter = 345;
enum class Id : std::uint16_t { before_first = first_id - 1, put, rank, end };
constexpr Call counted(Call row, std::uint16_t counter) {
    row.counter = counter;
    return row;
}
inline constexpr Call table[] = {
    checked(Family::nccl, "relay_put", 3, Treatment::timed, Traffic::send, SizeRule::none, false, "buf arg dest"),
    counted(checked(Family::nccl, "relay_rank", 0, Treatment::counted, Traffic::none, SizeRule::none, false, ""),
            first_counter),
};

struct Relay : private wrap::LibraryDefaults {
    using LibraryDefaults::before_free, LibraryDefaults::free_unrecorded;
    using LibraryDefaults::before_real, LibraryDefaults::after_real, LibraryDefaults::unrecorded;
    using LibraryDefaults::count_unrecorded, LibraryDefaults::wait_first;
    using LibraryDefaults::follow, LibraryDefaults::follow_unrecorded;
    using LibraryDefaults::is_own_code, LibraryDefaults::is_within_unseen, LibraryDefaults::may_be_quick;
    using LibraryDefaults::measure, LibraryDefaults::watches, LibraryDefaults::looks_again;
    using LibraryDefaults::several, LibraryDefaults::is_foreign, LibraryDefaults::is_off, LibraryDefaults::missing;

    using Id = relay::Id;
    static constexpr std::uint16_t first_id = relay::first_id;
    static constexpr std::size_t calls = sizeof table / sizeof table[0];
    static constexpr int spellings = 1;
    static constexpr wrap::RowFacts facts_of(Id id) {
        return {static_cast<std::uint16_t>(id), table[static_cast<std::size_t>(id) - first_id]};
    }

    static wrap::Real real(int, const char* name, Word return_address) {
        return wrap::find_real(name, return_address, "relay_version\0");
    }
    // Nothing begins the use of this library: its first call does.
    static void begin_late(std::uint16_t, const void*) {
        if (runtime.prepare()) wrap::start_profile(world_without_mpi(0, 1, "Relay"), 0);
    }
    template <class Language>
    static Meaning meaning(Ledger&, Word, Word, std::int64_t) {
        return {1, 0};
    }
    template <class Language, class Row>
    [[gnu::always_inline]] static bool store(Row row, Ledger& ledger, Word* words) {
        ledger.hand.set_comm(no_handle);
        ledger.hand.type = no_handle;  // then the count is in bytes
        ledger.hand.count = row.facts.traffic == Traffic::send ? words[1] : 0;
        return true;
    }
    template <Id I, class Language>
    struct Size;
};

// The fast form: the same, of a row that the compiler knows.
template <Id I, class Language>
struct Relay::Size {
    static constexpr bool can_be_quick = true, completes = false;
    using Booker = wrap::WithoutComm<wrap::AsStored>;
    template <class... Words>
    [[gnu::always_inline]] static bool store(Ledger& ledger, Words&... args) {
        Word words[] = {args..., 0};
        return Relay::store<Language>(wrap::FixedRow<Relay, I>(), ledger, words);
    }
};

}  // namespace mpiprof::relay
