// What the code below the symbols reads of a row of MPI's, at compile time or, from a table, at run time: which handles
// it makes and ends, how its bytes travel, what it does to requests, on what the id of its communicator depends. All of
// it follows from the row's words (calls.def) and a few names. Used by library.h and whatever includes that.
#pragma once

#include "libmpiprof/mpi/catalogue.h"
#include "libmpiprof/mpi/communicators.h"
#include "libmpiprof/wrap/row.h"

namespace mpiprof::mpi {

constexpr bool has(Id id, Role role) { return find(row_of(id).roles, role) >= 0; }

// ---- handles ----
// Calls that end the life of a communicator, window, type or request: its handle may mean something else afterwards.
enum class Ends : std::uint8_t { nothing, communicator, window, type, request };
constexpr Ends ends_of(Id id) {
    switch (id) {
        case Id::Comm_free:
        case Id::Comm_disconnect:
            return Ends::communicator;
        case Id::Win_free:
            return Ends::window;
        case Id::Type_free:
            return Ends::type;
        case Id::Request_free:
            return Ends::request;
        default:
            return Ends::nothing;
    }
}

// Calls after which something is known that was not before.
enum class Makes : std::uint8_t {
    nothing,
    set_up,        // a persistent operation, whose bytes are booked when it is started
    type,          // a datatype or window, whose handle may have meant something else before
    types,         // several at once
    communicator,  // or its name
};
constexpr bool sets_up(Id id) {
    std::string_view name = row_of(id).name;
    if (name.ends_with("_c")) name.remove_suffix(2);
    return name.ends_with("_init") && has(id, Role::newrequest);
}
constexpr Makes makes_of(Id id) {
    if (sets_up(id)) return Makes::set_up;
    if (has(id, Role::newtype) || has(id, Role::newwin)) return Makes::type;
    if (id == Id::Type_get_contents || id == Id::Type_get_contents_c || id == Id::File_get_view) return Makes::types;
    return has(id, Role::newcomm) || id == Id::Comm_set_name ? Makes::communicator : Makes::nothing;
}
// A type for a Fortran precision is the library's own.
constexpr bool is_freed_by_the_program(Id id) {
    return std::string_view(row_of(id).name).find("Type_create_f90_") == std::string_view::npos;
}

constexpr Communicators::Making making_of(Id id) {
    using Making = Communicators::Making;
    switch (id) {
        case Id::Comm_create_group:
        case Id::Intercomm_create:
            return Making::by_members;
        case Id::Comm_dup:
        case Id::Comm_dup_with_info:
            return Making::copied;
        case Id::Comm_idup:
        case Id::Comm_idup_with_info:
            return Making::later;
        case Id::Comm_create_from_group:  // no parent; there may be no world
        case Id::Intercomm_create_from_groups:
        case Id::Comm_spawn:  // with processes of another world
        case Id::Comm_spawn_multiple:
        case Id::Comm_accept:
        case Id::Comm_connect:
        case Id::Comm_join:
            return Making::unknown;
        default:
            return Making::by_parent;
    }
}
// Which argument is the tag that tells communicators of the same members apart; -1: none.
constexpr int tag_of(Id id) { return id == Id::Comm_create_group ? 2 : id == Id::Intercomm_create ? 4 : -1; }
// Which argument says whether a member may get another rank than it had; -1: it may, or its like is the parent's.
constexpr int reorder_of(Id id) {
    switch (id) {
        case Id::Cart_create:
        case Id::Graph_create:
            return 4;
        case Id::Dist_graph_create:
            return 7;
        case Id::Dist_graph_create_adjacent:
            return 8;
        default:
            return -1;
    }
}

// ---- messages ----
// How a row's bytes travel.
enum class Way : std::uint8_t { nowhere, to_peer, from_peer, both, put, fetched, probed, from_message };
constexpr Way way_of(Id id) {
    const Call row = row_of(id);
    if (row.traffic == Traffic::one_sided && has(id, Role::target)) {
        // The size is that of the result where there is one, and that was fetched.
        const bool fetches =
            id == Id::Get || id == Id::Get_c || id == Id::Rget || id == Id::Rget_c || has(id, Role::rbuf);
        return fetches ? Way::fetched : Way::put;
    }
    if (row.traffic == Traffic::exchange) return Way::both;
    if (row.traffic == Traffic::send && has(id, Role::dest)) return Way::to_peer;
    if (row.traffic == Traffic::receive && has(id, Role::source)) return Way::from_peer;
    if (has(id, Role::message)) return row.traffic == Traffic::receive ? Way::from_message : Way::probed;
    return Way::nowhere;
}

// A set-up moves nothing yet, whatever its rule says of its starts.
constexpr SizeRule rule_of(Id id) { return sets_up(id) ? SizeRule::none : row_of(id).size_rule; }
constexpr bool exchanges(SizeRule rule) { return rule == SizeRule::sendrecv || rule == SizeRule::sendrecv_replace; }
constexpr bool is_mean(SizeRule rule) {
    return rule == SizeRule::alltoallv || rule == SizeRule::neighbor_rcounts_mean ||
           rule == SizeRule::neighbor_alltoallv;
}

// ---- buffers ----
constexpr bool moves_buffers(Traffic traffic) {
    return (format::carries_messages(traffic) && traffic != Traffic::start) || traffic == Traffic::file;
}
// The n-th place to look for the buffer; -1: there is none. Of a call with two the one that is sent from; that of a
// scatter is significant at the root alone.
constexpr int buffer_of(const Call& row, int n) {
    const bool is_scatter = row.size_rule == SizeRule::scatter || row.size_rule == SizeRule::scatterv;
    const Role order[] = {Role::buf, is_scatter ? Role::rbuf : Role::sbuf, is_scatter ? Role::sbuf : Role::rbuf};
    for (const Role role : order)
        if (const int at = find(row.roles, role); at >= 0 && n-- == 0) return at;
    return -1;
}

struct Facts : wrap::RowFacts {
    Ends ends;
    Makes makes;
    bool is_freed_by_program;
    Communicators::Making making;
    std::int8_t tag, reorder;
    Way way;
    SizeRule rule;   // of the call itself; size_rule: of its starts, too
    bool posts;      // it leaves a request behind
    bool completes;  // it completes requests
    bool is_bare;    // all that is stored of its arguments is its communicator
    std::int8_t buffers[2];

