// dlsym in three steps. Nothing is kept open: RTLD_NOLOAD handles are given back, the objects stay as they were.
#include "libmpiprof/wrap/real.h"

#include "libmpiprof/record/frame_rule.h"
#include "libmpiprof/record/own_unwinder.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/loader.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/process/standard_error.h"

namespace mpiprof::wrap {
namespace {

constexpr std::size_t longest_path = 4096;

struct Range {
    Word begin, end;
    bool holds(Word address) const { return address >= begin && address < end; }
};

// The file of the object that an address lies in, kept for a look at it that opens it again.
struct Object {
    bool is_found;
    char path[longest_path];  // empty: the program itself
    Range segment;
    explicit Object(const void* address) {
        path[0] = 0;
        segment = {0, 0};
        is_found = with_object_at(address, [this](const dl_phdr_info& object, Word begin, Word end) {
            copy(path, object.dlpi_name);
            segment = {begin, end};
        });
    }
    bool is_opened_by_path() const { return is_found && path[0]; }
};

// Where its headers lie, which no two objects share. Not by dladdr, which looks for the symbol, too: 60 000 to 130 000
// instructions in a large library, two or three times for each function.
const void* object_of(const void* address) {
    const void* headers = nullptr;
    with_object_at(address, [&](const dl_phdr_info& object, Word, Word) { headers = object.dlpi_phdr; });
    return headers;
}

const void* ourselves() {
    static constinit const void* object = nullptr;
    if (!object) object = object_of(reinterpret_cast<const void*>(&ourselves));
    return object;
}

// The code around an address: its object's segment.
Range code_around(const void* address) {
    Range segment{0, 0};
    with_object_at(address, [&](const dl_phdr_info&, Word begin, Word end) { segment = {begin, end}; });
    return segment;
}

// The code of the MPI libraries found so far: what calls from there is nested, without looking further.
struct LibraryCode {
    static constexpr unsigned most = 16;
    Range ranges[most];
    std::atomic<unsigned> used;
    Lock lock;
    bool holds(Word address) const {
        for (unsigned i = 0, n = used.load(std::memory_order_acquire); i < n; ++i)
            if (ranges[i].holds(address)) return true;
        return false;
    }
    void add(const void* function) {
        const Guard guard(lock);
        const unsigned n = used.load(std::memory_order_relaxed);
        if (holds(reinterpret_cast<Word>(function)) || n == most) return;
        ranges[n] = code_around(function);
        used.store(n + 1, std::memory_order_release);
    }
};
constinit LibraryCode library_code{};

Real described(void* function) {
    if (!function) return {nullptr, nullptr};
    const void* object = object_of(function);
    if (object == ourselves()) return {nullptr, nullptr};  // linked with -lmpiprof: the caller depends on us, too
    return {function, object};
}

// `name` as the object at `path` and its dependencies see it.
Real search(const char* path, const char* name) {
    void* handle = loader().dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) return {nullptr, nullptr};
    const Real real = described(loader().dlsym(handle, name));
    loader().dlclose(handle);
    return real;
}

Real search_object_of(const void* address, const char* name) {
    const Object object(address);
    // The program itself (no path) is searched by RTLD_NEXT.
    return object.is_opened_by_path() ? search(object.path, name) : Real{nullptr, nullptr};
}

// All loaded objects' paths, collected first: dlopen within dl_iterate_phdr would take the loader's locks in the wrong
// order.
struct Paths {
    char* text;
    std::size_t used, capacity;
};

int collect(dl_phdr_info* info, std::size_t, void* argument) {
    auto& paths = *static_cast<Paths*>(argument);
    const std::size_t length = strlen(info->dlpi_name) + 1;
    if (length > 1 && paths.used + length < paths.capacity) {
        memcpy(paths.text + paths.used, info->dlpi_name, length);
        paths.used += length;
    }
    return 0;
}

Real search_everywhere(const char* name) {
    Paths paths{nullptr, 0, std::size_t{1} << 20};
    paths.text = static_cast<char*>(private_pages(paths.capacity));
    if (!paths.text) return {nullptr, nullptr};
    dl_iterate_phdr(collect, &paths);
    Real real{nullptr, nullptr};
    for (const char* path = paths.text; path < paths.text + paths.used && !real.function; path += strlen(path) + 1)
        real = search(path, name);
    munmap(paths.text, paths.capacity);
    return real;
}

}  // namespace

