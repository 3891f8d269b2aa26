// Of which of a rank's kept collectives somebody has need. Asked by the profile reader, answered by the merge, which
// compares fewer of many ranks. It reads nothing itself.
#pragma once

#include <functional>

#include "report/model/profile.h"

namespace mpiprof::report {

// Of the collectives that the rank has kept of one communicator: how many times as few are wanted, as a power of two.
// Profile::kept_calls and what comes behind it are not read yet when it asks.
using Thinning = std::function<unsigned(const Profile&, const Communicator&)>;
inline constexpr unsigned no_kept_calls = 64;  // none of them

}  // namespace mpiprof::report