    constexpr explicit Facts(Id row)
        : RowFacts(static_cast<std::uint16_t>(row), row_of(row)),
          ends(ends_of(row)),
          makes(makes_of(row)),
          is_freed_by_program(is_freed_by_the_program(row)),
          making(making_of(row)),
          tag(static_cast<std::int8_t>(tag_of(row))),
          reorder(static_cast<std::int8_t>(reorder_of(row))),
          way(way_of(row)),
          rule(rule_of(row)),
          posts(makes != Makes::set_up && has(Role::newrequest)),
          completes(traffic == Traffic::completion && (has(Role::request) || has(Role::requests))),
          is_bare(rule == SizeRule::none && way == Way::nowhere && !posts && !completes && !shows_source() &&
                  !has(Role::root) && !has(Role::dest) && !has(Role::source) && !has(Role::message)),
          buffers{static_cast<std::int8_t>(buffer_of(row_of(row), 0)),
                  static_cast<std::int8_t>(buffer_of(row_of(row), 1))} {
        frees = ends != Ends::nothing;
        follows = makes != Makes::nothing;
        is_in_order = is_ordered(row);
        // Blocking collectives, which all members enter in one order; not what is given a communicator to make another.
        may_wait_first = traffic == Traffic::collective && treatment == Treatment::timed && !has(Role::newrequest) &&
                         has(Role::comm);
        may_be_watched = treatment == Treatment::timed && moves_buffers(traffic) && buffers[0] >= 0;
    }
    // MPI_Probe moves nothing, and waits for somebody all the same.
    constexpr bool shows_source() const { return traffic == Traffic::probe && treatment == Treatment::timed; }
    // It makes or is given handles of requests or messages, which another language may know by other words.
    constexpr bool meets_requests() const {
        return posts || completes || rule == SizeRule::started || has(Role::message);
    }
    // What arrived is in the status.
    constexpr bool reads_status() const { return has(Role::status) && (rule == SizeRule::received || exchanges(rule)); }
};

}  // namespace mpiprof::mpi
