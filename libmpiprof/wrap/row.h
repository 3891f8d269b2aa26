// A row of a library as its wrappers read it: the fast form at compile time, the plain form at run time. What is
// written once for both (sizes, lives of handles) takes one of the two and reads `row.facts`. No pointers are in it:
// each would be a relocation in every process.
#pragma once

#include <array>
#include <utility>

#include "libmpiprof/calls/call.h"

namespace mpiprof::wrap {

struct RowFacts {
    std::uint16_t id;
    std::uint16_t counter;  // of a row that is counted or polled
    std::int8_t arity;      // of its C function
    Treatment treatment;
    Traffic traffic;
    SizeRule size_rule;
    std::array<std::int8_t, argument_roles> places;  // where its arguments stand, by their roles; -1: it has none

    // What its library does around its calls (library.h says what each hook is).
    bool frees = false;                   // it ends the life of a handle
    bool follows = false;                 // its success has consequences beyond its cell
    bool is_in_order = false;             // all who take part make such calls in one order, and they are counted
    bool may_wait_first = false;          // the user may put a barrier before it
    bool may_be_watched = false;          // more may be to be done around it than the clock and the cell
    bool may_be_watched_quickly = false;  // ... and then its calls take a fast form of their own
    bool hears_of_unrecorded = false;     // ... and of calls that are not recorded the library wants to hear
    bool asks_itself = false;             // the library asks this itself inside of its calls, through us

    constexpr RowFacts(std::uint16_t number, const Call& row)
        : id(number),
          counter(row.counter),
          arity(row.arity),
          treatment(row.treatment),
          traffic(row.traffic),
          size_rule(row.size_rule),
          places(places_of(row.roles)) {}
    // Nothing is done around its calls while recording is off.
    constexpr bool rests() const { return !frees && !follows && !is_in_order && !hears_of_unrecorded; }
    constexpr int at(Role role) const { return places[static_cast<std::size_t>(role)]; }
    constexpr bool has(Role role) const { return at(role) >= 0; }
};

template <class Library>
using FactsOf = decltype(Library::facts_of(typename Library::Id{}));

template <class Library, auto Id>
struct FixedRow {
    static constexpr bool is_fixed = true;
    static constexpr FactsOf<Library> facts = Library::facts_of(Id);
};

template <class Library, std::size_t... I>
constexpr std::array<FactsOf<Library>, sizeof...(I)> facts_of_rows(std::index_sequence<I...>) {
    return {Library::facts_of(static_cast<typename Library::Id>(Library::first_id + I))...};
}
// Those of a whole library, by their places in its table.
template <class Library>
inline constexpr auto all_facts = facts_of_rows<Library>(std::make_index_sequence<Library::calls>());

template <class Library>
struct AnyRow {
    static constexpr bool is_fixed = false;
    const FactsOf<Library>& facts;
    explicit AnyRow(std::uint16_t id) : facts(*at(id)) {}

  private:
    static const FactsOf<Library>* at(std::uint16_t id) {
        const FactsOf<Library>* facts = &all_facts<Library>[std::size_t{id} - Library::first_id];
        asm("" : "+r"(facts));  // else gcc 12 works its address out anew for each member: 15 of 190 instructions
        return facts;
    }
};

}  // namespace mpiprof::wrap
