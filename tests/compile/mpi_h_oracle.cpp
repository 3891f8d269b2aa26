// The rows of calls.def against a real mpi.h; compiled (syntax only) by mpi_h.py, once for each MPI found.
// MPI_H is that header, DECLARED_H says which functions it declares: `#define DECLARED_Send ~, true`.
// For each of them: the row's arity, a return value in a register of int, parameters that each take one register,
// and for each word of the row the parameter's type.
#include MPI_H
#include DECLARED_H

#include <type_traits>

#include "libmpiprof/calls/call.h"

#ifndef ROWS
#define ROWS "libmpiprof/mpi/calls.def"
#endif

namespace {

using mpiprof::Role;
using mpiprof::Roles;

// MPICH's handles are all int. mpi_h.py gives such a header a second time with handles of distinct types.
constexpr bool handles_are_distinct = !std::is_same_v<MPI_Comm, int>;

template <class P, class... Types>
constexpr bool is_one_of = (std::is_same_v<P, Types> || ...);

template <class P>
consteval bool fits_handle(Role role) {
    switch (role) {
        case Role::type:
        case Role::stype:
        case Role::rtype:
            return is_one_of<P, MPI_Datatype>;
        case Role::types:
        case Role::stypes:
        case Role::rtypes:
            return is_one_of<P, const MPI_Datatype*>;
        case Role::comm:
            return is_one_of<P, MPI_Comm>;
        case Role::win:
            return is_one_of<P, MPI_Win>;
        case Role::file:
            return is_one_of<P, MPI_File>;
        case Role::message:
            return is_one_of<P, MPI_Message*>;
        case Role::request:
        case Role::requests:
        case Role::newrequest:
            return is_one_of<P, MPI_Request*>;
        case Role::newcomm:
            return is_one_of<P, MPI_Comm*>;
        case Role::newwin:
            return is_one_of<P, MPI_Win*>;
        case Role::newfile:
            return is_one_of<P, MPI_File*>;
        case Role::newtype:
            return is_one_of<P, MPI_Datatype*>;
        default:
            return false;
    }
}

template <class P>
consteval bool fits(Role role, bool large, bool sized) {
    // MPI_Psend_init counts in MPI_Count in MPI 4 and in int in MPI 5, without being a large-count twin: it is read as
    // int.
    const bool number = large ? is_one_of<P, MPI_Count> : is_one_of<P, int> || (!sized && is_one_of<P, MPI_Count>);
    const bool numbers = large ? is_one_of<P, const MPI_Count*> : is_one_of<P, const int*>;
    switch (role) {
        case Role::buf:
            return is_one_of<P, void*, const void*>;
        case Role::sbuf:
            return is_one_of<P, const void*>;
        case Role::rbuf:
            return is_one_of<P, void*>;
        case Role::count:
        case Role::scount:
        case Role::rcount:
            return number;
        case Role::counts:
        case Role::scounts:
        case Role::rcounts:
            return numbers;
        case Role::dest:
        case Role::source:
        case Role::root:
        case Role::target:
        case Role::partitions:
        case Role::n:
            return is_one_of<P, int>;
        case Role::status:
        case Role::statuses:
            return is_one_of<P, MPI_Status*>;
        case Role::index:
        case Role::indices:
        case Role::outcount:
        case Role::flag:
            return is_one_of<P, int*>;
        case Role::str:
            return is_one_of<P, char*, const char*, char**, char***>;
        case Role::arg:
            return true;
        case Role::none:  // the row has fewer words than the function has parameters
            return false;
        default:
            return fits_handle<P>(role);
    }
}

// An `arg` whose type says that it has a word of its own: a string left out would shift Fortran's hidden lengths.
template <class P>
consteval bool deserves_a_word(const Roles& roles) {
    if (is_one_of<P, char*, const char*, MPI_File>) return true;
    if (!handles_are_distinct) return false;
    // The second of two communicators is `arg`; where both are equal (Comm_compare) both are.
    const bool has_comm = mpiprof::find(roles, Role::comm) >= 0 || mpiprof::count_of(roles, Role::arg) > 2;
    return is_one_of<P, MPI_Win, MPI_Message*> || (is_one_of<P, MPI_Comm> && !has_comm);
}

template <class P>
constexpr bool takes_one_register = (std::is_integral_v<P> || std::is_enum_v<P> || std::is_pointer_v<P>)&&sizeof(P) <=
                                    sizeof(void*);

template <class Function>
struct Declaration;

template <class Result, class... Parameters>
struct Declaration<Result (*)(Parameters...)> {
    static constexpr int arity = sizeof...(Parameters);
    static constexpr bool returns_int = std::is_same_v<Result, int>;
    static constexpr bool registers_only = (takes_one_register<Parameters> && ...);

    // Position of the first argument whose word does not fit its type, -1 if all do.
    static consteval int misfit(const Roles& roles, bool large, bool sized) {
        int at = 0;
        int found = -1;
        const auto look = [&](bool fit) {
            if (!fit && found < 0) found = at;
            ++at;
        };
        (look(fits<Parameters>(roles[static_cast<std::size_t>(at)], large, sized) &&
              (roles[static_cast<std::size_t>(at)] != Role::arg || !deserves_a_word<Parameters>(roles))),
         ...);
        return found;
    }
};

// MPI_Pcontrol(const int level, ...): what follows the level is between the program and other tools.
template <class Result, class... Parameters>
struct Declaration<Result (*)(Parameters..., ...)> : Declaration<Result (*)(Parameters...)> {};

#define CHECK(Name, arguments, rule, words, large)                                                              \
    using Declared_##Name = Declaration<decltype(&MPI_##Name)>;                                                 \
    static_assert(Declared_##Name::arity == arguments, "MPI_" #Name ": the row's arity is not the function's"); \
    static_assert(Declared_##Name::returns_int, "MPI_" #Name ": does not return int, so it cannot be wrapped"); \
    static_assert(Declared_##Name::registers_only, "MPI_" #Name ": a parameter does not fit one register");     \
    static_assert(-1 == Declared_##Name::misfit(mpiprof::parse_roles(words, arguments), large,                  \
                                                mpiprof::SizeRule::rule != mpiprof::SizeRule::none &&           \
                                                    mpiprof::SizeRule::rule != mpiprof::SizeRule::partitioned), \
                  "MPI_" #Name ": the argument at this position (from 0) has a type that does not fit its word");
#define SKIP(...)

// DECLARED_Name expands to two tokens where the header has the function, so that `true` moves to second place.
#define SECOND(first, second, ...) second
#define IS_DECLARED(...) SECOND(__VA_ARGS__, false, ~)
#define DO_true CHECK
#define DO_false SKIP
#define PASTE(a, b) a##b
#define DO(decision) PASTE(DO_, decision)
#define CHECK_IF_DECLARED(Name, arguments, rule, words, large) \
    DO(IS_DECLARED(DECLARED_##Name))(Name, arguments, rule, words, large)

#define MPI(Name, name, arity, treatment, traffic, rule, words, ...) CHECK_IF_DECLARED(Name, arity, rule, words, false)
#define MPI_C(Name, name, arity, treatment, traffic, rule, words, ...) \
    CHECK_IF_DECLARED(Name, arity, rule, words, false)                 \
    CHECK_IF_DECLARED(Name##_c, arity, rule, words, true)
#define MPI_SPECIAL MPI
#define MPI_PASSED(Name, reason)
#include ROWS

}  // namespace
