// Settings in files, for whoever sets up a cluster: the file that MPIPROF_CONFIG names, and /etc/mpiprof.conf. Read
// once, when the first setting is asked for, by settings.cpp. A file counts only if it is root's or the user's own and
// nobody else can write to it. Says nothing itself, and never reads one from the working directory.
#pragma once

#include <cstdint>

namespace mpiprof {

struct ConfigFile {
    const char* path;  // null: none is named
    const char*
        lines;  // "NAME=value" of each line, terminated, one behind the other; an empty one ends them. May be null
    const char* why_not;  // it does not count
    bool is_missing;

    // The value of a setting, by its whole name; null: the file has none. The last line counts.
    const char* value_of(const char* name) const;
};

struct ConfigFiles {
    ConfigFile named, systems;
};

const ConfigFiles& config_files();

}  // namespace mpiprof