namespace {

// Whether the object that a function was found in is the library itself (or one of its bindings), not another tool.
// Asked once for each object: an answer may take the loader 50 000 instructions (Python's modules).
bool is_of_library(const Real& real, const char* landmarks) {
    if (library_code.holds(reinterpret_cast<Word>(real.function))) return true;
    return any_of(landmarks, [&](const char* landmark) {
        void* found = find_beside(landmark, real.function);
        return found && object_of(found) == real.object;
    });
}

Real choose_real(const char* name, Word return_address, const char* landmarks) {
    if (!loader().dlsym) return {nullptr, nullptr};
    const Real by_caller = search_object_of(reinterpret_cast<const void*>(return_address), name);
    const Real next = described(loader().dlsym(RTLD_NEXT, name));
    if (by_caller.function && next.function && by_caller.object != next.object) {
        // Either another tool sits between us and the same MPI (then it must be called), or there are two MPIs.
        const void* callers_own = find_beside(landmarks, by_caller.function);
        return callers_own && callers_own == loader().dlsym(RTLD_NEXT, landmarks) ? next : by_caller;
    }
    if (by_caller.function) return by_caller;
    if (next.function) return next;
    return search_everywhere(name);
}
}  // namespace

Real find_real(const char* name, Word return_address, const char* landmarks) {
    standard_error.remember();  // before it, no code of ours has run
    const Real real = choose_real(name, return_address, landmarks);
    if (real.function && is_of_library(real, landmarks)) library_code.add(real.function);
    return real;
}

namespace {

// Our own code: where it begins and ends.
Range own_code() {
    static constinit Range ours{0, 0};
    if (ours.end == 0) ours = code_around(reinterpret_cast<const void*>(&own_code));
    return ours;
}

struct Search {
    const Unwinder* unwinder;
    Range ours;
    std::uintptr_t end;  // of the holder's frame, if it is there
    bool is_inside;      // still among this call's own frames
    bool was_ours;       // the frame before
    bool is_found;
    bool is_past;  // the walk has come by, and no holder was there
};

int look_for_ours(void* context, void* argument) {
    auto& search = *static_cast<Search*>(argument);
    const bool is_ours = search.ours.holds(static_cast<Word>(search.unwinder->ip(context)));
    const std::uintptr_t end = search.unwinder->cfa(context);
    search.is_inside &= is_ours;
    search.is_found = (end == search.end && search.was_ours) || (is_ours && !search.is_inside);
    search.is_past = !search.is_found && end > search.end;
    search.was_ours = is_ours;
    return search.is_found || search.is_past ? Unwinder::end_of_stack : 0;
}

// Whether one stack reaches from here up to there: the thread's own, or else without a page between that nobody may
// read.
bool is_one_stack(const Word* frame, const Word* token, const NativeStack& own) {
    constexpr std::uintptr_t page = 4096, largest = std::uintptr_t{64} << 20;
    const std::size_t above = own.words_above(frame), above_token = own.words_above(token);
    if (above != 0 || above_token != 0)
        return above_token != 0 && above - above_token == static_cast<std::size_t>(token - frame);
    const auto begin = reinterpret_cast<std::uintptr_t>(frame), end = reinterpret_cast<std::uintptr_t>(token);
    if (end - begin > largest) return false;
    for (std::uintptr_t at = begin / page * page + page; at <= end; at += page)
        if (Word word; !own.read(reinterpret_cast<const Word*>(at), frame, word)) return false;
    return true;
}

// Whether a wrapper whose frame ends at the token may still be in the function that it called: then where that returns
// to lies below, within the wrapper's frame. It is one stack, so all of it may be read.
bool may_be_in_call(const Word* frame, const Word* token) {
    constexpr std::ptrdiff_t largest_frame = 2048;  // in words
    const Range ours = own_code();
    const Word* const lowest = token - frame > largest_frame ? token - largest_frame : frame + 1;
    for (const Word* at = token - 1; at >= lowest; --at)
        if (ours.holds(*at)) return true;
    return false;
}

// The holder of the token is up this stack, unless its frame is gone; in between the stack could not be followed. It
// has to be all there: on this very stack, and with the words that such a frame has.
bool may_be_intact(const Word* frame, const Word* token, const NativeStack& own) {
    return is_one_stack(frame, token, own) && may_be_in_call(frame, token);
}

}  // namespace

