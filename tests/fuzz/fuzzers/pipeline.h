// All that the reporter does with a profile, for the fuzzers: merge it, ask every section, show it in every view,
// layout and export. What comes out is held to what any output has to be: safe on a terminal, and JSON where it says
// so.
#pragma once

#include <functional>
#include <string_view>

#include "report/model/profile.h"

namespace mpiprof::fuzz {

// `read`: the profile, as often as it is asked for.
void report_on(const std::function<report::Profile()>& read);

// Ends the fuzzer with a message.
[[noreturn]] void broken(const char* what, std::string_view text);
void expect_safe_on_a_terminal(std::string_view text);
void expect_json(std::string_view text);

}  // namespace mpiprof::fuzz
