// .eh_frame_hdr leads to the description of a function (FDE), which refers to what it shares with others (CIE); both
// are little programs that are run up to the address in question. All is read within the bounds of its segment.
#include "libmpiprof/record/frame_rules.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "libmpiprof/record/plain_program.h"

namespace mpiprof {
namespace {

using namespace frame;
using Object = FrameRules::Object;
using Shared = FrameRules::Shared;
using AllShared = FrameRules::AllShared;

// The sorted table that linkers make: 4-byte offsets from the header, of a function and its description.
void read_table(Object& object) {
    constexpr std::uint8_t table_encoding = 0x3b, count_encoding = 0x03, pointer_encoding = 0x1b;
    Reader reader(object.header, object.end);
    const std::uint8_t version = reader.read<std::uint8_t>(), pointer = reader.read<std::uint8_t>(),
                       counted = reader.read<std::uint8_t>(), table = reader.read<std::uint8_t>();
    if (version != 1 || pointer != pointer_encoding || counted != count_encoding || table != table_encoding) return;
    reader.read<std::int32_t>();
    const auto count = reader.read<std::uint32_t>();
    if (!reader.has(std::size_t{count} * 8)) return;
    object.entries = reader.at();
    object.count = count;
}

// The function's description; null: none.
const std::uint8_t* find_description(const Object& object, std::uint64_t address) {
    if (object.count == 0) return nullptr;
    struct [[gnu::packed]] Entry {
        std::int32_t function, description;
    };
    const auto* entry = reinterpret_cast<const Entry*>(object.entries);
    const auto distance = static_cast<std::int64_t>(address - reinterpret_cast<std::uintptr_t>(object.header));
    const auto wanted = static_cast<std::int32_t>(distance);
    if (wanted != distance || entry->function > wanted) return nullptr;
    for (std::uint32_t count = object.count; count > 1;) {  // the last one that begins at or below it is among so many
        const std::uint32_t half = count / 2;
        const Entry* middle = entry + half;
        entry = middle->function <= wanted ? middle : entry;
        count -= half;
    }
    const std::uint8_t* description = object.header + entry->description;
    return description >= object.begin && description < object.end ? description : nullptr;
}

// An entry of .eh_frame behind its length.
[[gnu::always_inline]] inline Reader entry_at(const std::uint8_t* at, const Object& object) {
    Reader reader(at, object.end);
    const auto length = reader.read<std::uint32_t>();
    return length == 0 || length == 0xffffffff ? Reader(at, at) : reader.part(length);
}

// What the letters behind 'z' announce. False: one of them is not known.
bool read_augmentation(const char* letters, Reader data, bool& is_of_signal) {
    constexpr std::uint8_t relative_in_four_bytes = 0x1b;
    std::uint8_t encoding = 0;
    for (const char* c = letters; *c; ++c) {
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
    return encoding == relative_in_four_bytes;
}

bool read_shared(Reader reader, Shared& shared) {
    if (reader.read<std::uint32_t>() != 0) return false;
    const auto version = reader.read<std::uint8_t>();
    char augmentation[8] = {};
    for (unsigned i = 0; i < sizeof augmentation; ++i)
        if ((augmentation[i] = reader.read<char>()) == 0) break;
    shared.code_alignment = reader.uleb();
    shared.data_alignment = reader.sleb();
    const std::uint64_t reg = version == 1 ? reader.read<std::uint8_t>() : reader.uleb();
    if ((version != 1 && version != 3) || reg != return_register || augmentation[0] != 'z' || augmentation[7] != 0)
        return false;
    if (!read_augmentation(augmentation + 1, reader.part(reader.uleb()), shared.is_of_signal)) return false;
    Program program{shared.code_alignment, shared.data_alignment, 0, ~std::uint64_t{0}, {}};
    return reader.is_good() && program.run(reader, shared.state);
}

// The one that compilers begin nearly all functions with: see plain_program.h.
bool is_plain(const Shared& shared) {
    const State& state = shared.state;
    return !shared.is_of_signal && shared.code_alignment == 1 && shared.data_alignment == -8 &&
           state.cfa == CfaRule::by_rsp && state.cfa_offset == 8 && state.rbp == RbpRule::same && state.returns_above &&
           !state.is_strange && !state.is_outermost;
}

// What read_rule() does, for the descriptions that most functions have. False: read_rule() has to.
bool read_plain_rule(const Object& object, const std::uint8_t* at, std::uint64_t address, AllShared& all,
                     FrameRule& rule) {
    constexpr std::size_t head = 17;  // length, distance to what is shared, begin, bytes, how much is said of it
    const auto room = static_cast<std::size_t>(object.end - at);
    if (room < head) return false;
    struct [[gnu::packed]] {
        std::uint32_t length, distance;
        std::int32_t begin;
        std::uint32_t bytes;
        std::uint8_t told;
    } description;
    static_assert(sizeof description == head);
    memcpy(&description, at, head);
    const std::uint8_t* const shared_at = at + 4 - description.distance;
    const Shared& shared = all.place_of(shared_at);
    if (!shared.is_plain || shared.at != shared_at) return false;
    const std::uint64_t into = address - (reinterpret_cast<std::uintptr_t>(at + 8) +
                                          static_cast<std::uint64_t>(std::int64_t{description.begin}));
    const std::uint64_t length = std::uint64_t{description.length} + 4;
    if (into >= description.bytes || length > room || description.told >= 0x80 || head + description.told > length)
        return false;
    return run_plain(at + head + description.told, at + length, into, rule);
}

bool read_rule(const Object& object, const std::uint8_t* at, std::uint64_t address, AllShared& all, State& state) {
    Reader description = entry_at(at, object);
    const std::uint8_t* back = description.at();
    const auto distance = description.read<std::uint32_t>();
    if (!description.is_good() || distance > static_cast<std::size_t>(back - object.begin)) return false;
    Shared& shared = all.place_of(back - distance);
    if (shared.at != back - distance) {
        shared = {};
        shared.at = back - distance;
        shared.is_good = read_shared(entry_at(shared.at, object), shared);
        shared.is_plain = shared.is_good && is_plain(shared);
    }
    if (!shared.is_good) return false;
    const auto here = reinterpret_cast<std::uintptr_t>(description.at());
    const std::uint64_t begin = here + static_cast<std::uint64_t>(std::int64_t{description.read<std::int32_t>()});
    if (address - begin >= description.read<std::uint32_t>()) return false;
    if (shared.is_of_signal) {
        state.cfa = CfaRule::signal;  // the kernel's layout, which needs no program to tell it
        return true;
    }
    description.part(description.uleb());
    state = shared.state;
    Program program{shared.code_alignment, shared.data_alignment, begin, address, shared.state};
    if (!description.is_good() || !program.run(description, state)) return false;
    if (state.is_outermost) {
        state.cfa = CfaRule::outermost;
        return true;
    }
    return !state.is_strange && (state.returns_above || returns_by_register) && state.cfa != CfaRule::none;
}

struct Question {
    std::uint64_t address;
    Object object;
    bool is_code;
};

int look_into(dl_phdr_info* info, std::size_t, void* argument) {
    auto& question = *static_cast<Question*>(argument);
    Object& object = question.object;
    const ElfW(Phdr)* header = nullptr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
            question.address - (info->dlpi_addr + segment.p_vaddr) < segment.p_memsz) {
            object.code = info->dlpi_addr + segment.p_vaddr;
            object.code_bytes = segment.p_memsz;
            question.is_code = true;
        }
        if (segment.p_type == PT_GNU_EH_FRAME) header = &segment;
    }
    if (!question.is_code) return 0;
    for (int i = 0; header && i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0 ||
            header->p_vaddr - segment.p_vaddr >= segment.p_filesz)
            continue;
        object.header = reinterpret_cast<const std::uint8_t*>(info->dlpi_addr + header->p_vaddr);
        object.begin = reinterpret_cast<const std::uint8_t*>(info->dlpi_addr + segment.p_vaddr);
        object.end = object.begin + segment.p_filesz;
        read_table(object);
        break;
    }
    return 1;
}