// Other callers (a plugin of the library, a user's callback, or nobody: an old frame's traces): is there a wrapper of
// ours further up this stack? Walked with the unwinder, which the common nested call never needs, up to where the token
// says that its frame is, however far. Where there is no unwinder, or the stack cannot be followed, what lies there
// decides, and that is said: nobody knows.
Nesting find_nesting(const Word* frame, const Word* token, Word return_address, const NativeStack& own) {
    if (library_code.holds(return_address)) return {true, true};
    const auto* holder = reinterpret_cast<const Word*>(reinterpret_cast<std::uintptr_t>(token) & ~std::uintptr_t{1});
    if (const Unwinder* unwinder = find_unwinder()) {
        const auto end = reinterpret_cast<std::uintptr_t>(holder + 1);
        Search search{unwinder, own_code(), end, true, false, false, false};
        const int reason = unwinder->backtrace(look_for_ours, &search);
        if (search.is_found) return {true, true};
        if (search.is_past || (!search.is_inside && reason != Unwinder::cut)) return {false, true};
    }
    return {may_be_intact(frame, holder, own), false};
}

#if MPIPROF_HAS_OWN_UNWINDER
const Unwinder* find_unwinder() { return &own_unwinder; }
#else
const Unwinder* find_unwinder() {
    static constinit Unwinder found{};
    static constinit bool looked = false;
    static constinit Lock lock;
    const Guard guard(lock);
    if (looked) return found.backtrace ? &found : nullptr;
    looked = true;
    void* library = loader().dlopen ? loader().dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL) : nullptr;
    if (!library) return nullptr;
    const auto in = [&](const char* name) { return loader().dlsym(library, name); };
    found.ip = reinterpret_cast<decltype(found.ip)>(in("_Unwind_GetIP"));
    found.cfa = reinterpret_cast<decltype(found.cfa)>(in("_Unwind_GetCFA"));
    if (found.ip && found.cfa) found.backtrace = reinterpret_cast<decltype(found.backtrace)>(in("_Unwind_Backtrace"));
    return found.backtrace ? &found : nullptr;
}
#endif

void* find_beside(const char* name, const void* near) {
    const Real real = search_object_of(near, name);
    if (real.function) return real.function;
    return described(loader().dlsym(RTLD_NEXT, name))
        .function;  // the program itself, or a library that it was linked with
}

bool is_in_object_of(const void* function, Word address) { return code_around(function).holds(address); }

void name_of_object(const void* address, char (&name)[128]) {
    const Object object(address);
    const char* slash = strrchr(object.path, '/');
    copy(name, slash ? slash + 1 : object.path);
}

const void* find_in_program(const char* name) {
    if (!loader().dlsym) return nullptr;
    void* program =
        loader().dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);  // RTLD_DEFAULT begins with us: we are linked -Bsymbolic
    const void* first = program ? loader().dlsym(program, name) : nullptr;
    if (program) loader().dlclose(program);
    return first;
}

bool comes_first(const char* name) {
    const void* first = find_in_program(name);
    return !first || object_of(first) == ourselves();
}

bool is_preloaded() {
    const void* first = find_in_program("mpiprof_region_begin");
    return first && object_of(first) == ourselves();
}

void keep_loaded(const void* function) {
    const Object object(function);
    if (object.is_opened_by_path()) (void)loader().dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD);
}

bool call_at_unloading(void* handle, void (*function)(void*), void* argument) {
    using Register = int (*)(void (*)(void*), void*, void*);
    if (!loader().dlsym) return false;
    const auto at_end = reinterpret_cast<Register>(loader().dlsym(RTLD_DEFAULT, "__cxa_atexit"));
    static constinit bool is_kept = false;  // we are called then
    if (!is_kept) keep_loaded(reinterpret_cast<const void*>(&own_code));
    is_kept = true;
    return at_end && at_end(function, argument, handle) == 0;
}

void no_such_function(const char* name) {
    static constexpr char text[] = ": symbol lookup error: undefined symbol: ";
    char path[512];
    char line[768];
    line[0] = 0;
    if (link_text("/proc/self/exe", path, sizeof path) > 0) append(line, path);
    append(line, text);
    append(line, name);
    append(line, "\n");
    standard_error.write(line, length_of(line));
    _exit(127);
}

}  // namespace mpiprof::wrap
