// The steps of the walks before, so that one that comes to where they were goes on along their steps: what a step leads
// to is said by where it starts (an address, its frame, %rbp) and by the words of the stack that it reads, so a look at
// these is as good as the step. Most walks differ in their first few frames. Part of FrameRules, whose lock guards it,
// and forgotten with the rules.
#pragma once

#include "libmpiprof/record/frame_rule.h"

namespace mpiprof {

class KnownSteps {
  public:
    // A walk begins.
    void begin() {
        at_ = first_;
        fresh_count_ = 0;
        has_met_ = false;
    }
    // It has come here, by this rule from `before`. True: so have walks before it.
    [[gnu::always_inline]] bool note(const FrameRule& rule, const Cursor& before, const Cursor& to) {
        const std::uintptr_t rbp_at = rbp_read_at(rule, before, to);
        Step* at = at_;
        while (at != last_ && at->cfa < to.cfa) ++at;
        at_ = at;
        if (at != last_ && at->cfa == to.cfa && at->address == to.address && at->rbp == to.rbp &&
            at->rbp_at != interrupted && rbp_at != interrupted) {
            meet(rbp_at);
            return true;
        }
        if (fresh_count_ < most_fresh) fresh_[fresh_count_] = {to.address, to.cfa, to.rbp, rbp_at};
        ++fresh_count_;
        return false;
    }
    // Along their steps, as far as the stack is as it was then: `read(at, word)` reads it. False: `visit` wants no
    // more.
    template <class Read, class Visit>
    [[gnu::always_inline]] bool follow(Cursor& cursor, Read read, Visit visit) {
        const Step* const last = last_;
        Step* step = at_ + 1;
        bool goes_on = true;
        for (; step != last && goes_on && holds(*step, read); ++step) goes_on = visit(step->address, step->cfa);
        end_ = step;
        at_ = end_ - 1;
        cursor = {at_->address, at_->cfa, at_->rbp, true};
        return goes_on;
    }
    // Behind the last of the frames that follow() may look at.
    std::uintptr_t reach() const { return last_[-1].cfa; }
    // The walk is over: what it has found is known from now on.
    void end() {
        if (fresh_count_ == 0) return;
        if (!has_met_) first_ = end_ = steps_ + most_fresh;
        for (unsigned i = 0; i < fresh_count_ && i < most_fresh && end_ != steps_ + most; ++i) *end_++ = fresh_[i];
        last_ = end_;
    }
    void forget() { first_ = last_ = nullptr; }

  private:
    static constexpr unsigned most_fresh = 32, most = 3 * most_fresh;
    struct Step {  // where it led to
        Word address;
        std::uintptr_t cfa, rbp;
        std::uintptr_t rbp_at;  // where its %rbp was read; or one of these, where no word lies
    };
    // It is that of the frame below; nobody knows, so that it is to be gone anew; and it led to what a signal
    // interrupted, which is another place of the same address.
    static constexpr std::uintptr_t nowhere = 0, not_known = 1, interrupted = 2;

    static std::uintptr_t rbp_read_at(const FrameRule& rule, const Cursor& before, const Cursor& to) {
        if (!to.is_return) return interrupted;
        if (rule.cfa != CfaRule::by_rsp && rule.cfa != CfaRule::by_rbp) return not_known;
        if (rule.rbp == RbpRule::same) return nowhere;
        const std::uintptr_t base = rule.rbp == RbpRule::at_cfa ? to.cfa : before.rbp;
        return base + static_cast<std::uintptr_t>(std::intptr_t{rule.rbp_offset});
    }
    template <class Read>
    [[gnu::always_inline]] static bool holds(const Step& step, Read read) {
        Word word;
        if (!read(step.cfa - sizeof(Word), word) || word != step.address) return false;
        if (step.rbp_at == nowhere) [[likely]]
            return true;
        return step.rbp_at % sizeof(Word) == 0 && read(step.rbp_at, word) &&
               static_cast<std::uintptr_t>(word) == step.rbp;
    }
    // Its own steps up to here replace theirs, which may have come here otherwise.
    void meet(std::uintptr_t rbp_at) {
        has_met_ = true;
        if (fresh_count_ <= at_ - steps_ && fresh_count_ <= most_fresh) {
            first_ = at_ - fresh_count_;
            for (unsigned i = 0; i < fresh_count_; ++i) first_[i] = fresh_[i];
            at_->rbp_at = rbp_at;
        }
        fresh_count_ = 0;
    }
    Step *first_ = nullptr, *last_ = nullptr;  // of those that are known
    Step *at_ = nullptr, *end_ = nullptr;      // the one where the walk is, and the one behind it
    unsigned fresh_count_ = 0;                 // steps of the walk since it began, or was last among those
    bool has_met_ = false;
    Step steps_[most] = {}, fresh_[most_fresh] = {};
};

}  // namespace mpiprof
