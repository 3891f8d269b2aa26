// Which of the launches that were found is meant: by number, by identity, or by what its job is called. For the
// commands.
#pragma once

#include <string>
#include <vector>

#include "report/model/result.h"
#include "report/read/launch.h"

namespace mpiprof::report {

// Which launch is wanted: by job (`4711`), by number as listed (1 = newest) or by identity; empty = newest. A job may
// be named as its profiles are or as its scheduler spells it: its raw id, its id with a step, an index or a server
// behind it.
struct Choice {
    std::string job;
    std::string launch;
};
// A Problem where the name stands for several jobs, such as the members of an array.
Result<std::size_t> choose_launch(const std::vector<Launch>& launches, const Choice& choice);
// All of them, oldest first, for who asks no question of one.
Result<std::vector<std::size_t>> choose_launches(const std::vector<Launch>& launches, const Choice& choice);

}  // namespace mpiprof::report
