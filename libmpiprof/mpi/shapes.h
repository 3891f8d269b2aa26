// What a row is behind the real call: rows of one shape, in whatever language, share the code of their second half.
// Answers at compile time alone. Used by sizes.h.
#pragma once

#include "libmpiprof/mpi/bookers.h"
#include "libmpiprof/mpi/peers.h"

namespace mpiprof::mpi {

struct Shape {
    // How its bytes are booked: as stored, but for these.
    enum class Sized : std::uint8_t { none, stored, received, averaged, exchanged } sized = Sized::stored;
    bool posts = false;  // it leaves a request behind
    bool completes = false;
    Completion completion{};  // where it completes requests
    Partners partners{};
    bool is_ordered = false;
    bool has_root = false;  // where it is ordered
    bool has_comm = false;
};

constexpr Shape::Sized sized_of(Id id) {
    const SizeRule rule = rule_of(id);
    if (rule == SizeRule::none) return Shape::Sized::none;
    if (rule == SizeRule::received) return Shape::Sized::received;
    if (is_mean(rule)) return Shape::Sized::averaged;
    if (exchanges(rule) && has(id, Role::status)) return Shape::Sized::exchanged;
    return Shape::Sized::stored;
}

constexpr Shape shape_of(Id id) {
    const Facts facts(id);
    Shape shape{.sized = sized_of(id),
                .posts = facts.posts,
                .completes = facts.completes,
                .partners = partners_of(id),
                .is_ordered = facts.is_in_order,
                .has_comm = facts.has(Role::comm)};
    if (shape.completes) shape.completion = completion_of(id);
    shape.has_root = shape.is_ordered && facts.has(Role::root);
    return shape;
}

// The Booker of a shape, from the inside out: each function adds what its part of the shape asks for.
template <Shape S, class Language>
constexpr auto sized_booker() {
    if constexpr (S.sized == Shape::Sized::none)
        return wrap::Sizeless{};
    else if constexpr (S.sized == Shape::Sized::received)
        return Received<Language>{};
    else if constexpr (S.sized == Shape::Sized::averaged)
        return Averaged{};
    else if constexpr (S.sized == Shape::Sized::exchanged)
        return Exchanged{};
    else
        return wrap::AsStored{};
}
template <Shape S, class Language>
constexpr auto request_booker() {
    if constexpr (S.posts)
        return Posting<Language, decltype(sized_booker<S, Language>())>{};
    else if constexpr (S.completes)
        return Completing<S.completion, Language>{};
    else
        return sized_booker<S, Language>();
}
template <Shape S, class Language>
constexpr auto ordered_booker() {
    using Base = decltype(with_partners<S.partners, Language, decltype(request_booker<S, Language>())>());
    if constexpr (S.is_ordered)
        return InOrder<S.has_root, Language, Base>{};
    else
        return Base{};
}
template <Shape S, class Language>
constexpr auto booker() {
    using Base = decltype(ordered_booker<S, Language>());
    if constexpr (S.has_comm)
        return Base{};
    else
        return wrap::WithoutComm<Base>{};
}
template <Shape S, class Language>
using BookerOf = decltype(booker<S, Language>());

}  // namespace mpiprof::mpi
