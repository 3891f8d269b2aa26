// strtol and scanf have newer versions on newer hosts: numbers are read by base/text.h.
#include "libmpiprof/host/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"

namespace mpiprof {

const char* variable(const char* name) {
    const char* value = getenv(name);
    return value && *value ? value : nullptr;
}

bool number(const char* text, unsigned& value) {
    unsigned read = 0;
    if (!text || read_number(text, read) == text) return false;
    value = read;
    return true;
}

ProcessStat stat_of(unsigned pid) {
    ProcessStat stat{};
    char path[48], text[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    slurp(path, text, sizeof text);
    const char* open_bracket = strchr(text, '(');
    const char* close_bracket = open_bracket;
    for (const char* c = text; *c; ++c)  // the last one: the name itself may hold brackets
        if (*c == ')') close_bracket = c;
    if (!open_bracket || close_bracket <= open_bracket) return stat;
    const auto length = static_cast<std::size_t>(close_bracket - open_bracket - 1);
    memcpy(stat.name, open_bracket + 1, length < sizeof stat.name ? length : sizeof stat.name - 1);
    const char* field = close_bracket + 1;
    for (int i = 3; *field && i <= 22; ++i) {
        while (*field == ' ') ++field;
        if (i == 4) number(field, stat.parent);
        if (i == 22) read_number(field, stat.start);
        while (*field && *field != ' ') ++field;
    }
    return stat;
}

std::size_t command_line(unsigned pid, char* buffer, std::size_t size) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    return slurp(path, buffer, size);
}

}  // namespace mpiprof
