// strtol and scanf have newer versions on newer hosts: numbers are read by base/text.h.
#include "libmpiprof/host/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmpiprof/base/clock.h"
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

ProcessStat stat_at(const char* path) {
    ProcessStat stat{};
    char text[1024];
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
        if (i == 3) stat.state = *field;
        if (i == 4) number(field, stat.parent);
        if (unsigned long long ticks = 0; (i == 14 || i == 16) && read_number(field, ticks) != field)
            stat.user += ticks;
        if (i == 22) read_number(field, stat.start);
        while (*field && *field != ' ') ++field;
    }
    return stat;
}

ProcessStat stat_of(unsigned pid) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    return stat_at(path);
}

ProcessStat own_stat() { return stat_at("/proc/self/stat"); }

std::uint64_t own_age_ns(const ProcessStat& self) {
    const std::uint64_t since_boot = kernel_nanoseconds(CLOCK_BOOTTIME);
    const auto hertz = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
    if (self.start == 0 || hertz == 0 || hertz > 1'000'000'000u) return 0;
    const std::uint64_t start = self.start * (1'000'000'000u / hertz);
    return start < since_boot ? since_boot - start : 0;
}

unsigned own_pid_namespace() {
    char link[32];
    unsigned inode = 0;
    link_text("/proc/self/ns/pid", link, sizeof link);
    return strncmp(link, "pid:[", 5) == 0 && number(link + 5, inode) ? inode : 0;
}

std::size_t own_command_line(char* buffer, std::size_t size) { return slurp("/proc/self/cmdline", buffer, size); }

std::size_t command_line(unsigned pid, char* buffer, std::size_t size) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    return slurp(path, buffer, size);
}

}  // namespace mpiprof
