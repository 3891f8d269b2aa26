// The little programs of .eh_frame that say where a function's caller is: the bytes, the rows of the table
// that they describe, and how they are run. For frame_rules.cpp. Reads within the bounds that it is given, and knows no
// object.
#pragma once

#include <string.h>

#include "libmpiprof/record/frame_rule.h"

namespace mpiprof::frame {

#if defined(__aarch64__)
inline constexpr std::uint64_t rbp = 29, rsp = 31, return_register = 30;
#else
inline constexpr std::uint64_t rbp = 6, rsp = 7, return_register = 16;
#endif

class Reader {
  public:
    Reader(const std::uint8_t* begin, const std::uint8_t* end) : at_(begin), end_(end) {}
    bool has(std::size_t bytes) const { return static_cast<std::size_t>(end_ - at_) >= bytes; }
    bool is_good() const { return is_good_; }
    const std::uint8_t* at() const { return at_; }
    template <class T>
    T read() {
        T value{};
        if (!has(sizeof value)) return fail(value);
        memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::uint64_t uleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = read<std::uint8_t>();
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return value;
        }
        return fail(value);
    }
    std::int64_t sleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 63; shift += 7) {
            const auto byte = read<std::uint8_t>();
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if ((byte & 0xc0) == 0x40) value -= std::uint64_t{1} << (shift + 7);
            if (byte < 0x80) return static_cast<std::int64_t>(value);
        }
        return fail(std::int64_t{0});
    }
    Reader part(std::uint64_t bytes) {
        if (!has(bytes)) return fail(Reader(end_, end_));
        const Reader part(at_, at_ + bytes);
        at_ += bytes;
        return part;
    }
    void skip_to(const std::uint8_t* at) { at_ = at; }

  private:
    template <class T>
    T fail(T value) {
        is_good_ = false;
        at_ = end_;
        return value;
    }
    const std::uint8_t *at_, *end_;
    bool is_good_ = true;
};

// What a row of the table says of the registers that are asked for. Zero at first, and made so by whoever needs it.
struct State {
    CfaRule cfa;
    RbpRule rbp;
    bool is_strange;     // a rule that is not one of ours
    bool returns_above;  // the return address lies right below the CFA; by register: at returns_at
    bool is_outermost;   // there is none
    std::int64_t cfa_offset, rbp_offset, returns_at;
    void by(std::uint64_t reg) {
        cfa = reg == frame::rsp ? CfaRule::by_rsp : reg == frame::rbp ? CfaRule::by_rbp : CfaRule::none;
    }
    // DW_CFA_offset and the like.
    void lies(std::uint64_t reg, std::int64_t offset) {
        if (reg == return_register) is_outermost = false;
        if (reg == frame::rbp) rbp = RbpRule::at_cfa, rbp_offset = offset;
        if (reg == return_register) returns_above = returns_by_register || offset == -8, returns_at = offset;
    }
    void is_lost(std::uint64_t reg) {
        if (reg == frame::rbp || reg == frame::rsp) is_strange = true;
        if (reg == return_register) returns_above = false, is_strange |= returns_by_register;
    }
};

// An expression that is `%rbp + offset`, with one DW_OP_deref behind it if `derefs`.
inline bool is_by_rbp(Reader expression, bool derefs, std::int64_t& offset) {
    constexpr std::uint8_t by_register = 0x70 + rbp, deref = 0x06;
    if (expression.read<std::uint8_t>() != by_register) return false;
    offset = expression.sleb();
    if (derefs && expression.read<std::uint8_t>() != deref) return false;
    return expression.is_good() && !expression.has(1);
}

// Numbers from a file may be anything: their product wraps.
inline std::int64_t times(std::uint64_t factor, std::int64_t alignment) {
    return static_cast<std::int64_t>(factor * static_cast<std::uint64_t>(alignment));
}

struct Program {
    std::uint64_t code_alignment;
    std::int64_t data_alignment;
    std::uint64_t location, wanted;  // addresses
    State initial;

