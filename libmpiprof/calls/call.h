// What a call is: the vocabulary in which the rows of mpi/calls.def and nccl/calls.def are written, and the
// constexpr reading of a row's argument words. wrap/ turns rows into symbols; nothing here runs per call.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "libmpiprof/format/layout.h"

namespace mpiprof {

using format::BusRule;
using format::Family;
using format::SizeRule;
using format::Traffic;
using format::Treatment;

inline constexpr int max_arguments = 13;  // MPI_Rget_accumulate

// Words that belong together stand on one line.
// clang-format off
// What an argument is. Only what some rule uses has a word of its own; the rest is `arg`.
enum class Role : std::uint8_t {
    none,
    buf, sbuf, rbuf,               // choice buffers
    count, scount, rcount,         // one number of elements
    counts, scounts, rcounts,      // an array of them
    type, stype, rtype,            // datatype handles
    types, stypes, rtypes,         // arrays of datatype handles
    dest, source, root, target,    // ranks (target: of a window)
    comm, win, file, message,      // handles
    request, requests, n,          // one request, an array of `n` of them
    newrequest,                    // out: the request that the call starts
    status, statuses,
    index, indices, outcount, flag,
    partitions,
    op,                            // how NCCL reduces; MPI's are `arg`
    newcomm, newwin, newfile, newtype,  // out: the object that the call makes
    str,                           // a character argument: Fortran passes its length as an extra word
    arg,
};

struct RoleWord {
    std::string_view text;
    Role role;
};
inline constexpr RoleWord role_words[] = {
    {"buf", Role::buf}, {"sbuf", Role::sbuf}, {"rbuf", Role::rbuf},
    {"count", Role::count}, {"scount", Role::scount}, {"rcount", Role::rcount},
    {"counts", Role::counts}, {"scounts", Role::scounts}, {"rcounts", Role::rcounts},
    {"type", Role::type}, {"stype", Role::stype}, {"rtype", Role::rtype},
    {"types", Role::types}, {"stypes", Role::stypes}, {"rtypes", Role::rtypes},
    {"dest", Role::dest}, {"source", Role::source}, {"root", Role::root}, {"target", Role::target},
    {"comm", Role::comm}, {"win", Role::win}, {"file", Role::file}, {"message", Role::message},
    {"request", Role::request}, {"requests", Role::requests}, {"n", Role::n}, {"newrequest", Role::newrequest},
    {"status", Role::status}, {"statuses", Role::statuses},
    {"index", Role::index}, {"indices", Role::indices}, {"outcount", Role::outcount}, {"flag", Role::flag},
    {"partitions", Role::partitions}, {"op", Role::op},
    {"newcomm", Role::newcomm}, {"newwin", Role::newwin}, {"newfile", Role::newfile},
    {"newtype", Role::newtype},
    {"str", Role::str}, {"arg", Role::arg},
};
// clang-format on

using Roles = std::array<Role, max_arguments>;

// Not constexpr on purpose: reaching one of them while a row is checked stops the build, and the compiler
// prints the name as the reason, with the row's line.
void a_word_of_this_row_is_not_in_the_vocabulary();
void arity_and_signature_disagree();
void this_size_rule_needs_an_argument_that_the_row_lacks();

constexpr Role role_of(std::string_view text) {
    for (const RoleWord& word : role_words)
        if (word.text == text) return word.role;
    a_word_of_this_row_is_not_in_the_vocabulary();
    return Role::none;
}

constexpr Roles parse_roles(std::string_view signature, int arity) {
    Roles roles{};
    int n = 0;
    while (!signature.empty()) {
        const auto end = signature.find(' ');
        const auto word = signature.substr(0, end);
        if (!word.empty()) {
            if (n == max_arguments) arity_and_signature_disagree();
            roles[static_cast<std::size_t>(n++)] = role_of(word);
        }
        signature = end == std::string_view::npos ? std::string_view{} : signature.substr(end + 1);
    }
    if (n != arity) arity_and_signature_disagree();
    return roles;
}

// Position of the first argument with this role, -1 if there is none.
constexpr int find(const Roles& roles, Role role) {
    for (int i = 0; i < max_arguments; ++i)
        if (roles[static_cast<std::size_t>(i)] == role) return i;
    return -1;
}

// The same for all of them: a role's place is found by one look.
inline constexpr std::size_t argument_roles = static_cast<std::size_t>(Role::arg);  // `arg` is not looked for
constexpr std::array<std::int8_t, argument_roles> places_of(const Roles& roles) {
    std::array<std::int8_t, argument_roles> places{};
    places.fill(-1);
    for (int i = max_arguments - 1; i >= 0; --i)
        if (const auto role = static_cast<std::size_t>(roles[static_cast<std::size_t>(i)]); role < argument_roles)
            places[role] = static_cast<std::int8_t>(i);
    return places;
}

constexpr int count_of(const Roles& roles, Role role) {
    int n = 0;
    for (const Role r : roles) n += r == role;
    return n;
}

// What each size rule reads; checked for every row at compile time.
struct SizeRuleNeeds {
    SizeRule rule;
    Role roles[5];
};
inline constexpr SizeRuleNeeds size_rule_needs[] = {
    {SizeRule::count_type, {Role::count, Role::type}},
    {SizeRule::received, {Role::count, Role::type, Role::status}},
    {SizeRule::rblock, {Role::rcount, Role::rtype}},
    {SizeRule::rblock_mine, {Role::rcounts, Role::rtype, Role::comm}},
    {SizeRule::gather, {Role::scount, Role::stype, Role::rcount, Role::rtype, Role::root}},
    {SizeRule::gatherv, {Role::scount, Role::stype, Role::rcounts, Role::rtype, Role::root}},
    {SizeRule::scatter, {Role::scount, Role::stype, Role::rcount, Role::rtype, Role::root}},
    {SizeRule::scatterv, {Role::scounts, Role::stype, Role::rcount, Role::rtype, Role::root}},
    {SizeRule::alltoallv, {Role::scounts, Role::stype, Role::rcounts, Role::rtype, Role::comm}},
    {SizeRule::alltoallw, {Role::scounts, Role::stypes, Role::rcounts, Role::rtypes, Role::comm}},
    {SizeRule::rcounts_sum, {Role::rcounts, Role::type, Role::comm}},
    {SizeRule::rcount_times_size, {Role::rcount, Role::type, Role::comm}},
    {SizeRule::sendrecv, {Role::scount, Role::stype, Role::dest, Role::rcount, Role::rtype}},
    {SizeRule::sendrecv_replace, {Role::count, Role::type, Role::dest, Role::source}},
    {SizeRule::one_element, {Role::type}},
    {SizeRule::partitioned, {Role::partitions, Role::count, Role::type}},
    {SizeRule::neighbor_rcounts_mean, {Role::rcounts, Role::rtype, Role::comm}},
    {SizeRule::neighbor_alltoallv, {Role::scounts, Role::stype, Role::comm}},
    {SizeRule::neighbor_alltoallw, {Role::scounts, Role::stypes, Role::comm}},
    {SizeRule::count_times_size, {Role::count, Role::type, Role::comm}},
    {SizeRule::scounts_sum, {Role::scounts, Role::type, Role::comm}},
};

constexpr bool size_rule_satisfied(SizeRule rule, const Roles& roles) {
    if (rule == SizeRule::started) return find(roles, Role::request) >= 0 || find(roles, Role::requests) >= 0;
    for (const SizeRuleNeeds& needs : size_rule_needs) {
        if (needs.rule != rule) continue;
        for (const Role role : needs.roles)
            if (role != Role::none && find(roles, role) < 0) return false;
    }
    return true;
}

// One row of a table of calls.
struct Call {
    const char* name;  // as the C API spells it; only read at compile time and when a dictionary entry is written
    Family family;
    Treatment treatment;
    Traffic traffic;
    SizeRule size_rule;
    bool large;  // counts and displacements are MPI_Count
    std::int8_t arity;
    std::uint16_t counter;  // index among the counted calls
    Roles roles;
    BusRule bus = BusRule::none;
};

// A row as its line says it, or no build.
constexpr Call checked(Family family, const char* name, int arity, Treatment treatment, Traffic traffic, SizeRule rule,
                       bool large, std::string_view words, BusRule bus = BusRule::none) {
    const Roles roles = parse_roles(words, arity);
    if (!size_rule_satisfied(rule, roles)) this_size_rule_needs_an_argument_that_the_row_lacks();
    return {name, family, treatment, traffic, rule, large, static_cast<std::int8_t>(arity), 0, roles, bus};
}

}  // namespace mpiprof
