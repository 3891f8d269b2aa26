// One line, one write: lines of several ranks do not mix.
#include "libmpiprof/process/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libmpiprof/process/standard_error.h"

namespace mpiprof {

void say(const char* format, ...) {
    const int saved = errno;
    char line[1024] = "mpiprof: ";
    constexpr int begin = 9;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line + begin, sizeof line - begin - 1, format, arguments);
    va_end(arguments);
    if (n < 0) n = 0;
    if (n > static_cast<int>(sizeof line) - begin - 2) n = static_cast<int>(sizeof line) - begin - 2;
    for (int i = begin; i < begin + n; ++i)  // a path may hold anything
        if (static_cast<unsigned char>(line[i]) < ' ' || line[i] == 0x7f) line[i] = '?';
    line[begin + n] = '\n';
    standard_error.write(line, static_cast<size_t>(begin) + static_cast<size_t>(n) + 1);
    errno = saved;
}

}  // namespace mpiprof
