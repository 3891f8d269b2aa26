// /proc/stat has a line a processor: "cpu3" and times in ticks, each since the machine started.
#include "libmpiprof/host/allowed_processors.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmpiprof/base/clock.h"
#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/host/processes.h"

namespace mpiprof {
namespace {

std::uint64_t user_us(int who) {
    rusage r{};
    if (raw(SYS_getrusage, who, raw_address(&r)) != 0) return 0;
    return static_cast<std::uint64_t>(r.ru_utime.tv_sec) * 1'000'000u + static_cast<std::uint64_t>(r.ru_utime.tv_usec);
}

// What the kernel does counts for nobody: it may be this job's own I/O.
enum Field : std::uint8_t { user, nice, system_, idle, iowait, irq, softirq, steal, fields };

}  // namespace

bool AllowedProcessors::add_processors(format::AllowedProcessors& now, std::uint64_t tick_us) const {
    char path[128];
    snprintf(path, sizeof path, "%s/proc/stat", root_);
    each_line_of(path, [&](const char* line) {
        unsigned processor = 0;
        if (strncmp(line, "cpu", 3) != 0) return false;  // what follows is of interrupts, and long
        const char* next = read_number(line + 3, processor);
        if (next == line + 3 || !is_allowed(processor)) return true;  // "cpu " is the sum of all
        std::uint64_t ticks[fields]{};
        for (std::uint64_t& field : ticks) {
            while (*next == ' ') ++next;
            next = read_number(next, field);
        }
        now.user_us += (ticks[user] + ticks[nice]) * tick_us;
        now.idle_us += (ticks[idle] + ticks[iowait]) * tick_us;
        now.stolen_us += ticks[steal] * tick_us;
        ++now.processors;
        return true;
    });
    return now.processors != 0;
}

// Workers that a data loader has started are the program's, too. False: they are more than fit, or the kernel does not
// say who they are.
bool AllowedProcessors::add_descendants(format::AllowedProcessors& now, std::uint64_t tick_us) const {
    constexpr unsigned most_processes = 256;
    unsigned processes[most_processes], count = 0;
    bool is_whole = true;
    const auto add_children_of = [&](const char* process) {
        char threads[96], path[160];
        snprintf(threads, sizeof threads, "%s/proc/%s/task", root_, process);
        each_entry(threads, [&](const char* thread) {
            char text[8 * most_processes];  // a number has seven digits at most
            snprintf(path, sizeof path, "%s/%.16s/children", threads, thread);
            is_whole &= slurp(path, text, sizeof text) < sizeof text - 1;
            unsigned child = 0;
            for (const char* next = text; number(next, child);) {
                if (count == most_processes) {
                    is_whole = false;
                    return;
                }
                processes[count++] = child;
                while (*next && *next != ' ') ++next;
                while (*next == ' ') ++next;
            }
        });
    };
    add_children_of("self");
    for (unsigned i = 0; i < count && is_whole; ++i) {
        char process[16], path[128];
        snprintf(process, sizeof process, "%u", processes[i]);
        snprintf(path, sizeof path, "%s/proc/%s/stat", root_, process);
        now.own_us += stat_at(path).user * tick_us;
        add_children_of(process);
    }
    return is_whole;
}

bool AllowedProcessors::read(format::AllowedProcessors& now) const {
    const auto hertz = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
    if (hertz == 0 || hertz > 1'000'000u) return false;
    now = {};
    now.own_us = user_us(RUSAGE_SELF) + user_us(RUSAGE_CHILDREN);
    now.span_us = kernel_nanoseconds(CLOCK_MONOTONIC) / 1000;
    const std::uint64_t tick_us = 1'000'000u / hertz;
    return add_processors(now, tick_us) && add_descendants(now, tick_us);
}

void AllowedProcessors::open(const char* root) {
    root_ = root;
    if (raw(SYS_sched_getaffinity, 0, sizeof mask_, raw_address(mask_)) <= 0 || !read(at_start_)) at_start_ = {};
}

void AllowedProcessors::update(format::AllowedProcessors& times) {
    if (at_start_.processors == 0 || !lock_.try_lock()) return;
    format::AllowedProcessors now;
    const auto since = [](std::uint64_t then, std::uint64_t later) { return later > then ? later - then : 0; };
    if (read(now) && now.processors == at_start_.processors)
        times = {since(at_start_.user_us, now.user_us),     since(at_start_.idle_us, now.idle_us),
                 since(at_start_.stolen_us, now.stolen_us), since(at_start_.own_us, now.own_us),
                 since(at_start_.span_us, now.span_us),     now.processors};
    lock_.unlock();
}

void AllowedProcessors::start(const Measured& of) {
    of.header().allowed = {};
    next_us_ = 0;
    open();
}

void AllowedProcessors::refresh(const Measured& of) {
    const std::uint64_t now_us = kernel_nanoseconds(CLOCK_MONOTONIC) / 1000;
    if (now_us < next_us_) return;
    update(of.header().allowed);
    next_us_ = now_us + of.header().allowed.span_us;
}

}  // namespace mpiprof
