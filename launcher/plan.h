// How a command has to be spelled so that its ranks are profiled: which word of it starts ranks, what kind of launcher
// that is, and how such a one hands variables on. Asked by run.cpp; starts nothing itself but by `ask`.
#pragma once

#include <functional>
#include <string>

#include "launcher/process.h"

namespace mpiprof::launcher {

struct Plan {
    Words words;            // the command with what its launcher has to be told
    Variables environment;  // to be set for it besides
    Words remarks;          // what the user should know: whole sentences
    std::string launcher;   // the word that starts ranks; empty: none is among them
};

// `variables` are those that each rank has to have. `ask` gives what a program prints when it is asked for its version.
Plan plan_of(const Words& command, const Variables& variables,
             const std::function<std::string(const std::string&)>& ask);

// For a shell.
std::string shell_line(const Plan& plan);

}  // namespace mpiprof::launcher
