// The small files by which the kernel says things: /proc and /sys. Read anew at each question, at start and end only.
// Nothing here fails loudly: what is not there is empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "libmpiprof/base/raw.h"

namespace mpiprof {

// A program that closes a standard descriptor and opens its own file next expects that very number, which is the lowest
// that is free. A thread of ours that opens something between the two would take it: while one of the three is closed,
// the calling thread opens nothing from now on, and what it asks for is empty.
void open_with_care();

// The beginning of a file as terminated text. Returns its length; 0 where it cannot be read.
std::size_t slurp(const char* path, char* buffer, std::size_t size);

// Each line of a file, however long the file is; of a line that is longer than 1 KiB the beginning. A visit that
// answers false has seen enough.
void each_line_of(const char* path, void* context, bool (*visit)(void* context, const char* line));
template <class Visit>
void each_line_of(const char* path, Visit visit) {
    each_line_of(path, &visit, [](void* context, const char* line) {
        Visit& each = *static_cast<Visit*>(context);
        if constexpr (std::is_same_v<decltype(each(line)), bool>) return each(line);
        each(line);
        return true;
    });
}

// Its first line.
template <std::size_t Size>
const char* first_line_of(const char* path, char (&buffer)[Size]) {
    slurp(path, buffer, Size);
    for (char* c = buffer; *c; ++c)
        if (*c == '\n') *c = 0;
    return buffer;
}

// What stands behind `label` ("Threads:\t") in /proc/self/status, to the end of the line; empty where there is none.
void status_line(const char* label, char* buffer, std::size_t size);
int status_number(const char* label, int fallback);

// Where a symbolic link leads, as terminated text; empty where there is none. Returns its length.
std::size_t link_text(const char* path, char* buffer, std::size_t size);

// The entries of a directory but those that begin with a dot; false where there is none. Without libc's opendir, which
// would be three more relocations in every process.
bool each_entry(const char* directory, void* context, void (*visit)(void* context, const char* name));
template <class Visit>
bool each_entry(const char* directory, Visit visit) {
    return each_entry(directory, &visit,
                      [](void* context, const char* name) { (*static_cast<Visit*>(context))(name); });
}

// Whether this process has a file open whose path ends so.
bool has_open(const char* end_of_path);

}  // namespace mpiprof
