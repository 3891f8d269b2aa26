// A walk goes up one stack: each frame lies above the one before. It ends where there is no rule, no memory, or where a
// signal came in while another stack was in use; one that asks who is further up goes on there.
#include "libmpiprof/record/own_unwinder.h"

#include "libmpiprof/record/frame_rule.h"

#if MPIPROF_HAS_OWN_UNWINDER

#include <link.h>

#include "libmpiprof/record/frame_rules.h"
#include "libmpiprof/record/mapped_words.h"
#include "libmpiprof/record/native_stack.h"

namespace mpiprof {
namespace {

constinit FrameRules rules;

// The stack from here upwards: the first one is read as it is. A piece of any other is handed over by the kernel, which
// says so of what is not mapped.
class Stack {
  public:
    Stack(Word* room, std::size_t words) : elsewhere_(room, words) {}
    bool is_first() const { return bytes_ != 0; }
    // Whether it is read as it is up to there.
    bool is_open(std::uintptr_t at) const { return at - from_here_ < bytes_; }
    bool read(std::uintptr_t at, Word& word) {
        if (at % sizeof(Word) != 0) return false;
        if (!is_open(at)) [[unlikely]]
            return elsewhere_.read(at, word);
        word = *reinterpret_cast<const Word*>(at);
        return true;
    }

  private:
    const std::uintptr_t from_here_ = reinterpret_cast<std::uintptr_t>(this);
    const std::uintptr_t bytes_ = FirstStack::bytes_above(from_here_);
    MappedWords elsewhere_;
};

// One frame's stack is no larger: what lies further up is taken for another's.
constexpr std::uintptr_t largest_frame = std::uintptr_t{64} << 20;
bool is_above(std::uintptr_t cfa, const Cursor& cursor) { return cfa - cursor.cfa - 1 < largest_frame; }

// What differs between the processors: the frame that the kernel makes for a handler, and how one returns from it.
#if defined(__aarch64__)
constexpr std::uintptr_t context_at = 128, saved_rbp = 416, saved_rsp = 432, saved_address = 440, saved_link = 424;

// The kernel's code has no description, or none that says "signal". Other unwinders know it by these instructions, too.
bool is_way_back(Word address, Stack& stack) {
    constexpr std::uint32_t mov_139_to_x8 = 0xd2801168, svc_0 = 0xd4000001;
    std::uint32_t found[4];
    Word word[2];
    const auto at = static_cast<std::uintptr_t>(address), begin = at & ~std::uintptr_t{7};
    if (at % 4 != 0 || !stack.read(begin, word[0]) || !stack.read(begin + sizeof(Word), word[1])) return false;
    __builtin_memcpy(found, word, sizeof found);
    const std::uint32_t* const code = found + (at - begin) / 4;
    return code[0] == mov_139_to_x8 && code[1] == svc_0;
}

// Where functions sign what they return to (-mbranch-protection), it lies on the stack with the signature.
Word without_signature(Word address) {
    register Word x30 asm("x30") = address;
    asm("hint #7" : "+r"(x30));  // xpaclri, which older processors take for nothing
    return x30;
}

[[gnu::always_inline]] inline bool read_return(const FrameRule& rule, std::uintptr_t cfa, Cursor& cursor,
                                               Stack& stack) {
    if (rule.returns_at == 0) {
        if (cursor.is_return) return false;  // the call that it is in has taken x30
        cursor.address = without_signature(cursor.link);
        cursor.place = nullptr;
        return true;
    }
    const std::uintptr_t at = cfa + static_cast<std::uintptr_t>(std::int64_t{rule.returns_at});
    Word word;
    if (at < cursor.cfa || at >= cfa || !stack.read(at, word)) return false;
    cursor.address = without_signature(word);
    cursor.place = reinterpret_cast<const Word*>(at);
    return true;
}
#else
constexpr std::uintptr_t context_at = 0, saved_rbp = 120, saved_rsp = 160, saved_address = 168;
bool is_way_back(Word, Stack&) { return false; }  // it has a description

[[gnu::always_inline]] inline bool read_return(const FrameRule&, std::uintptr_t cfa, Cursor& cursor, Stack& stack) {
    return stack.read(cfa - sizeof(Word), cursor.address);
}
#endif

// Up from what the kernel laid onto the stack for a handler: a ucontext_t. A handler's stack of its own ends there,
// unless the walk may go on where the interrupted one is.
bool leave_signal(Cursor& cursor, Stack& stack, bool may_cross) {
    constexpr std::uintptr_t stack_begin = 16, stack_size = 32;
    const std::uintptr_t context = cursor.cfa + context_at;
    Word begin, size, word[3];
    if (!stack.read(context + stack_begin, begin) || !stack.read(context + stack_size, size) ||
        !stack.read(context + saved_rbp, word[0]) || !stack.read(context + saved_rsp, word[1]) ||
        !stack.read(context + saved_address, word[2]))
        return false;
    const auto interrupted = static_cast<std::uintptr_t>(word[1]);
    const auto is_alternate = [&](std::uintptr_t at) {
        return at - static_cast<std::uintptr_t>(begin) < static_cast<std::uintptr_t>(size);
    };
    Word below;
    const bool crosses = may_cross && is_alternate(context) && !is_alternate(interrupted);
    if (!crosses && (is_alternate(context) != is_alternate(interrupted) || !is_above(interrupted, cursor)))
        return false;
    if (!stack.read(interrupted - sizeof(Word), below)) return false;
    cursor = {word[2], interrupted, static_cast<std::uintptr_t>(word[0]), false};
#if defined(__aarch64__)
    if (!stack.read(context + saved_link, cursor.link)) return false;
#endif
    return true;
}

[[gnu::always_inline]] inline bool leave_function(const FrameRule& rule, Cursor& cursor, Stack& stack) {
    const auto by = [](std::uintptr_t base, std::int64_t offset) { return base + static_cast<std::uintptr_t>(offset); };
    std::uintptr_t cfa = by(rule.cfa == CfaRule::by_rsp ? cursor.cfa : cursor.rbp, rule.cfa_offset);
    Word word = 0;
    if (rule.cfa == CfaRule::behind_rbp) [[unlikely]] {
        if (cfa - cursor.cfa > largest_frame || !stack.read(cfa, word)) return false;
        cfa = static_cast<std::uintptr_t>(word);
    }
    const bool may_be_empty = returns_by_register && !cursor.is_return;
    if (!is_above(cfa, cursor) && !(may_be_empty && cfa == cursor.cfa)) return false;
    if (rule.rbp != RbpRule::same) {
        const std::uintptr_t at = by(rule.rbp == RbpRule::at_cfa ? cfa : cursor.rbp, rule.rbp_offset);
        if (at < cursor.cfa || at >= cfa || !stack.read(at, word)) return false;
        cursor.rbp = static_cast<std::uintptr_t>(word);
    }
    if (!read_return(rule, cfa, cursor, stack)) return false;
    cursor.cfa = cfa;
    cursor.is_return = true;
    return true;
}

// What a walk starts from: the frame of the function that asks, which has to last as long as the walk does.
[[gnu::always_inline]] inline Cursor here() {
    Cursor cursor;
#if defined(__aarch64__)
    asm volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29"
                 : "=&r"(cursor.address), "=&r"(cursor.cfa), "=&r"(cursor.rbp));
#else
    asm volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
                 : "=&a"(cursor.address), "=&d"(cursor.cfa), "=&c"(cursor.rbp));  // none of them is %rbp itself
#endif
    cursor.is_return = false;
    return cursor;
}

