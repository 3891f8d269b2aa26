// A walk goes up one stack only: each frame lies above the one before. It ends where there is no rule, or no memory.
#include "libmpiprof/record/own_unwinder.h"

#if defined(__x86_64__)

#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "libmpiprof/record/frame_rules.h"

namespace mpiprof {
namespace {

constinit FrameRules rules;

// A piece of the stack, as the kernel hands it over: of what is not mapped it says so.
class Stack {
  public:
    bool read(std::uintptr_t at, Word& word) {
        if (at % sizeof(Word) != 0) return false;
        if (at - from_ >= read_ && !fetch(at)) return false;
        word = words_[(at - from_) / sizeof(Word)];
        return true;
    }

  private:
    bool fetch(std::uintptr_t at) {
        const iovec to{words_, sizeof words_}, from{reinterpret_cast<void*>(at), sizeof words_};
        long n = raw(SYS_process_vm_readv, getpid(), raw_address(&to), 1, raw_address(&from), 1);
        if (n == -ENOSYS || n == -EPERM) n = copy(at);
        from_ = at;
        read_ = n > 0 ? static_cast<std::uintptr_t>(n) / sizeof(Word) * sizeof(Word) : 0;
        return read_ != 0;
    }
    // Where the call is forbidden: as much as lies in this page, if it is mapped.
    long copy(std::uintptr_t at) {
        constexpr std::uintptr_t page = 4096;
        unsigned char is_in_memory;
        const auto begin = static_cast<Word>(at & ~(page - 1));
        if (raw(SYS_mincore, begin, static_cast<Word>(page), raw_address(&is_in_memory)) != 0) return 0;
        std::uintptr_t n = page - at % page;
        if (n > sizeof words_) n = sizeof words_;
        __builtin_memcpy(words_, reinterpret_cast<const void*>(at), n);
        return static_cast<long>(n);
    }
    std::uintptr_t from_ = 0, read_ = 0;
    Word words_[192];
};

struct Cursor {
    Word address;
    std::uintptr_t cfa;  // of the frame below: the stack pointer in this one
    std::uintptr_t rbp;
};

// One frame's stack is no larger: what lies further up is taken for another's.
constexpr std::uintptr_t largest_frame = std::uintptr_t{64} << 20;

bool step(Cursor& cursor, Stack& stack, bool is_return) {
    const FrameRule rule = rules.find(cursor.address, is_return);
    const auto by = [](std::uintptr_t base, std::int64_t offset) { return base + static_cast<std::uintptr_t>(offset); };
    std::uintptr_t cfa = 0;
    Word word = 0;
    switch (rule.cfa) {
        case CfaRule::none:
        case CfaRule::no_code:
            return false;
        case CfaRule::by_rsp:
            cfa = by(cursor.cfa, rule.cfa_offset);
            break;
        case CfaRule::by_rbp:
            cfa = by(cursor.rbp, rule.cfa_offset);
            break;
        case CfaRule::behind_rbp:
            if (by(cursor.rbp, rule.cfa_offset) - cursor.cfa > largest_frame ||
                !stack.read(by(cursor.rbp, rule.cfa_offset), word))
                return false;
            cfa = static_cast<std::uintptr_t>(word);
            break;
    }
    if (cfa <= cursor.cfa || cfa - cursor.cfa > largest_frame) return false;
    if (rule.rbp != RbpRule::same) {
        const std::uintptr_t at = by(rule.rbp == RbpRule::at_cfa ? cfa : cursor.rbp, rule.rbp_offset);
        if (at < cursor.cfa || at >= cfa || !stack.read(at, word)) return false;
        cursor.rbp = static_cast<std::uintptr_t>(word);
    }
    if (!stack.read(cfa - sizeof(Word), word)) return false;
    cursor.address = word;
    cursor.cfa = cfa;
    return rules.find(word, true).cfa != CfaRule::no_code;  // else it was no return address
}

[[gnu::noinline]] int backtrace(Unwinder::Visit visit, void* argument) {
    constexpr int end_of_stack = 5;
    Cursor cursor;
    Stack stack;
    asm volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
                 : "=&r"(cursor.address), "=&r"(cursor.cfa), "=&r"(cursor.rbp));
    rules.look_for_news();
    for (bool is_return = false; step(cursor, stack, is_return); is_return = true)
        if (visit(&cursor, argument) != 0) break;
    return end_of_stack;
}

}  // namespace

const Unwinder own_unwinder{
    backtrace, [](void* context) { return static_cast<std::uintptr_t>(static_cast<Cursor*>(context)->address); },
    [](void* context) { return static_cast<Cursor*>(context)->cfa; }};

}  // namespace mpiprof

#endif
