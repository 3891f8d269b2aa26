// .eh_frame_hdr leads to the description of a function (FDE), which refers to what it shares with others (CIE); both
// are little programs that are run up to the address in question. All is read within the bounds of its segment.
#include "libmpiprof/record/frame_rules.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "libmpiprof/record/frame_program.h"

namespace mpiprof {
namespace {

using namespace frame;

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

}  // namespace

void FrameRules::forget_other_moments(const LibraryMoment& moment) {
    if (moment_ == moment) return;
    moment_ = moment;
    for (FrameRule& rule : rules_)
        if (rule.address != 0) rule = {};
}

FrameRule FrameRules::find(Word address, bool is_return, const LibraryMoment& moment) {
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
