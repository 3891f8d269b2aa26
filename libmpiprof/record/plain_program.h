// The little programs of .eh_frame as compilers make nearly all of them, read at less cost than by
// frame_program.h, which knows every form: the CFA by %rsp or %rbp, %rbp where it was pushed, codes of one byte, data
// of eight. Functions that pass arguments on the stack have long ones: gfortran's, thousands of bytes. For
// frame_rules.cpp. What is not plain is left to the other.
#pragma once

#include "libmpiprof/record/frame_program.h"

namespace mpiprof::frame {

// A number of at most two bytes; false: it has more, or the program ends within.
[[gnu::always_inline]] inline bool read_small(const std::uint8_t*& at, const std::uint8_t* end, std::uint32_t& value) {
    if (at == end) return false;
    value = *at++;
    if (value < 0x80) [[likely]]
        return true;
    if (at == end || *at >= 0x80) return false;
    value = (value & 0x7f) | std::uint32_t{*at++} << 7;
    return true;
}

[[gnu::always_inline]] inline bool is_register_of_cfa(std::uint32_t reg, FrameRule& rule) {
    rule.cfa = reg == rsp ? CfaRule::by_rsp : CfaRule::by_rbp;
    return reg == rsp || reg == rbp;
}

// The row of the table so many bytes into the function; `rule` is what it begins with. False: something is not plain,
// and `rule` says nothing.
inline bool run_plain(const std::uint8_t* at, const std::uint8_t* end, std::uint64_t into, FrameRule& rule) {
    constexpr std::uint8_t advance = 0x40, offset = 0x80, restore = 0xc0;
    FrameRule kept[4];
    unsigned depth = 0;
    std::uint32_t value = 0;
    while (at != end) {
        const std::uint8_t byte = *at++, low = byte & 0x3f;
        if ((byte & 0xc0) == advance) {
            if (low > into) return true;
            into -= low;
        } else if (byte == 0x0e) {  // def_cfa_offset
            if (!read_small(at, end, value)) return false;
            rule.cfa_offset = static_cast<std::int32_t>(value);
        } else if ((byte & 0xc0) == offset) {
            if (low == return_register || !read_small(at, end, value)) return false;
            if (low != rbp) continue;
            if (value > 4000) return false;
            rule.rbp = RbpRule::at_cfa;
            rule.rbp_offset = static_cast<std::int16_t>(-8 * static_cast<int>(value));
        } else if ((byte & 0xc0) == restore) {
            if (low == return_register) return false;
            if (low == rbp) rule.rbp = RbpRule::same, rule.rbp_offset = 0;
        } else if (byte >= 0x02 && byte <= 0x04) {  // advance, by one, two, four bytes
            const std::uint8_t* const behind = at + (1 << (byte - 0x02));
            if (behind > end) return false;
            std::uint32_t by = 0;
            for (unsigned shift = 0; at != behind; shift += 8) by |= std::uint32_t{*at++} << shift;
            if (by > into) return true;
            into -= by;
        } else if (byte == 0x0c) {  // def_cfa
            if (!read_small(at, end, value) || !is_register_of_cfa(value, rule) || !read_small(at, end, value))
                return false;
            rule.cfa_offset = static_cast<std::int32_t>(value);
        } else if (byte == 0x0d) {  // def_cfa_register
            if (!read_small(at, end, value) || !is_register_of_cfa(value, rule)) return false;
        } else if (byte == 0x0a) {  // remember_state
            if (depth == sizeof kept / sizeof *kept) return false;
            kept[depth++] = rule;
        } else if (byte == 0x0b) {  // restore_state
            if (depth == 0) return false;
            rule = kept[--depth];
        } else if (byte == 0x2e) {  // GNU_args_size
            if (!read_small(at, end, value)) return false;
        } else if (byte != 0x00) {
            return false;
        }
    }
    return true;
}

}  // namespace mpiprof::frame
