// The ways that walks go through our own frames, from where they start up to the call's frame, remembered so that they
// are gone in one step: where the same return addresses lie at the same distances, the same sizes of frames lie between
// them, since each is said by its address alone. Part of FrameRules, whose lock guards it. Our code never goes.
#pragma once

#include "libmpiprof/record/frame_rule.h"

namespace mpiprof {

class OwnWays {
  public:
    struct Way {
        static constexpr unsigned most = 10;
        static constexpr std::int32_t as_it_was = -1;
        std::uint32_t bytes = 0;  // up to the call's frame; 0: none
        std::int32_t rbp_at = as_it_was;
        std::uint32_t count = 0;
        bool is_plain = true;    // else it cannot be told by its addresses
        std::uint16_t at[most];  // so many bytes above the start's frame
        Word address[most];

        // A step that led from a frame of this rule to `reached`.
        void add(std::uintptr_t start, const FrameRule& rule, const Cursor& reached) {
            const std::uintptr_t distance = reached.cfa - start;
            is_plain &= rule.cfa == CfaRule::by_rsp && rule.rbp != RbpRule::at_rbp && count < most && distance < 65536;
            if (!is_plain) return;
            bytes = static_cast<std::uint32_t>(distance);
            if (rule.rbp == RbpRule::at_cfa) rbp_at = static_cast<std::int32_t>(bytes) + rule.rbp_offset;
            at[count] = static_cast<std::uint16_t>(bytes - sizeof(Word));
            address[count++] = reached.address;
        }
        bool leads(std::uintptr_t start, std::uintptr_t to) const {
            if (bytes != to - start) return false;
            for (std::uint32_t i = 0; i < count; ++i)
                if (word(start + at[i]) != address[i]) return false;
            return true;
        }
    };

    // Brings the cursor to the frame that begins there; false: the way is not known.
    bool go(Cursor& cursor, std::uintptr_t to) const {
        const std::uintptr_t start = cursor.cfa;
        for (const Way& way : ways_)
            if (way.leads(start, to)) {
                if (way.rbp_at != Way::as_it_was)
                    cursor.rbp = static_cast<std::uintptr_t>(word(start + static_cast<std::uintptr_t>(way.rbp_at)));
                cursor.address = word(to - sizeof(Word));
                cursor.cfa = to;
                cursor.is_return = true;
                return true;
            }
        return false;
    }
    // One that has led to a call: where that returns to is no part of it.
    void learn(const Way& way) {
        if (!way.is_plain || way.bytes == 0) return;
        Way& place = ways_[turns_++ % most];
        place = way;
        place.count -= 1;
    }

  private:
    // Of the stack that we are on.
    static Word word(std::uintptr_t at) { return *reinterpret_cast<const Word*>(at); }
    static constexpr unsigned most = 8;
    Way ways_[most] = {};
    unsigned turns_ = 0;
};

}  // namespace mpiprof
