// What a program's file says of how it can be run: its processor, its loader, what it needs and which functions are its
// own. For `doctor`; nothing of the program is run, but the loader is asked for the libraries that it would load.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mpiprof::report {

struct ProgramFile {
    bool is_elf = false;
    std::string interpreter;  // of a script, its first line's program; of ELF, the dynamic loader; empty: none
    bool is_of_this_processor = true;
    bool has_rights = false;             // setuid, setgid or capabilities of the file
    std::set<std::string> own;           // functions of MPI, NCCL and the sanitizers that are defined in it
    std::set<std::string> asked;         // that it takes from libraries
    std::vector<std::string> libraries;  // paths
    std::vector<std::string> missing;    // names of libraries that are not found
};

// Empty: it cannot be opened.
std::optional<ProgramFile> read_program(const std::string& path);

}  // namespace mpiprof::report
