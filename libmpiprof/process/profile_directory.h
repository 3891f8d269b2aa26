// Where profiles go: what MPIPROF_DIR means here and now, the directories that are missing, and who may read below them
// (MPIPROF_GROUP). Called by profile_file.cpp when it claims a name, at start and at the end.
#pragma once

#include <cstddef>

namespace mpiprof {

// MPIPROF_DIR with %j (`job`), %h (`host`), %u, %Y, %m and %d filled in, as an absolute path: the program may change
// its working directory later. False and errno: too long, or there is no working directory.
bool directory_of(const char* pattern, const char* job, const char* host, char* path, std::size_t size);

// A directory named with %j cannot be made before the job: makes what is missing, for the user alone. Other ranks may
// be doing the same. Returns 0, or why the first one that is missing could not be made.
int make_directories(char* directory);

// Whether what is made in `directory` belongs to the group of the nearest directory above that is root's, since all
// down to here hand their group on (chmod g+s). Asked before anything is made: a user who is not of that group cannot
// change the mode of a directory without losing that very bit.
bool hands_roots_group_on(const char* directory);

}  // namespace mpiprof