// False: no object's code is there. The loader's lock is one that who holds it may take again.
[[gnu::noinline]] bool ask_loader(std::uint64_t address, Object& object) {
    Question question{address, {}, false};
    dl_iterate_phdr(look_into, &question);
    object = question.object;
    return question.is_code;
}

[[gnu::noinline]] const Object* learn_object(std::uint64_t address, FrameRules::Known& known) {
    Object object;
    if (!ask_loader(address, object)) return nullptr;
    Object& place = known.objects[known.count < known.most ? known.count++ : known.turns++ % known.most];
    place = object;
    return &place;
}

// Any description, at the cost of many instructions and of stack.
[[gnu::noinline]] FrameRule read_any_rule(const Object& object, const std::uint8_t* description, AllShared& shared,
                                          Word address, bool is_return) {
    State state{};
    const std::uint64_t wanted = static_cast<std::uint64_t>(address) - is_return;
    const bool is_known = read_rule(object, description, wanted, shared, state);
    const auto offset = static_cast<std::int32_t>(state.cfa_offset);
    const auto rbp_offset = static_cast<std::int16_t>(state.rbp_offset);
    if (!is_known || state.cfa_offset != offset || state.rbp_offset != rbp_offset)
        return {address, 0, 0, CfaRule::none, RbpRule::same};
    FrameRule rule{address, offset, rbp_offset, state.cfa, state.rbp};
#if defined(__aarch64__)
    rule.returns_at = state.returns_above ? static_cast<std::int32_t>(state.returns_at) : 0;
#endif
    return rule;
}

}  // namespace