// What walks before have found is known by the words of the stack right below each CFA (own_ways.h, known_steps.h).
constexpr bool remembers_ways = !returns_by_register;

// From frame to frame, as long as `visit(cursor)` says so, within the loader's lock, which is taken once: what the
// rules are read from stays where it is.
template <class Visit, bool Crosses>
struct Walk {
    Cursor start;
    Visit visit;
    // Frames up to this one, which returns to `behind`, are ours and not visited, nor is it; 0: all are visited.
    std::uintptr_t call = 0;
    Word behind = 0;
    LibraryMoment moment{};
    int reason = Unwinder::cut;
    bool is_shallow = false;

    void go() { dl_iterate_phdr(within_lock, this); }

  private:
    static int within_lock(dl_phdr_info* first, std::size_t, void* argument) {
        Walk& walk = *static_cast<Walk*>(argument);
        walk.moment = {first->dlpi_adds, first->dlpi_subs};
        const bool is_ours = rules.begin(walk.moment);
        Word one;
        Stack stack(&one, 1);
        walk.reason = stack.is_first() ? walk.follow(is_ours, stack) : walk.follow_other(is_ours);
        walk.is_shallow = is_ours && stack.is_first() && !rules.was_deep();
        if (is_ours) rules.end();
        return 1;
    }
    // The same on a stack of which the kernel hands over pieces.
    [[gnu::noinline]] int follow_other(bool has_rules) {
        Word words[192];
        Stack stack(words, sizeof words / sizeof *words);
        return follow(has_rules, stack);
    }
    [[gnu::noinline]] int follow(bool has_rules, Stack& stack) {
        const auto rule_at = [&](const Cursor& at) {
            FrameRule rule =
                has_rules ? rules.find(at.address, at.is_return) : FrameRules::read_anew(at.address, at.is_return);
            if (returns_by_register && (rule.cfa == CfaRule::none || rule.cfa == CfaRule::no_code) &&
                is_way_back(at.address, stack))
                rule.cfa = CfaRule::signal;
            return rule;
        };
        Cursor cursor = start;  // which lies in registers
        const bool is_at_call = call == 0 || (has_rules && remembers_ways && go_to_call(cursor));
        FrameRule rule = rule_at(cursor);
        // To the next frame further up; false: `rule` says how the walk ends.
        const auto go_up = [&] __attribute__((always_inline)) {
            if (rule.cfa == CfaRule::none || rule.cfa == CfaRule::outermost) return false;
            const bool is_up =
                rule.cfa == CfaRule::signal ? leave_interrupted(cursor, stack) : leave_function(rule, cursor, stack);
            rule = is_up ? rule_at(cursor) : FrameRule{};
            return is_up && rule.cfa != CfaRule::no_code;  // else nobody returns there
        };
        if (!is_at_call) {
            OwnWays::Way way;
            do {
                const FrameRule before = rule;
                if (!go_up()) return end_by(rule);
                way.add(start.cfa, before, cursor);
            } while (cursor.cfa != call || cursor.address != behind);
            if (has_rules && remembers_ways) rules.own_ways.learn(way);
        }
        // Steps are remembered in the order of their addresses.
        return has_rules && remembers_ways && !Crosses ? follow_known(go_up, rule_at, rule, cursor, stack)
                                                       : follow_on(go_up, rule, cursor);
    }
    template <class GoUp>
    [[gnu::always_inline]] int follow_on(GoUp& go_up, const FrameRule& rule, const Cursor& cursor) {
        while (go_up())
            if (!visit(cursor)) return Unwinder::end_of_stack;
        return end_by(rule);
    }
    // The same, by the steps that walks before this one have made where it comes to them.
    template <class GoUp, class RuleAt>
    [[gnu::always_inline]] int follow_known(GoUp& go_up, RuleAt& rule_at, FrameRule& rule, Cursor& cursor,
                                            Stack& stack) {
        KnownSteps& steps = rules.steps;
        steps.begin();
        bool goes_on = true;
        while (goes_on) {
            const FrameRule by = rule;
            const Cursor before = cursor;
            if (!go_up()) break;
            goes_on = visit(cursor);
            if (!steps.note(by, before, cursor) || !goes_on) continue;
            goes_on = follow_steps(steps, cursor, stack);
            if (goes_on) rule = rule_at(cursor);
        }
        steps.end();
        return goes_on ? end_by(rule) : Unwinder::end_of_stack;
    }
    [[gnu::always_inline]] bool follow_steps(KnownSteps& steps, Cursor& cursor, Stack& stack) {
        const auto pass_on = [&](Word address, std::uintptr_t cfa) __attribute__((always_inline)) {
            return visit({address, cfa, 0, true});
        };
        const auto look = [](std::uintptr_t at, Word& word) {
            word = *reinterpret_cast<const Word*>(at);
            return true;
        };
        if (stack.is_open(steps.reach() - sizeof(Word))) [[likely]]
            return steps.follow(cursor, look, pass_on);
        return steps.follow(
            cursor, [&](std::uintptr_t at, Word& word) { return stack.read(at, word); }, pass_on);
    }
    static int end_by(const FrameRule& rule) {
        return rule.cfa == CfaRule::outermost ? Unwinder::end_of_stack : Unwinder::cut;
    }
    // A cursor of its own, which may lie in memory.
    static bool leave_interrupted(Cursor& cursor, Stack& stack) {
        Cursor above = cursor;
        if (!leave_signal(above, stack, Crosses)) return false;
        cursor = above;
        return true;
    }
    bool go_to_call(Cursor& cursor) const {
        Cursor there = cursor;
        if (!rules.own_ways.go(there, call) || there.address != behind) return false;
        cursor = there;
        return true;
    }
};

