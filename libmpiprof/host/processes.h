// What /proc and the environment say of a process: its parent, start, name and command line. Used by this room to find
// out who started us; nothing is asked of the processes themselves.
#pragma once

#include <cstddef>

namespace mpiprof {

struct ProcessStat {
    unsigned parent;
    char name[32];
    unsigned long long start;  // clock ticks after boot
};

// All zeros where there is no such process.
ProcessStat stat_of(unsigned pid);

// Its arguments, each with its NUL; returns how many bytes they are, at most `size` - 1.
std::size_t command_line(unsigned pid, char* buffer, std::size_t size);

// A variable of our own environment; null if it is not set, or empty.
const char* variable(const char* name);

// The number that a text begins with. False, and `value` as it was: there is no text, or no number.
bool number(const char* text, unsigned& value);

}  // namespace mpiprof