bool FrameRules::begin(const LibraryMoment& moment) {
    if (!lock_.try_lock()) return false;
    was_deep_ = false;
    if (moment_ == moment) return true;
    moment_ = moment;
    for (auto& pair : rules_)
        for (FrameRule& rule : pair)
            if (rule.address != 0) rule = {};
    known_ = {};
    steps.forget();
    return true;
}

// As remembered; `none` of what does not fit.
FrameRule FrameRules::read(Word address, bool is_return) {
    const std::uint64_t wanted = static_cast<std::uint64_t>(address) - is_return;
    const Object* object = known_.find(wanted);
    if (!object) {
        was_deep_ = true;
        object = learn_object(wanted, known_);
        if (!object) return {address, 0, 0, CfaRule::no_code, RbpRule::same};
    }
    const std::uint8_t* description = find_description(*object, wanted);
    if (!description) return {address, 0, 0, CfaRule::none, RbpRule::same};
    FrameRule rule{address, 8, 0, CfaRule::by_rsp, RbpRule::same};
    if (read_plain_rule(*object, description, wanted, known_.shared, rule)) [[likely]]
        return rule;
    was_deep_ = true;
    return read_any_rule(*object, description, known_.shared, address, is_return);
}

const std::uint8_t* FrameRules::description_of(std::uint64_t address, bool& is_code) {
    Object object;
    is_code = ask_loader(address, object);
    return is_code ? find_description(object, address) : nullptr;
}

FrameRule FrameRules::read_anew(Word address, bool is_return) {
    const std::uint64_t wanted = static_cast<std::uint64_t>(address) - is_return;
    Object object;
    AllShared shared{};
    if (!ask_loader(wanted, object)) return {address, 0, 0, CfaRule::no_code, RbpRule::same};
    const std::uint8_t* description = find_description(object, wanted);
    if (!description) return {address, 0, 0, CfaRule::none, RbpRule::same};
    return read_any_rule(object, description, shared, address, is_return);
}

}  // namespace mpiprof
