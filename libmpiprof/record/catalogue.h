// The rows of all libraries as the recorder is handed them: what it needs to know of a call when it first sees it. The
// catalogue itself stays above (libmpiprof/catalogue.cpp); nothing here knows a call by name.
#pragma once

#include "libmpiprof/calls/call.h"

namespace mpiprof {

struct CallInfo {
    std::uint16_t name;  // offset into Catalogue::names
    Family family;
    Treatment treatment;
    Traffic traffic;
    SizeRule size_rule;
    std::uint16_t counter;
    std::uint8_t arguments = 0;  // format::CallArguments
    BusRule bus = BusRule::none;
};

struct Catalogue {
    const char* names;
    const CallInfo* calls;
    std::uint16_t size;
    std::uint16_t counted;  // how many of them are counted
    static constexpr std::uint16_t most_counted = 352;

    // Each row has a second id, of the barrier that is put before its calls where the user asks for it.
    static constexpr std::uint16_t barrier_before = 1024;
    static constexpr std::uint16_t most_ids = 2 * barrier_before;
    bool has(std::uint16_t call) const { return call < most_ids && call % barrier_before < size; }
    CallInfo info(std::uint16_t call) const {
        CallInfo info = calls[call % barrier_before];
        if (call < barrier_before) return info;
        info.treatment = Treatment::timed;
        info.traffic = Traffic::sync;
        info.size_rule = SizeRule::none;
        info.arguments = 0;
        info.bus = BusRule::none;
        return info;
    }
    bool carries_messages(std::uint16_t call) const {
        return has(call) && format::carries_messages(info(call).traffic);
    }
    const char* row_name(std::uint16_t call) const { return names + calls[call % barrier_before].name; }
    static const char* name_suffix(std::uint16_t call) { return call < barrier_before ? "" : " [barrier]"; }
};
// Of all that this library wraps. Defined above the rooms that hold the rows.
[[gnu::visibility("hidden")]] extern const Catalogue whole_catalogue;

}  // namespace mpiprof