[[gnu::noinline]] int follow(CallStack& stack, unsigned wanted) {
    const auto add = [&](const Cursor& cursor) __attribute__((always_inline)) {
        if (cursor.address == 0) return false;
        stack.address[stack.depth] = cursor.address;
#if defined(__aarch64__)
        stack.place[stack.depth] = cursor.place;
#else
        const auto* place = reinterpret_cast<const Word*>(cursor.cfa) - 1;
        stack.place[stack.depth] = cursor.is_return || *place == cursor.address ? place : nullptr;
#endif
        return ++stack.depth < wanted;
    };
    Walk<decltype(add), false> walk{here(), add, reinterpret_cast<std::uintptr_t>(stack.place[0] + 1),
                                    stack.address[0]};
    walk.go();
    stack.moment = walk.moment;
    stack.is_shallow = walk.is_shallow;
    stack.is_cut = walk.reason == Unwinder::cut;
    return walk.reason;
}

[[gnu::noinline]] int backtrace(Unwinder::Visit visit, void* argument) {
    if (!visit) {
        const auto& following = *static_cast<const Following*>(argument);
        return follow(following.stack, following.wanted);
    }
    const auto ask = [&](Cursor cursor) { return visit(&cursor, argument) == 0; };
    Walk<decltype(ask), true> walk{here(), ask};
    walk.go();
    return walk.reason;
}

}  // namespace

const Unwinder own_unwinder{
    backtrace, [](void* context) { return static_cast<std::uintptr_t>(static_cast<Cursor*>(context)->address); },
    [](void* context) { return static_cast<Cursor*>(context)->cfa; }, true};

}  // namespace mpiprof

#endif
