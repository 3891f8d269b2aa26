// Why the profiles of a running job may not say all of what its ranks do. Nobody ends a job for a hang while there is
// such a reason: commands/hang.cpp asks before it runs a command, and says which one it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "report/model/job.h"

namespace mpiprof::report {

struct Doubt {
    enum class Kind : std::uint8_t {
        no_profile,        // some rank has none
        not_chosen,        // MPIPROF_RANKS, or a bound on the number of profiles
        left_out,          // `setting` has the recorder pass over calls
        paused,            // `rank` and those below: one rank of which it is true
        stopped,           // by a signal, or by a debugger
        silent,            // it has shown no sign of life for a while
        meets_others,      // it is in a call that waits for another job
        any_source,        // it has an open receive that any rank may answer
        unknown_requests,  // it waits for requests of which not all are known
        other_group,       // it waits on an intercommunicator: the other side may be another job
    };
    Kind kind{};
    std::uint32_t rank = 0;
    std::string_view setting{};
};

// Of a job whatever is proven of it: calls that were made and are in no profile.
std::optional<Doubt> doubt_of_recording(const Job& job);
// Of one of which it is only known that no call has begun or ended for long: more may happen outside of it.
std::optional<Doubt> doubt_of_silence(const Job& job);

// MPIPROF_FUNCTIONS chose some on some rank: others leave no trace.
bool leaves_out_functions(const Job& job);

}  // namespace mpiprof::report
