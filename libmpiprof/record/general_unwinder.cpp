// libunwind starts from the registers here and is asked for one frame after the other. Descriptions are found by us
// (an object's table, or what was registered with libgcc) and handed over as a table of one entry.
#include "libmpiprof/record/general_unwinder.h"

#if defined(__x86_64__)

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include <initializer_list>

#include "libmpiprof/base/loader.h"
#include "libmpiprof/record/frame_rules.h"
#include "libmpiprof/record/libunwind.h"
#include "libmpiprof/record/mapped_words.h"

namespace mpiprof {
namespace {

using namespace libunwind;

// What is registered at run time, libgcc knows: null if the program has no libgcc.
using FindRegistered = const std::uint8_t* (*)(void* address, void* (&bases)[3]);

FindRegistered find_registered() {
    constexpr int as_it_is = RTLD_LAZY | RTLD_NOLOAD;
    void* libgcc = loader().dlopen("libgcc_s.so.1", as_it_is);
    return libgcc ? reinterpret_cast<FindRegistered>(loader().dlsym(libgcc, "_Unwind_Find_FDE")) : nullptr;
}

class Library {
  public:
    // Once in the process; another thread does without while one is at it.
    bool is_open() const { return state_.load(std::memory_order_acquire) == open; }
    bool may_be_opened() const { return state_.load(std::memory_order_relaxed) == unopened; }
    void open_now();
    Functions functions{};
    void* space = nullptr;
    FindRegistered registered = nullptr;
    bool has_word_more = false;  // in its tables
    // Walks that found nothing, one after the other: after so many it is asked no more.
    std::atomic<unsigned> fruitless{0};

  private:
    bool is_usable();
    enum State : unsigned { unopened, opening, open, absent };
    std::atomic<State> state_{unopened};
};
constinit Library opened{};

// ---- what a signal handler may have interrupted ----

struct Words {
    const Word* begin;
    std::size_t count;
};

// What sigaction() wrote of that code stays on the stack as well. Behind the word by which a handler returns lie the
// registers that the kernel saved; whatever the kernel, the code segment of a program has privilege level 3.
bool is_frame_of_handler(const Word* at, std::size_t count) {
    constexpr std::size_t segments = 24;  // rt_sigframe: 8 bytes, 40 of the ucontext, 18 registers
    return count <= segments || (at[segments] & 3) == 3;
}

// The loader, malloc, or libgcc while it registers code. A handler's frame returns to code that asks the kernel to go
// on where it came from; no word of this stack may lead there.
int look_for_way_back(dl_phdr_info* object, std::size_t, void* argument) {
    constexpr std::uint8_t with_prefix[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};  // movq $15, %rax; syscall
    constexpr std::uint8_t without[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};                  // movl $15, %eax; syscall
    const auto [words, count] = *static_cast<const Words*>(argument);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& segment = object->dlpi_phdr[i];
        constexpr unsigned code = PF_R | PF_X;
        if (segment.p_type != PT_LOAD || (segment.p_flags & code) != code || segment.p_memsz <= sizeof with_prefix)
            continue;
        const std::uint64_t begin = object->dlpi_addr + segment.p_vaddr;
        for (std::size_t n = 0; n < count; ++n) {
            const auto word = static_cast<std::uint64_t>(words[n]);
            if (word - begin >= segment.p_memsz - sizeof with_prefix) continue;
            const auto* at = reinterpret_cast<const void*>(word);
            if (memcmp(at, with_prefix, sizeof with_prefix) != 0 && memcmp(at, without, sizeof without) != 0) continue;
            if (is_frame_of_handler(words + n, count - n)) return 1;
        }
    }
    return 0;
}

bool may_be_in_handler(const Word* at, std::size_t words_above) {
    constexpr std::size_t most = 1 << 17;
    Words words{at, words_above};
    return words_above > most || dl_iterate_phdr(look_for_way_back, &words) != 0;
}

// ---- descriptions ----

struct Walk {
    Word registers[libunwind::registers];
    Word stack_room[192], code_room[64];
    MappedWords stack{stack_room, 192}, code{code_room, 64};
    alignas(8) std::int32_t entry[2];  // of the table: a function and its description
    const NativeStack* own;
    bool lacks_description;
    enum class Asks : std::uint8_t { not_known, yes, no } asks_libgcc;

