// libmpiprof-dlsym.so: preloaded beside libmpiprof.so by those whose programs fetch MPI or NCCL functions by dlsym
// (Julia's MPI.jl, ctypes, JAX, TensorFlow), which no other interposition sees. It exports dlsym, and where a program
// asks a library for a function that libmpiprof.so wraps and the library has, it answers with the wrapper.
//
// Everything else is left to the real dlsym by a jump, not by a call: RTLD_NEXT and RTLD_DEFAULT mean what they mean to
// whoever asked, which glibc tells by the return address. Needs libc alone and never loads or unloads anything.
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

// These are bound as process/old_glibc.h does it: to the oldest versions, and weakly, since before glibc 2.34 they live
// in libdl.
#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#else
#error "the jump below is written for x86-64 and aarch64"
#endif
#define BIND(name) __asm__(".symver " #name "," #name "@" OLDEST)
BIND(dlopen);
BIND(dlclose);
BIND(dlvsym);
BIND(dlerror);
#pragma weak dlopen
#pragma weak dlclose
#pragma weak dlvsym
#pragma weak dlerror

extern "C" {
// What dlsym is to answer; not final: the real dlsym is asked as if it had been called itself.
struct Answer {
    void* address;
    std::intptr_t is_final;
};
[[gnu::visibility("hidden")]] Answer mpiprof_dlsym_answer(void* handle, const char* name, const void* caller);
using Dlsym = void* (*)(void* handle, const char* name);
[[gnu::visibility("hidden")]] constinit Dlsym mpiprof_real_dlsym = nullptr;
}

#if defined(__x86_64__)
__asm__(R"(
    .text
    .globl dlsym
    .type dlsym, @function
dlsym:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    movq 16(%rsp), %rdx
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call mpiprof_dlsym_answer
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testq %rdx, %rdx
    jne 1f
    jmp *mpiprof_real_dlsym(%rip)
1:  ret
    .cfi_endproc
    .size dlsym, .-dlsym
)");
#else
__asm__(R"(
    .text
    .globl dlsym
    .type dlsym, %function
dlsym:
    .cfi_startproc
    hint #34
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    mov x29, sp
    stp x0, x1, [sp, #16]
    mov x2, x30
    bl mpiprof_dlsym_answer
    mov x9, x0
    mov x10, x1
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #32
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    cbnz x10, 1f
    adrp x16, mpiprof_real_dlsym
    ldr x16, [x16, :lo12:mpiprof_real_dlsym]
    br x16
1:  mov x0, x9
    ret
    .cfi_endproc
    .size dlsym, .-dlsym
)");
#endif

namespace {

constexpr Answer ask_the_real_one{nullptr, 0};

// A loaded object: where its segments lie, and its path ("" for the program itself).
struct Object {
    ElfW(Addr) begin, end;
    char path[4096];
    bool found;
    bool contains(const void* address) const {
        const auto a = reinterpret_cast<ElfW(Addr)>(address);
        return a >= begin && a < end;
    }
};

void measure(const dl_phdr_info& info, ElfW(Addr) & begin, ElfW(Addr) & end) {
    begin = ~ElfW(Addr){0};
    end = 0;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        const auto& segment = info.dlpi_phdr[i];
        if (segment.p_type != PT_LOAD) continue;
        const ElfW(Addr) first = info.dlpi_addr + segment.p_vaddr, last = first + segment.p_memsz;
        if (first < begin) begin = first;
        if (last > end) end = last;
    }
}

template <class Matches>
struct Search {
    Object& object;
    Matches matches;
};

// The first loaded object that `matches` (its path, begin, end). Nothing may be opened while the loader's list is held.
template <class Matches>
void find_object(Object& object, Matches matches) {
    Search<Matches> search{object, matches};
    object.found = false;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* argument) {
            auto& s = *static_cast<Search<Matches>*>(argument);
            measure(*info, s.object.begin, s.object.end);
            if (!s.matches(*info, s.object) || strlen(info->dlpi_name) >= sizeof s.object.path) return 0;
            strcpy(s.object.path, info->dlpi_name);
            s.object.found = true;
            return 1;
        },
        &search);
}

void find_object_at(Object& object, const void* address) {
    find_object(object, [address](const dl_phdr_info&, const Object& o) { return o.contains(address); });
}

// libmpiprof.so, once it is there.
struct Library {
    void* handle;
    ElfW(Addr) begin, end;
    bool contains(const void* address) const {
        const auto a = reinterpret_cast<ElfW(Addr)>(address);
        return a >= begin && a < end;
    }
};

