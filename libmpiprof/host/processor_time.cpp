// One line a thread, of three numbers: nanoseconds on a processor, nanoseconds waited for one, and how often it ran.
#include "libmpiprof/host/processor_time.h"

#include <stdio.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"

namespace mpiprof {

void ProcessorTime::open(std::uint32_t first, const char* root) {
    root_ = root;
    first_ = first;
    read_all(0);
    at_start_ = sum();
}

void ProcessorTime::read(format::ProcessorTime& time, std::uint32_t helper) {
    if (!lock_.try_lock()) return;
    read_all(helper);
    const format::ProcessorTime now = sum();
    lock_.unlock();
    time = {now.first_ran_ns - at_start_.first_ran_ns, now.first_waited_ns - at_start_.first_waited_ns,
            now.others_ran_ns - at_start_.others_ran_ns, now.others_waited_ns - at_start_.others_waited_ns};
}

void ProcessorTime::read_all(std::uint32_t helper) {
    for (unsigned i = 0; i < count_; ++i) threads_[i].is_there = false;
    char directory[128];
    snprintf(directory, sizeof directory, "%s/proc/self/task", root_);
    each_entry(directory, [&](const char* name) {
        std::uint64_t thread = 0;
        char path[160], text[96];
        snprintf(path, sizeof path, "%s/%.16s/schedstat", directory, name);
        if (read_number(name, thread) == name || thread == helper || slurp(path, text, sizeof text) == 0) return;
        Span now{};
        const char* next = read_number(text, now.ran);
        while (*next == ' ') ++next;
        read_number(next, now.waited);
        meet(static_cast<std::uint32_t>(thread), now);
    });
    for (unsigned i = 0; i < count_;) {
        Thread& thread = threads_[i];
        if (thread.is_there) {
            ++i;
            continue;
        }
        Span& ended = thread.id == first_ ? first_ended_ : others_ended_;
        ended.ran += thread.last.ran;
        ended.waited += thread.last.waited;
        thread = threads_[--count_];
    }
}

// A thread whose time went back is another one by its number.
void ProcessorTime::meet(std::uint32_t id, const Span& now) {
    for (unsigned i = 0; i < count_; ++i) {
        Thread& thread = threads_[i];
        if (thread.id != id) continue;
        if (now.ran < thread.last.ran) {
            others_ended_.ran += thread.last.ran;
            others_ended_.waited += thread.last.waited;
        }
        thread.last = now;
        thread.is_there = true;
        return;
    }
    if (count_ < most) threads_[count_++] = {id, true, now};
}

format::ProcessorTime ProcessorTime::sum() const {
    format::ProcessorTime sum{first_ended_.ran, first_ended_.waited, others_ended_.ran, others_ended_.waited};
    for (unsigned i = 0; i < count_; ++i) {
        const Thread& thread = threads_[i];
        (thread.id == first_ ? sum.first_ran_ns : sum.others_ran_ns) += thread.last.ran;
        (thread.id == first_ ? sum.first_waited_ns : sum.others_waited_ns) += thread.last.waited;
    }
    return sum;
}

}  // namespace mpiprof
