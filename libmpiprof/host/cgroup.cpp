// Version 2 is asked first; a machine may have both.
#include "libmpiprof/host/cgroup.h"

#include <stdio.h>
#include <string.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"

namespace mpiprof {
namespace {

// "0::/user.slice" or "4:memory:/x": the path behind the line that names the controller ("" is version 2).
bool cgroup_path(const char* controller, char* path, std::size_t size) {
    char text[4096];
    slurp("/proc/self/cgroup", text, sizeof text);
    for (char* line = text; *line;) {
        char* end = line;
        while (*end && *end != '\n') ++end;
        const char* name = strchr(line, ':');
        const char* group = name ? strchr(name + 1, ':') : nullptr;
        if (group && group < end) {
            const auto length = static_cast<std::size_t>(group - name - 1);
            if (length == length_of(controller) && strncmp(name + 1, controller, length) == 0) {
                snprintf(path, size, "%.*s", static_cast<int>(end - group - 1), group + 1);
                return true;
            }
        }
        line = *end ? end + 1 : end;
    }
    return false;
}

std::uint64_t number_in(const char* text) {
    std::uint64_t number;
    while (*text == ' ') ++text;
    read_number(text, number);
    return number;
}

// A number behind a label in a cgroup's file, or the file's only number. 0 where there is none.
std::uint64_t cgroup_number(const char* controller, const char* mount, const char* file, const char* label) {
    char group[1024], path[1280], text[1024];
    if (!cgroup_path(controller, group, sizeof group)) return 0;
    snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
    slurp(path, text, sizeof text);
    const char* found = *label ? strstr(text, label) : text;
    return found ? number_in(found + length_of(label)) : 0;
}

std::uint64_t throttled_us() {
    const std::uint64_t us = cgroup_number("", "/sys/fs/cgroup", "cpu.stat", "throttled_usec ");
    if (us != 0) return us;
    // Version 1 has the controller alone, or beside the one that counts, in either order.
    const std::uint64_t ns = cgroup_number("cpu", "/sys/fs/cgroup/cpu", "cpu.stat", "throttled_time ") +
                             cgroup_number("cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct", "cpu.stat", "throttled_time ") +
                             cgroup_number("cpuacct,cpu", "/sys/fs/cgroup/cpu", "cpu.stat", "throttled_time ");
    return ns / 1000;
}

std::uint64_t memory_limit() {
    constexpr std::uint64_t none = std::uint64_t{1} << 60;  // version 1 has such a number for it
    std::uint64_t limit = cgroup_number("", "/sys/fs/cgroup", "memory.max", "");
    if (limit == 0) limit = cgroup_number("memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "");
    return limit > none ? 0 : limit;
}

}  // namespace

void CgroupUse::start(const Measured& of) {
    of.header().memory_limit = memory_limit();
    of.header().throttled_us = of.header().throttled_us_at_start = throttled_us();
}

void CgroupUse::end(const Measured& of) { of.header().throttled_us = throttled_us(); }

}  // namespace mpiprof
