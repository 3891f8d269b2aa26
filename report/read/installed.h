// Where programs lie, as a shell finds them, and what was installed beside this one. For doctor, and for the launcher,
// which is another program of the same folder.
#pragma once

#include <initializer_list>
#include <string>

namespace mpiprof::report {

// The path of an executable file: the word itself if it has a slash, else by PATH. Empty: there is none.
std::string found_in_path(const std::string& word);

// The first of these places that is there, from the folder of this program on. Empty: none is.
std::string installed_at(std::initializer_list<const char*> places);

// In an installation, or in a build's tree.
inline std::string installed_library() { return installed_at({"../lib/libmpiprof.so", "../libmpiprof/libmpiprof.so"}); }

}  // namespace mpiprof::report