const Library* find_library() {
    static constinit Library library{};
    if (__atomic_load_n(&library.handle, __ATOMIC_ACQUIRE)) return &library;
    static constexpr char soname[] = "libmpiprof.so";
    Object object;
    find_object(object, [](const dl_phdr_info& info, const Object&) {
        const char* slash = strrchr(info.dlpi_name, '/');
        return strncmp(slash ? slash + 1 : info.dlpi_name, soname, sizeof soname - 1) == 0;
    });
    void* handle = object.found ? dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (!handle) return nullptr;
    library.begin = object.begin;  // two threads store the same
    library.end = object.end;
    __atomic_store_n(&library.handle, handle, __ATOMIC_RELEASE);
    return &library;
}

bool find_real_dlsym() {
    if (mpiprof_real_dlsym) return true;
    if (!dlvsym || !dlopen || !dlclose || !dlerror) return false;  // glibc before 2.34, and nobody has loaded libdl
    for (const char* version : {"GLIBC_2.34", OLDEST}) {
        void* found = dlvsym(RTLD_NEXT, "dlsym", version);
        if (!found) continue;
        dlerror();
        mpiprof_real_dlsym = reinterpret_cast<Dlsym>(found);
        return true;
    }
    return false;
}

// A question of our own leaves no error behind for the program's next dlerror().
void* look_up(void* handle, const char* name) {
    void* found = mpiprof_real_dlsym(handle, name);
    if (!found) dlerror();
    return found;
}

// `name` as the object at `path` and what it depends on define it.
void* look_up_in(const char* path, const char* name) {
    void* handle = dlopen(*path ? path : nullptr, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) {
        dlerror();
        return nullptr;
    }
    void* found = look_up(handle, name);
    dlclose(handle);
    return found;
}

// Whether the caller is itself a layer around `name`: another tool, or MPI. It asks for what is beneath it.
bool is_a_layer(const void* caller, const char* name) {
    Object object;
    find_object_at(object, caller);
    return object.found && object.contains(look_up_in(object.path, name));
}

struct Paths {
    char* text;
    std::size_t used, capacity;
};

// Whether anybody but the library defines `name`, so that its wrapper has something to wrap.
bool exists_elsewhere(const Library& library, const char* name) {
    constexpr std::size_t capacity = std::size_t{1} << 20;
    void* pages = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return true;
    Paths paths{static_cast<char*>(pages), 0, capacity};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* argument) {
            auto& p = *static_cast<Paths*>(argument);
            const std::size_t length = strlen(info->dlpi_name) + 1;
            if (length == 1 || p.used + length > p.capacity) return 0;
            memcpy(p.text + p.used, info->dlpi_name, length);
            p.used += length;
            return 0;
        },
        &paths);
    bool exists = false;
    for (const char* path = paths.text; path < paths.text + paths.used && !exists; path += strlen(path) + 1) {
        const void* found = look_up_in(path, name);
        exists = found && !library.contains(found);
    }
    munmap(pages, capacity);
    return exists;
}

bool may_be_wrapped(const char* name) {
    if (strncmp(name, "ncclProfiler_", 13) == 0) return false;  // what NCCL asks of plugins, ours or another
    return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "mpi_", 4) == 0 || strncmp(name, "nccl", 4) == 0 ||
           strncmp(name, "cupti", 5) == 0 || strncmp(name, "cudaGraph", 9) == 0 ||
           strncmp(name, "cudaStreamBeginCapture", 22) == 0 || strncmp(name, "cudaStreamEndCapture", 20) == 0;
}

bool is_disabled() {
    const char* value = getenv("MPIPROF_DISABLE");
    return value && (strcmp(value, "1") == 0 || strcmp(value, "yes") == 0 || strcmp(value, "on") == 0);
}

// NULL, and an error for dlerror() that names the symbol: asked of a library that cannot have it.
Answer not_found(const char* name) {
    void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!libc) return {nullptr, 1};
    mpiprof_real_dlsym(libc, name);  // no dlclose: it would wipe the error
    return {nullptr, 1};
}

}  // namespace

Answer mpiprof_dlsym_answer(void* handle, const char* name, const void* caller) {
    if (!find_real_dlsym()) return {nullptr, 1};
    if (!name || !may_be_wrapped(name) || handle == RTLD_NEXT || is_disabled()) return ask_the_real_one;
    const Library* library = find_library();
    if (!library || library->contains(caller)) return ask_the_real_one;
    void* wrapper = look_up(library->handle, name);
    if (!wrapper || !library->contains(wrapper)) return ask_the_real_one;
    const void* theirs = handle == RTLD_DEFAULT ? wrapper : look_up(handle, name);
    if (!theirs) return ask_the_real_one;  // which says so once more, with its error
    if (library->contains(theirs))         // the program's scope, in which the library has its place already
        return exists_elsewhere(*library, name) ? ask_the_real_one : not_found(name);
    if (is_a_layer(caller, name)) return ask_the_real_one;
    return {wrapper, 1};
}
