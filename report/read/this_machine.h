// Whether a run was on this very machine: by the identity that the library gave it, or by the name that it still has.
#pragma once

#include <string_view>

namespace mpiprof::report {

// `node` is "<boot id>/<host>", as libmpiprof/host/who.cpp writes it. After the next boot the host's name alone is
// left.
bool is_this_machine(std::string_view node);

}  // namespace mpiprof::report
