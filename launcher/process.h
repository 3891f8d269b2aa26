// Starting a command as if nobody stood between it and its caller: same standard streams, signals and exit code. And
// asking another program something, for a few seconds at most.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mpiprof::launcher {

using Words = std::vector<std::string>;
using Variables = std::vector<std::pair<std::string, std::string>>;  // name, value

// In place of this process. Returns only if that fails: errno.
int become(const Words& words, const Variables& environment);

// How it ended: `code`, or by `signal` where that is not 0. 127 and 126: it could not be started, as shells have it.
struct Ended {
    int code = 0;
    int signal = 0;
};
// What is sent to this process meanwhile goes to the command. `look` is called with the command's process while it runs
// and returns the time until it is called again, 0 for never.
using Look = std::function<std::chrono::milliseconds(pid_t)>;
Ended run(const Words& words, const Variables& environment, const Look& look);

// What it prints, both streams; what it has printed by then where it takes longer.
std::string output_of(const Words& words, std::chrono::milliseconds limit);

// Ends this process as the command ended.
[[noreturn]] void end_as(const Ended& ended);

}  // namespace mpiprof::launcher