    // Which takes a lock of its own. Looked at once a walk, where it is needed.
    bool may_ask_libgcc() {
        const auto* here = reinterpret_cast<const Word*>(this);
        if (asks_libgcc == Asks::not_known)
            asks_libgcc = may_be_in_handler(here, own->words_above(here)) ? Asks::no : Asks::yes;
        return asks_libgcc == Asks::yes;
    }
    bool read(std::uintptr_t at, Word& word) {
        const auto here = reinterpret_cast<std::uintptr_t>(this), entry_at = reinterpret_cast<std::uintptr_t>(entry);
        if (at == entry_at) {
            memcpy(&word, entry, sizeof word);
            return true;
        }
        constexpr std::uintptr_t largest_stack = std::uintptr_t{1} << 30;
        return at % sizeof(Word) == 0 && (at - here < largest_stack ? stack : code).read(at, word);
    }
};

const std::uint8_t* description_of(Word address, Walk& walk, bool& is_code) {
    const std::uint8_t* found = FrameRules::description_of(static_cast<std::uint64_t>(address), is_code);
    if (found || is_code || !opened.registered || !walk.may_ask_libgcc()) return found;
    void* bases[3];
    return opened.registered(reinterpret_cast<void*>(address), bases);
}

int search(Walk& walk, Word address, const std::uint8_t* description, bool has_word_more, Procedure* found) {
    walk.entry[0] = walk.entry[1] = 0;
    Table table{};
    table.begin = address;
    table.end = address + 1;
    table.format = Table::offsets_from_begin;
    Word* const rest = table.rest + (has_word_more ? 1 : 0);
    rest[1] = reinterpret_cast<Word>(description);  // the base; behind a name
    rest[2] = 1;                                    // words of entries
    rest[3] = reinterpret_cast<Word>(walk.entry);
    return opened.functions.search(opened.space, address, &table, found, 1, &walk);
}

int find_procedure(void*, Word address, Procedure* found, int, void* argument) {
    Walk& walk = *static_cast<Walk*>(argument);
    bool is_code;
    const std::uint8_t* description = description_of(address, walk, is_code);
    const int result = description ? search(walk, address, description, opened.has_word_more, found) : no_information;
    walk.lacks_description = result < 0;
    return result;
}

int read_memory(void*, Word address, Word* value, int is_write, void* argument) {
    Walk& walk = *static_cast<Walk*>(argument);
    return !is_write && walk.read(static_cast<std::uintptr_t>(address), *value) ? 0 : unspecific;
}

int read_register(void*, Register number, Word* value, int is_write, void* argument) {
    if (is_write || number < 0 || number >= libunwind::registers) return unspecific;
    *value = argument ? static_cast<Walk*>(argument)->registers[number] : 0;
    return 0;
}

// Not a table: each address in one would be a relocation in every process.
Questions questions() {
    Questions ours{};
    ours.find_procedure = find_procedure;
    ours.put_procedure = [](void*, Procedure*, void*) {};
    ours.registered_procedures = [](void*, Word*, void*) { return no_information; };
    ours.memory = read_memory;
    ours.register_value = read_register;
    ours.floating_register = [](void*, Register, void*, int, void*) { return unspecific; };
    ours.resume = [](void*, Place*, void*) { return unspecific; };
    ours.name = [](void*, Word, char*, std::size_t, Word*, void*) { return unspecific; };
    return ours;
}

// Which of the two layouts its tables have shows itself with a function of ours.
bool Library::is_usable() {
    Questions ours = questions();
    if (!functions.open(ours, space)) return false;
    const Word address = reinterpret_cast<Word>(&find_procedure);
    bool is_code;
    const std::uint8_t* description = FrameRules::description_of(static_cast<std::uint64_t>(address), is_code);
    if (!description) return false;
    Walk walk{};
    for (const bool more : {true, false}) {
        Procedure found{};
        if (search(walk, address, description, more, &found) != 0 || found.begin != address || found.end <= address)
            continue;
        has_word_more = more;
        return true;
    }
    return false;
}

void Library::open_now() {
    State was = unopened;
    if (!state_.compare_exchange_strong(was, opening, std::memory_order_acq_rel)) return;
    const bool is_there = is_usable();
    if (is_there) registered = find_registered();
    state_.store(is_there ? open : absent, std::memory_order_release);
}

// ---- where it may be opened ----

constexpr std::size_t room_to_walk = 48 << 10, room_to_open = 256 << 10;
constexpr unsigned most_fruitless = 64, cost_of_look = 8;  // at a whole stack

void add_fruitless(unsigned n) {
    opened.fruitless.store(opened.fruitless.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

bool is_ready(const Word* at, const NativeStack& own) {
    const std::size_t below = own.bytes_below(at);
    if (opened.may_be_opened() && below >= room_to_open && may_open()) {
        if (may_be_in_handler(at, own.words_above(at)))
            add_fruitless(cost_of_look);
        else
            opened.open_now();
    }
    return opened.is_open() && below >= room_to_walk;
}

// ---- the walk ----

// Of the frame that this is part of. What a function may change is not needed.
[[gnu::always_inline]] inline void take_registers(Word (&to)[libunwind::registers]) {
    asm volatile(
        "movq %%rbx, 24(%0)\n\tmovq %%rbp, 48(%0)\n\tmovq %%rsp, 56(%0)\n\tmovq %%r12, 96(%0)\n\t"
        "movq %%r13, 104(%0)\n\tmovq %%r14, 112(%0)\n\tmovq %%r15, 120(%0)\n\t"
        "leaq 0(%%rip), %%rax\n\tmovq %%rax, 128(%0)"
        :
        : "r"(to)
        : "rax", "memory");
}

// Whether a return address is behind code of an object, or code that is described.
bool is_behind_code(Word address, Walk& walk) {
    bool is_code;
    return description_of(address - 1, walk, is_code) || is_code;
}

// Up to the next frame: where it goes on, and where that return address lies. False: nothing is known of it.
bool go_up(Walk& walk, Place& cursor, Word& address, const Word*& place) {
    constexpr Word largest_frame = Word{64} << 20;
    Word before, now;
    const Functions& call = opened.functions;
    if (call.get(&cursor, rsp, &before) != 0) return false;
    walk.lacks_description = false;
    // Without a description it goes by %rbp, which is a guess.
    if (call.step(&cursor) <= 0 || walk.lacks_description) return false;
    if (call.get(&cursor, rip, &address) != 0 || call.get(&cursor, rsp, &now) != 0) return false;
    if (now <= before || now - before > largest_frame) return false;
    place = reinterpret_cast<const Word*>(now) - 1;
    return true;
}

[[gnu::noinline]] unsigned follow(CallStack& stack, unsigned wanted, const NativeStack& own) {
    Walk walk{};
    walk.own = &own;
    Place cursor;
    take_registers(walk.registers);
    if (opened.functions.init(&cursor, opened.space, &walk) != 0) return 0;
    Word address = 0;
    const Word* place = nullptr;
    do {
        if (!go_up(walk, cursor, address, place) || place > stack.place[0]) return 0;
    } while (place != stack.place[0]);
    if (address != stack.address[0]) return 0;
    unsigned depth = 1;
    Word addresses[CallStack::deepest];
    const Word* places[CallStack::deepest];
    for (; depth < wanted && go_up(walk, cursor, address, place) && address != 0 && is_behind_code(address, walk);
         ++depth) {
        addresses[depth] = address;
        places[depth] = own.holds(place) && *place == address ? place : nullptr;
    }
    if (depth <= stack.depth) return 0;
    memcpy(stack.address + 1, addresses + 1, (depth - 1) * sizeof *addresses);
    memcpy(stack.place + 1, places + 1, (depth - 1) * sizeof *places);
    return depth;
}

}  // namespace

bool follow_by_libunwind(CallStack& stack, unsigned wanted, const NativeStack& own) {
    if (opened.fruitless.load(std::memory_order_relaxed) >= most_fruitless) return false;
    if (!is_ready(static_cast<const Word*>(__builtin_frame_address(0)), own)) return false;
    const unsigned depth = follow(stack, wanted < CallStack::deepest ? wanted : CallStack::deepest, own);
    if (depth == 0) {
        add_fruitless(1);
        return false;
    }
    stack.depth = depth;
    opened.fruitless.store(0, std::memory_order_relaxed);
    return true;
}

}  // namespace mpiprof

#else

namespace mpiprof {

// libgcc's unwinder serves there, which knows these rules itself.
bool follow_by_libunwind(CallStack&, unsigned, const NativeStack&) { return false; }

}  // namespace mpiprof

#endif