    // False: something in it is not understood. Ends behind `wanted`.
    bool run(Reader code, State& state) {
        State stack[8];
        unsigned depth = 0;
        while (code.has(1)) {
            const auto byte = code.read<std::uint8_t>();
            const std::uint64_t low = byte & 0x3f;
            std::uint64_t advance = 0;
            switch (byte & 0xc0) {
                case 0x40:
                    advance = low;
                    break;
                case 0x80:
                    state.lies(low, times(code.uleb(), data_alignment));
                    continue;
                case 0xc0:
                    restore(state, low);
                    continue;
                default:
                    switch (byte) {
                        case 0x00:
                            continue;
                        case 0x02:
                            advance = code.read<std::uint8_t>();
                            break;
                        case 0x03:
                            advance = code.read<std::uint16_t>();
                            break;
                        case 0x04:
                            advance = code.read<std::uint32_t>();
                            break;
                        case 0x0a:
                            if (depth == 8) return false;
                            stack[depth++] = state;
                            continue;
                        case 0x0b:
                            if (depth == 0) return false;
                            state = stack[--depth];
                            continue;
                        default:
                            if (!run_register(byte, code, state) && !run_cfa(byte, code, state)) return false;
                            continue;
                    }
            }
            location += advance * code_alignment;
            if (location > wanted) break;
        }
        return code.is_good();
    }

  private:
    void restore(State& state, std::uint64_t reg) const {
        if (reg == rbp) state.rbp = initial.rbp, state.rbp_offset = initial.rbp_offset;
        if (reg == return_register) state.returns_above = initial.returns_above, state.returns_at = initial.returns_at;
    }
    // What is said of a register.
    bool run_register(std::uint8_t operation, Reader& code, State& state) const {
        std::uint64_t reg;
        switch (operation) {
            case 0x05:  // offset_extended
                reg = code.uleb();
                state.lies(reg, times(code.uleb(), data_alignment));
                return true;
            case 0x06:
                restore(state, code.uleb());
                return true;
            case 0x07:  // undefined
                reg = code.uleb();
                state.is_lost(reg);
                if (reg == return_register) state.is_outermost = true;
                return true;
            case 0x08:  // same_value
                if (code.uleb() == rbp) state.rbp = RbpRule::same;
                return true;
            case 0x09:  // register
                state.is_lost(code.uleb());
                code.uleb();
                return true;
            case 0x10: {  // expression
                reg = code.uleb();
                std::int64_t offset = 0;
                const bool is_ours = is_by_rbp(code.part(code.uleb()), false, offset);
                if (reg == rbp && is_ours)
                    state.rbp = RbpRule::at_rbp, state.rbp_offset = offset;
                else
                    state.is_lost(reg);
                return true;
            }
            case 0x11:  // offset_extended_sf
                reg = code.uleb();
                state.lies(reg, times(static_cast<std::uint64_t>(code.sleb()), data_alignment));
                return true;
            default:
                return false;
        }
    }
    // What is said of the CFA, and what says nothing.
    bool run_cfa(std::uint8_t operation, Reader& code, State& state) const {
        switch (operation) {
            case 0x0c:  // def_cfa
                state.by(code.uleb());
                state.cfa_offset = static_cast<std::int64_t>(code.uleb());
                return true;
            case 0x0d:
                state.by(code.uleb());
                return true;
            case 0x0e:
                state.cfa_offset = static_cast<std::int64_t>(code.uleb());
                return true;
            case 0x0f:  // def_cfa_expression
                state.cfa =
                    is_by_rbp(code.part(code.uleb()), true, state.cfa_offset) ? CfaRule::behind_rbp : CfaRule::none;
                return true;
            case 0x12:  // def_cfa_sf
                state.by(code.uleb());
                state.cfa_offset = times(static_cast<std::uint64_t>(code.sleb()), data_alignment);
                return true;
            case 0x13:
                state.cfa_offset = times(static_cast<std::uint64_t>(code.sleb()), data_alignment);
                return true;
            case 0x2d:  // aarch64: from here on the return address is signed, or no more
                return returns_by_register;
            case 0x2e:
                code.uleb();
                return true;  // GNU_args_size
            default:
                return false;
        }
    }
};

}  // namespace mpiprof::frame
