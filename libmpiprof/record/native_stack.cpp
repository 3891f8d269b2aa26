// Bounds are believed only where two sources agree: the kernel with what was known before (the first stack), libc's
// record of the thread with where that record itself lies (all others). No function of libc is asked:
// pthread_getattr_np() allocates, and a call of MPI's may come from anywhere.
#include "libmpiprof/record/native_stack.h"

#include <elf.h>
#include <string.h>
#include <sys/resource.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/record/frame_rule.h"
#include "libmpiprof/record/mapped_words.h"

namespace mpiprof {
namespace {

#if defined(__x86_64__)
constexpr std::uintptr_t page = 4096;
std::uintptr_t page_of(std::uintptr_t at) { return at / page * page; }
#else
constexpr std::uintptr_t page = 4096;  // of those that there may be, the smallest
// mincore() refuses an address that is not a page's own: with pages of 64 KiB no stack would ever be known.
std::uintptr_t page_of(std::uintptr_t at) { return at & ~(static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)) - 1); }
#endif

// Not by getauxval(), which every process would pay with a relocation. 0: not known.
std::uintptr_t end_of_first_stack() {
    struct {
        std::uintptr_t type, value;
    } entries[40];
    const std::size_t bytes = slurp("/proc/self/auxv", reinterpret_cast<char*>(entries), sizeof entries);
    for (std::size_t i = 0; i < bytes / sizeof *entries; ++i)
        if (entries[i].type == AT_EXECFN) return entries[i].value / sizeof(Word) * sizeof(Word);
    return 0;
}

// Whether each page is mapped. Between the first stack and what lies below it the kernel leaves a gap.
bool is_mapped(std::uintptr_t begin, std::uintptr_t end) {
    unsigned char in_memory[256];
    for (std::uintptr_t at = begin; at < end;) {
        const std::uintptr_t bytes = end - at < sizeof in_memory * page ? end - at : sizeof in_memory * page;
        if (raw(SYS_mincore, static_cast<long>(at), static_cast<long>(bytes), raw_address(in_memory)) != 0)
            return false;
        at += bytes;
    }
    return true;
}

}  // namespace

// A stack grows to no more, mostly; and so much below its end the kernel lets nothing else lie that asks for no
// address.
std::uintptr_t FirstStack::look_below(std::uintptr_t at) {
    constexpr std::uintptr_t surely_one = std::uintptr_t{64} << 20, not_known = 1;
    std::uintptr_t end = __atomic_load_n(&end_, __ATOMIC_RELAXED);
    if (end == 0) {
        end = end_of_first_stack();
        if (end == 0) end = not_known;
        __atomic_store_n(&end_, end, __ATOMIC_RELAXED);
    }
    if (at >= end || end - at >= surely_one) return 0;
    const std::uintptr_t known = __atomic_load_n(&begin_, __ATOMIC_RELAXED);
    const std::uintptr_t begin = page_of(at);
    if (begin < known && !is_mapped(begin, known < end ? known : end)) return 0;
    if (begin < known) __atomic_store_n(&begin_, begin, __ATOMIC_RELAXED);
    return end - at;
}

std::size_t NativeStack::bytes_below(const Word* at) const {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    if (address - begin_ < end_ - begin_) return address - begin_;
    const std::uintptr_t used = FirstStack::bytes_above(address);
    rlimit limit{};
    if (used == 0 || raw(SYS_prlimit64, 0, RLIMIT_STACK, 0, raw_address(&limit)) != 0) return 0;
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

bool NativeStack::read_elsewhere(const Word* at, Word& word) {
    Word one;
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    return address % sizeof(Word) == 0 && MappedWords(&one, 1).read(address, word);
}

#if defined(__x86_64__) || defined(__aarch64__)

// The record lies so many bytes around where the thread's pointer leads: from there on, or on aarch64 up to there.
std::uintptr_t record_of_this_thread([[maybe_unused]] std::uintptr_t bytes) {
    std::uintptr_t at;
#if defined(__aarch64__)
    asm("mrs %0, tpidr_el0" : "=r"(at));
    return at - bytes;
#else
    asm("movq %%fs:0, %0" : "=r"(at));
    return at;
#endif
}

// glibc keeps a thread's stack as three words that follow each other, its lowest address, its size and how much of it
// is a fence, in the record of the thread that its register leads to; and that record lies at the top of this very
// stack. Where among its words they are differs between versions; that they are these is told by what they say. The
// first thread's says nothing of the kind.
NativeStack NativeStack::of_this_thread() {
    constexpr std::uintptr_t record_bytes = 2304, most_above = 65536;  // what lies above the stack proper
    if (raw(SYS_gettid) == raw(SYS_getpid)) return {};
    const std::uintptr_t record = record_of_this_thread(record_bytes);
    Word room[96] = {}, word = 0;
    MappedWords words(room, sizeof room / sizeof *room);
    std::uintptr_t last[2] = {};
    NativeStack found;
    for (std::uintptr_t at = record; at < record + record_bytes && words.read(at, word); at += sizeof(Word)) {
        const auto [begin, size] = last;
        const auto fence = static_cast<std::uintptr_t>(word);
        if (begin != 0 && begin % page == 0 && begin < record && begin + size - record - 1 < most_above &&
            fence < size) {
            found = {begin, returns_by_register ? record + record_bytes : record};
            break;
        }
        last[0] = size;
        last[1] = fence;
    }
    memset(room, 0, sizeof room);  // no words of ours are left on the program's stack
    asm volatile("" : : "r"(room) : "memory");
    return found;
}

#else

NativeStack NativeStack::of_this_thread() { return {}; }

#endif

}  // namespace mpiprof
