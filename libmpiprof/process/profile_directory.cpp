// Names alone: nothing here knows what a profile is. All of it is at start, and at the end where a directory refuses.
#include "libmpiprof/process/profile_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libmpiprof/base/clock.h"
#include "libmpiprof/base/raw.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/process/settings.h"

namespace mpiprof {
namespace {

// Today in UTC, which needs no file of time zones. From days to a date by H. Hinnant's "chrono-compatible low-level
// date algorithms" (civil_from_days), for days after 1970.
struct Day {
    char text[8];
    // "2026", "07", "31" for Y, m, d; null for other letters.
    const char* part(char letter) {
        if (letter != 'Y' && letter != 'm' && letter != 'd') return nullptr;
        const auto days = static_cast<unsigned>(kernel_nanoseconds(CLOCK_REALTIME) / 86'400'000'000'000u) + 719468;
        const unsigned era = days / 146097, of_era = days % 146097;
        const unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
        const unsigned of_year = of_era - (365 * year + year / 4 - year / 100), march = (5 * of_year + 2) / 153;
        const unsigned month = march < 10 ? march + 3 : march - 9;
        if (letter == 'Y')
            snprintf(text, sizeof text, "%04u", (year + era * 400 + (month <= 2 ? 1 : 0)) % 10000);
        else
            snprintf(text, sizeof text, "%02u", (letter == 'm' ? month : of_year - (153 * march + 2) / 5 + 1) % 100);
        return text;
    }
};

// The environment's word for it: asking the system would load its name service into the user's process.
const char* user_name() {
    static char number[16];
    const char* name = nullptr;
    if (any_of("USER\0LOGNAME\0SLURM_JOB_USER\0",
               [&](const char* variable) { return (name = getenv(variable)) && *name; }))
        return name;
    snprintf(number, sizeof number, "%u", static_cast<unsigned>(raw(SYS_getuid)));
    return number;
}

bool expand(const char* pattern, const char* job, const char* host, char* path, std::size_t size) {
    std::size_t used = 0;
    Day day{};
    for (const char* p = pattern; *p; ++p) {
        const char* piece = p[0] != '%'   ? nullptr
                            : p[1] == 'j' ? job
                            : p[1] == 'h' ? host
                            : p[1] == 'u' ? user_name()
                                          : day.part(p[1]);
        const std::size_t length = piece ? strlen(piece) : 1;
        if (used + length + 1 > size) {
            errno = ENAMETOOLONG;
            return false;
        }
        memcpy(path + used, piece ? piece : p, length);
        used += length;
        if (piece) ++p;
    }
    path[used] = 0;
    return true;
}

// The program may change its working directory later: a relative setting is resolved now. False and errno: it cannot.
bool make_absolute(char* directory, std::size_t size) {
    if (directory[0] == '/') return true;
    const bool is_here = strcmp(directory, ".") == 0;
    const std::size_t relative = is_here ? 0 : strlen(directory) + 1;
    // What stands there waits at the end meanwhile: no other page of the program's stack is needed.
    char* const rest = directory + size - relative;
    for (std::size_t i = relative; i-- != 0;) rest[i] = directory[i];  // they may overlap
    if (const int error = relative < size ? working_directory(directory, size - relative) : ERANGE) {
        errno = error == ERANGE ? ENAMETOOLONG : error;
        return false;
    }
    if (is_here) return true;
    char* end = directory + strlen(directory);
    *end++ = '/';
    for (std::size_t i = 0; i < relative; ++i) end[i] = rest[i];
    return true;
}

bool look_at(const char* path, struct stat& found) {
    return raw(SYS_newfstatat, AT_FDCWD, raw_address(path), raw_address(&found), 0) == 0;
}

// Cuts a path off at the directory that it lies in. False: it is the root.
bool to_parent(char* path) {
    std::size_t end = strlen(path);
    while (end > 1 && path[end - 1] != '/') --end;
    if (end <= 1 && path[1] == 0) return false;
    path[end > 1 ? end - 1 : 1] = 0;
    return true;
}

}  // namespace

bool directory_of(const char* pattern, const char* job, const char* host, char* path, std::size_t size) {
    return expand(pattern, job, host, path, size) && make_absolute(path, size);
}

bool hands_roots_group_on(const char* directory) {
    char above[4096] = "";
    append(above, directory);
    struct stat own, at;
    if (!look_at(above, own) || (own.st_mode & S_ISGID) == 0) return false;
    do {
        if (!look_at(above, at) || at.st_gid != own.st_gid || (at.st_mode & S_ISGID) == 0) return false;
        if (at.st_uid == 0) return true;
    } while (to_parent(above));
    return false;
}

int make_directories(char* directory) {
    int error = 0;
    const bool is_shared = is_on(Setting::group);
    for (char* c = directory + 1;; ++c) {
        if (*c && *c != '/') continue;
        const char end = *c;
        *c = 0;
        char above[4096] = "";
        if (is_shared) append(above, directory);
        const bool is_groups = is_shared && to_parent(above) && hands_roots_group_on(above);
        if (mkdir(directory, is_groups ? 0750 : 0700) != 0 && errno != EEXIST && error == 0) error = errno;
        *c = end;
        if (!end) return error;
    }
}

}  // namespace mpiprof
