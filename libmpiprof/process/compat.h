// What users of other tools have in their job scripts and sources: variables and MPI_Pcontrol codes, which contradict
// each other and whose names belong to others, too. They count only where MPIPROF_COMPAT names the tool.
// docs/settings.md lists them all.
#pragma once

#include "libmpiprof/process/setting.h"

namespace mpiprof {

// What that tool's variables say of this setting; null where they say nothing, or MPIPROF_COMPAT names no tool.
const char* compat_value(Setting setting);

// Whether recording is to begin paused, as mpiP's "-o" says.
bool compat_begins_paused();

enum class Control : std::uint8_t { nothing, pause, resume, new_region, begin_region, end_region };
// What an MPI_Pcontrol level means: to the tool that MPIPROF_COMPAT names, else to the standard's suggestion.
Control meaning_of_pcontrol(int level);

}  // namespace mpiprof
