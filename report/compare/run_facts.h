// What a run was, before any of its times: what was said of it, how it was started, what it ran on and with. What
// explains that runs differ.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

struct RunFact {
    enum class Kind : std::uint8_t { label, program, size, place, library, code, setting, environment };
    Kind kind = Kind::program;
    std::string name;
    std::string value;
};

std::vector<RunFact> facts_of(const Job& job);

// By kind and name the different values that several runs have, in the order of the runs.
using FactValues = std::map<std::pair<RunFact::Kind, std::string>, std::vector<std::string>>;
FactValues values_of(const std::vector<const std::vector<RunFact>*>& runs);

}  // namespace mpiprof::report
