// What every row of a table of calls keeps, whatever MPI is there. Used by row_rules.cpp, which includes the
// table; reaching one of the functions declared here while a row is checked stops the build, and the compiler
// prints its name as the reason, with the row's line.
#pragma once

#include <string_view>

#include "libmpiprof/calls/call.h"
#include "libmpiprof/format/layout.h"

namespace mpiprof {

void a_timed_row_has_traffic_and_a_counted_row_has_none();
void only_traffic_that_carries_bytes_has_a_size_rule();
void a_word_stands_twice_in_this_row();
void an_array_of_requests_comes_with_its_number();
void time_in_MPI_File_calls_is_file_traffic();
void the_two_spellings_of_the_name_differ();
void the_name_is_too_long_for_the_dictionary();

consteval bool carries_bytes(Traffic traffic) {
    switch (traffic) {
        case Traffic::send:
        case Traffic::receive:
        case Traffic::exchange:
        case Traffic::collective:
        case Traffic::one_sided:
        case Traffic::file:
        case Traffic::local:
        case Traffic::start:
            return true;
        default:
            return false;
    }
}

// `find` returns the first argument of a role, so a second one would be overlooked.
consteval bool repeats_a_word(const Roles& roles) {
    for (const Role role : roles)
        if (role != Role::none && role != Role::arg && role != Role::str && count_of(roles, role) > 1) return true;
    return false;
}

// mpitrace's users know "MPI-IO time" as the time in all MPI_File_* calls; the reporter sums it by traffic.
consteval bool is_sound_file_traffic(std::string_view name, Treatment treatment, Traffic traffic) {
    const bool of_files = name.substr(0, 5) == "File_" && treatment != Treatment::counted;
    if (of_files != (traffic == Traffic::file)) time_in_MPI_File_calls_is_file_traffic();
    return true;
}

consteval bool row_is_sound(Treatment treatment, Traffic traffic, SizeRule rule, int arity, std::string_view words) {
    const Roles roles = parse_roles(words, arity);
    if (!size_rule_satisfied(rule, roles)) this_size_rule_needs_an_argument_that_the_row_lacks();
    if ((treatment != Treatment::counted) != (traffic != Traffic::none))
        a_timed_row_has_traffic_and_a_counted_row_has_none();
    // The rule of a persistent set-up is that of its starts: such a row makes a request and carries nothing itself.
    const bool sets_up = find(roles, Role::newrequest) >= 0 && (traffic == Traffic::setup || traffic == Traffic::none);
    if (rule != SizeRule::none && !carries_bytes(traffic) && !sets_up)
        only_traffic_that_carries_bytes_has_a_size_rule();
    if (repeats_a_word(roles)) a_word_stands_twice_in_this_row();
    if (find(roles, Role::requests) >= 0 && find(roles, Role::n) < 0) an_array_of_requests_comes_with_its_number();
    return true;
}

// The preprocessor cannot change case, so a row spells its name twice.
consteval bool name_is_sound(std::string_view name, std::string_view lower) {
    constexpr std::size_t room = sizeof(format::CallRecord::name) - std::string_view("MPI__c").size() - 1;
    if (name.size() > room) the_name_is_too_long_for_the_dictionary();
    if (name.size() != lower.size()) the_two_spellings_of_the_name_differ();
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char small = name[i] >= 'A' && name[i] <= 'Z' ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
        if (lower[i] != small) the_two_spellings_of_the_name_differ();
    }
    return true;
}

}  // namespace mpiprof
