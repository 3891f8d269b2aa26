// .eh_frame_hdr leads to the description of a function (FDE), which refers to what it shares with others (CIE); both
// are little programs that are run up to the address in question. All is read within the bounds of its segment.
#include "libmpiprof/record/frame_rules.h"

#include <elf.h>
#include <link.h>
#include <string.h>

namespace mpiprof {
namespace {

constexpr std::uint64_t rbp = 6, rsp = 7, return_register = 16;

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

// What a row of the table says of the registers that are asked for.
struct State {
    CfaRule cfa = CfaRule::none;
    RbpRule rbp = RbpRule::same;
    bool is_known = true;        // else a rule that is not one of ours
    bool returns_above = false;  // the return address lies right below the CFA
    bool is_outermost = false;   // there is none
    std::int64_t cfa_offset = 0, rbp_offset = 0;
    void by(std::uint64_t reg) {
        cfa = reg == mpiprof::rsp ? CfaRule::by_rsp : reg == mpiprof::rbp ? CfaRule::by_rbp : CfaRule::none;
    }
    // DW_CFA_offset and the like.
    void lies(std::uint64_t reg, std::int64_t offset) {
        if (reg == return_register) is_outermost = false;
        if (reg == mpiprof::rbp) rbp = RbpRule::at_cfa, rbp_offset = offset;
        if (reg == return_register) returns_above = offset == -8;
    }
    void is_lost(std::uint64_t reg) {
        if (reg == mpiprof::rbp || reg == mpiprof::rsp) is_known = false;
        if (reg == return_register) returns_above = false;
    }
};

// An expression that is `%rbp + offset`, with one DW_OP_deref behind it if `derefs`.
bool is_by_rbp(Reader expression, bool derefs, std::int64_t& offset) {
    constexpr std::uint8_t breg6 = 0x76, deref = 0x06;
    if (expression.read<std::uint8_t>() != breg6) return false;
    offset = expression.sleb();
    if (derefs && expression.read<std::uint8_t>() != deref) return false;
    return expression.is_good() && !expression.has(1);
}

// Numbers from a file may be anything: their product wraps.
std::int64_t times(std::uint64_t factor, std::int64_t alignment) {
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
                            if (!run_other(byte, code, state)) return false;
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
        if (reg == return_register) state.returns_above = initial.returns_above;
    }
    bool run_other(std::uint8_t operation, Reader& code, State& state) const {
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
            case 0x12:  // def_cfa_sf
                state.by(code.uleb());
                state.cfa_offset = times(static_cast<std::uint64_t>(code.sleb()), data_alignment);
                return true;
            case 0x13:
                state.cfa_offset = times(static_cast<std::uint64_t>(code.sleb()), data_alignment);
                return true;
            case 0x2e:
                code.uleb();
                return true;  // GNU_args_size
            default:
                return false;
        }
    }
};

// The object that an address lies in: its .eh_frame_hdr, and the segment that this and .eh_frame lie in.
struct Found {
    std::uint64_t address;
    const std::uint8_t *header, *begin, *end;
};

// The function's description, by the sorted table that linkers make (4-byte offsets from the header); null: none.
const std::uint8_t* find_description(const Found& found) {
    constexpr std::uint8_t table_encoding = 0x3b, count_encoding = 0x03, pointer_encoding = 0x1b;
    Reader reader(found.header, found.end);
    const std::uint8_t version = reader.read<std::uint8_t>(), pointer = reader.read<std::uint8_t>(),
                       counted = reader.read<std::uint8_t>(), table = reader.read<std::uint8_t>();
    if (version != 1 || pointer != pointer_encoding || counted != count_encoding || table != table_encoding)
        return nullptr;
    reader.read<std::int32_t>();
    const auto count = reader.read<std::uint32_t>();
    if (count == 0 || !reader.has(std::size_t{count} * 8)) return nullptr;
    const std::uint8_t* entries = reader.at();
    const auto offset_at = [&](std::uint32_t i, int which) {
        std::int32_t offset;
        memcpy(&offset, entries + std::size_t{i} * 8 + which * 4, sizeof offset);
        return std::int64_t{offset};
    };
    const std::int64_t wanted =
        static_cast<std::int64_t>(found.address - reinterpret_cast<std::uintptr_t>(found.header));
    std::uint32_t low = 0, high = count;  // the last one that begins at or below it is in [low, high)
    if (offset_at(0, 0) > wanted) return nullptr;
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        (offset_at(middle, 0) <= wanted ? low : high) = middle;
    }
    const std::uint8_t* description = found.header + offset_at(low, 1);
    return description >= found.begin && description < found.end ? description : nullptr;
}

// An entry of .eh_frame behind its length.
Reader entry_at(const std::uint8_t* at, const Found& found) {
    Reader reader(at, found.end);
    const auto length = reader.read<std::uint32_t>();
    return length == 0 || length == 0xffffffff ? Reader(at, at) : reader.part(length);
}

