// Which line of a shell script takes LD_PRELOAD away from what it starts. Asked by descent.cpp when that is known to
// have happened; it reads the script and runs nothing. Lines that only may take it away (ssh, module purge) are not
// named.
#pragma once

#include <string>
#include <vector>

namespace mpiprof::report {

bool is_script(const std::string& path);

// As "line 7: unset LD_PRELOAD". Empty: no line is known to.
std::string losing_line(const std::string& script);

// The scripts that its lines name, as paths: relative ones are looked for in `directory` and beside the script.
std::vector<std::string> scripts_named_in(const std::string& script, const std::string& directory);

}  // namespace mpiprof::report
