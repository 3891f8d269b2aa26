// What /proc and the environment say of a process: its parent, start, name and command line. Used by this room to find
// out who started us; nothing is asked of the processes themselves.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpiprof {

struct ProcessStat {
    char state;  // 'R', 'S', 'Z' ...
    unsigned parent;
    char name[32];
    unsigned long long user;   // clock ticks in user mode, of its threads and of its children that it has waited for
    unsigned long long start;  // clock ticks after boot
};

// All zeros where there is no such process.
ProcessStat stat_of(unsigned pid);
ProcessStat stat_at(const char* path);  // of a thread, say: /proc/self/task/4711/stat

// The same of the calling process. Not by its number, which means another process where /proc is not that of our own
// PID namespace.
ProcessStat own_stat();

// For how long it lives, by the kernel's own clocks, with a hundredth of a second's resolution; 0: not known.
std::uint64_t own_age_ns(const ProcessStat& self);

// Of the PID namespace that we are in: a process' number means it there alone. 0: not known.
unsigned own_pid_namespace();

// Its arguments, each with its NUL; returns how many bytes they are, at most `size` - 1.
std::size_t command_line(unsigned pid, char* buffer, std::size_t size);
std::size_t own_command_line(char* buffer, std::size_t size);

// A variable of our own environment; null if it is not set, or empty.
const char* variable(const char* name);

// The number that a text begins with. False, and `value` as it was: there is no text, or no number.
bool number(const char* text, unsigned& value);

}  // namespace mpiprof