bool read_rule(const Found& found, State& state) {
    const std::uint8_t* at = find_description(found);
    if (!at) return false;
    Reader description = entry_at(at, found);
    const std::uint8_t* back = description.at();
    const auto distance = description.read<std::uint32_t>();
    if (distance > static_cast<std::size_t>(back - found.begin)) return false;
    Reader shared = entry_at(back - distance, found);
    if (!description.is_good() || shared.read<std::uint32_t>() != 0) return false;

    const auto version = shared.read<std::uint8_t>();
    char augmentation[8] = {};
    for (unsigned i = 0; i < sizeof augmentation; ++i)
        if ((augmentation[i] = shared.read<char>()) == 0) break;
    Program program{};
    program.code_alignment = shared.uleb();
    program.data_alignment = shared.sleb();
    const std::uint64_t reg = version == 1 ? shared.read<std::uint8_t>() : shared.uleb();
    if ((version != 1 && version != 3) || reg != return_register || augmentation[0] != 'z' || augmentation[7] != 0)
        return false;
    Reader data = shared.part(shared.uleb());
    std::uint8_t encoding = 0;
    bool is_of_signal = false;
    for (const char* c = augmentation + 1; *c; ++c) {
        if (*c == 'R') {
            encoding = data.read<std::uint8_t>();
        } else if (*c == 'L') {
            data.read<std::uint8_t>();
        } else if (*c == 'S') {
            is_of_signal = true;
        } else if (*c == 'P') {
            const auto kind = data.read<std::uint8_t>();
            data.part((kind & 7) == 3 ? 4 : 8);
        } else {
            return false;
        }
    }
    constexpr std::uint8_t relative_in_four_bytes = 0x1b;
    if (encoding != relative_in_four_bytes) return false;
    const auto here = reinterpret_cast<std::uintptr_t>(description.at());
    program.location = here + static_cast<std::uint64_t>(std::int64_t{description.read<std::int32_t>()});
    program.wanted = found.address;
    if (found.address - program.location >= description.read<std::uint32_t>()) return false;
    if (is_of_signal) {
        state.cfa = CfaRule::signal;  // the kernel's layout, which needs no program to tell it
        return true;
    }
    description.part(description.uleb());
    const std::uint64_t begin = program.location;
    if (!shared.is_good() || !description.is_good() || !program.run(shared, state)) return false;
    program.initial = state;
    program.location = begin;
    if (!program.run(description, state)) return false;
    if (state.is_outermost) {
        state.cfa = CfaRule::outermost;
        return true;
    }
    return state.is_known && state.returns_above && state.cfa != CfaRule::none;
}

// What is found out of an address, within the loader's lock: no library goes while its rules are read.
struct Question {
    std::uint64_t address;
    State state;
    bool is_code, is_known;
};

int look_into(dl_phdr_info* info, std::size_t, void* argument) {
    auto& question = *static_cast<Question*>(argument);
    const ElfW(Phdr)* header = nullptr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
            question.address - (info->dlpi_addr + segment.p_vaddr) < segment.p_memsz)
            question.is_code = true;
        if (segment.p_type == PT_GNU_EH_FRAME) header = &segment;
    }
    if (!question.is_code) return 0;
    for (int i = 0; header && i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0 ||
            header->p_vaddr - segment.p_vaddr >= segment.p_filesz)
            continue;
        const auto* begin = reinterpret_cast<const std::uint8_t*>(info->dlpi_addr + segment.p_vaddr);
        const Found found{question.address, reinterpret_cast<const std::uint8_t*>(info->dlpi_addr + header->p_vaddr),
                          begin, begin + segment.p_filesz};
        question.is_known = read_rule(found, question.state);
        break;
    }
    return 1;
}

// As remembered; `none` of what does not fit.
FrameRule read_rule_at(Word address, bool is_return) {
    Question question{static_cast<std::uint64_t>(address) - is_return, {}, false, false};
    dl_iterate_phdr(look_into, &question);
    const State& state = question.state;
    const auto offset = static_cast<std::int32_t>(state.cfa_offset);
    const auto rbp_offset = static_cast<std::int16_t>(state.rbp_offset);
    if (!question.is_code) return {address, 0, 0, CfaRule::no_code, RbpRule::same};
    if (!question.is_known || state.cfa_offset != offset || state.rbp_offset != rbp_offset)
        return {address, 0, 0, CfaRule::none, RbpRule::same};
    return {address, offset, rbp_offset, state.cfa, state.rbp};
}

int read_moment(dl_phdr_info* info, std::size_t, void* argument) {
    *static_cast<FrameRules::Moment*>(argument) = {info->dlpi_adds, info->dlpi_subs};
    return 1;
}

}  // namespace

FrameRules::Moment FrameRules::now() {
    Moment moment{0, 0};
    dl_iterate_phdr(read_moment, &moment);
    return moment;
}

void FrameRules::forget_other_moments(const Moment& moment) {
    if (moment_ == moment) return;
    moment_ = moment;
    for (FrameRule& rule : rules_)
        if (rule.address != 0) rule = {};
}

FrameRule FrameRules::find(Word address, bool is_return, const Moment& moment) {
    FrameRule& place = rules_[mix(static_cast<std::uint64_t>(address)) >> (64 - bits)];
    if (lock_.try_lock()) {
        forget_other_moments(moment);
        const FrameRule rule = place;
        lock_.unlock();
        if (rule.address == address) return rule;
    }
    const FrameRule rule = read_rule_at(address, is_return);
    if (lock_.try_lock()) {
        if (moment_ == moment) place = rule;  // else it may be a rule of what is gone
        lock_.unlock();
    }
    return rule;
}

}  // namespace mpiprof
