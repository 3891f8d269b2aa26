// A file of settings (MPIPROF_CONFIG, /etc/mpiprof.conf) as libmpiprof reads it on this machine, for doctor, which says
// what it makes of one. Whether a file counts and what its lines are is one code for both
// (libmpiprof/format/config_text.h).
#pragma once

#include <string>
#include <vector>

namespace mpiprof::report {

extern const char* const settings_file_for_everyone;
extern const char* const no_settings_file;  // MPIPROF_CONFIG=none

struct SettingsFile {
    bool is_there = false;
    std::string why_not;             // it does not count; empty: it does
    std::vector<std::string> lines;  // "MPIPROF_NAME=value"

    static SettingsFile read(const std::string& path);
    // The last line counts; empty: there is none.
    std::string value_of(const std::string& name) const;
};

// What counts of MPIPROF_NAME: the environment, else the file that MPIPROF_CONFIG names, else the one for everyone.
// Empty: none of them has it.
std::string setting_in_force(const std::string& name);

// Directories that MPIPROF_DIR means, with what stands for its %j, %u and dates, that are there, by name.
std::vector<std::string> directories_in_force();

}  // namespace mpiprof::report
