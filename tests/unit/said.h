// What the library says on standard error while something is done. By one pipe for the whole process, since it writes
// to the file alone that number 2 meant when its code ran first (process/standard_error.h).
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

namespace mpiprof {

template <class Act>
std::string said_while(Act act) {
    static const std::array<int, 2> ends = [] {
        std::array<int, 2> made{-1, -1};
        if (pipe2(made.data(), O_NONBLOCK | O_CLOEXEC) != 0) made = {-1, -1};
        return made;
    }();
    fflush(stderr);
    const int before = dup(2);
    dup2(ends[1], 2);
    act();
    fflush(stderr);
    dup2(before, 2);
    close(before);
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
    return text;
}

}  // namespace mpiprof
