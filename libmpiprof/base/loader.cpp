// Found at the first question, once.
#include "libmpiprof/base/loader.h"

#include <link.h>
#include <string.h>

#include "libmpiprof/base/text.h"

// libc's own loader, which it exported (and private to itself) as long as there was a libdl.
extern "C" {
[[gnu::weak]] void* __libc_dlopen_mode(const char* path, int mode);
[[gnu::weak]] void* __libc_dlsym(void* handle, const char* name);
}

namespace mpiprof {
namespace {

Loader found_by(decltype(&::dlsym) find, void* handle) {
    const auto in = [&](const char* name) { return find(handle, name); };
    return {find, reinterpret_cast<decltype(&::dlopen)>(in("dlopen")),
            reinterpret_cast<decltype(&::dlclose)>(in("dlclose"))};
}

// Before glibc 2.34 these live in libdl, which a program and its MPI need not bring along (MPICH 3 does not).
Loader find_loader() {
    if (::dlsym) return found_by(::dlsym, RTLD_DEFAULT);
    constexpr int as_iconv_does = static_cast<int>(RTLD_NOW | 0x80000000u);  // __RTLD_DLOPEN
    void* libdl = __libc_dlopen_mode && __libc_dlsym ? __libc_dlopen_mode("libdl.so.2", as_iconv_does) : nullptr;
    void* find = libdl ? __libc_dlsym(libdl, "dlsym") : nullptr;
    return find ? found_by(reinterpret_cast<decltype(&::dlsym)>(find), libdl) : Loader{};
}

struct SharedLoader {
    Loader functions;
    std::atomic<bool> known;
    Lock lock;
};
constinit SharedLoader shared_loader{};

struct Search {
    const char* prefixes;
    void* context;
    bool (*visit)(void* context, const char* path);
};

int look_at(dl_phdr_info* object, std::size_t, void* argument) {
    const Search& search = *static_cast<const Search*>(argument);
    const char* slash = object->dlpi_name ? strrchr(object->dlpi_name, '/') : nullptr;
    if (!slash || !any_of(search.prefixes,
                          [&](const char* prefix) { return strncmp(slash + 1, prefix, length_of(prefix)) == 0; }))
        return 0;
    return search.visit(search.context, object->dlpi_name);
}

struct AddressSearch {
    Word address;
    void* context;
    ObjectVisit visit;
};

int look_for_address(dl_phdr_info* object, std::size_t, void* argument) {
    const AddressSearch& search = *static_cast<const AddressSearch*>(argument);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& header = object->dlpi_phdr[i];
        const auto begin = static_cast<Word>(object->dlpi_addr + header.p_vaddr);
        const auto end = static_cast<Word>(object->dlpi_addr + header.p_vaddr + header.p_memsz);
        if (header.p_type != PT_LOAD || search.address < begin || search.address >= end) continue;
        search.visit(search.context, *object, begin, end);
        return 1;
    }
    return 0;
}

}  // namespace

unsigned long long objects_loaded() {
    unsigned long long adds = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* first, std::size_t, void* number) {
            *static_cast<unsigned long long*>(number) = first->dlpi_adds;
            return 1;
        },
        &adds);
    return adds;
}

bool any_loaded(const char* prefixes, void* context, bool (*visit)(void* context, const char* path)) {
    Search search{prefixes, context, visit};
    return dl_iterate_phdr(look_at, &search) != 0;
}

bool with_object_at(const void* address, void* context, ObjectVisit visit) {
    AddressSearch search{reinterpret_cast<Word>(address), context, visit};
    return dl_iterate_phdr(look_for_address, &search) != 0;
}

const Loader& loader() {
    if (shared_loader.known.load(std::memory_order_acquire)) return shared_loader.functions;
    const Guard guard(shared_loader.lock);
    if (!shared_loader.known.load(std::memory_order_relaxed)) {
        shared_loader.functions = find_loader();
        shared_loader.known.store(true, std::memory_order_release);
    }
    return shared_loader.functions;
}

}  // namespace mpiprof
