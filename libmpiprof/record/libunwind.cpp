// Opening libunwind. Its first walk opens a pipe, by which it would look whether memory may be read; we read it
// ourselves, and a program's descriptors are its own: for that moment the library's own reference to pipe2() leads to
// one that refuses. Whoever else needs its pipe has it opened when it is missing.
#include "libmpiprof/record/libunwind.h"

#if defined(__x86_64__)

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include <type_traits>

#include "libmpiprof/base/loader.h"

namespace mpiprof::libunwind {
namespace {

constexpr std::uintptr_t page = 4096;

// Where an object keeps the address of a function that it calls by this name; null: it calls none.
struct Slot {
    std::uintptr_t at = 0;
    bool is_protected = false;  // once the loader had filled it
};

std::uintptr_t dynamic_value(const dl_phdr_info& object, std::int64_t tag) {
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; ++entry)
            if (entry->d_tag == tag) return entry->d_un.d_ptr;
    }
    return 0;
}

// The loader has put addresses in the place of offsets, as glibc does, or has left them.
std::uintptr_t dynamic_address(const dl_phdr_info& object, std::int64_t tag) {
    const std::uintptr_t value = dynamic_value(object, tag);
    return value != 0 && value < object.dlpi_addr ? value + object.dlpi_addr : value;
}

Slot slot_of(const dl_phdr_info& object, const char* name) {
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(dynamic_address(object, DT_SYMTAB));
    const auto* names = reinterpret_cast<const char*>(dynamic_address(object, DT_STRTAB));
    Slot slot;
    const auto look_into = [&](std::int64_t table, std::int64_t bytes) {
        const auto* entries = reinterpret_cast<const ElfW(Rela)*>(dynamic_address(object, table));
        const std::size_t count = entries ? dynamic_value(object, bytes) / sizeof *entries : 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto type = ELF64_R_TYPE(entries[i].r_info);
            if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
            if (strcmp(names + symbols[ELF64_R_SYM(entries[i].r_info)].st_name, name) == 0)
                slot.at = object.dlpi_addr + entries[i].r_offset;
        }
    };
    if (!symbols || !names) return slot;
    look_into(DT_RELA, DT_RELASZ);
    look_into(DT_JMPREL, DT_PLTRELSZ);
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        const auto& segment = object.dlpi_phdr[i];
        if (segment.p_type != PT_GNU_RELRO) continue;
        // The loader protects whole pages: what shares the last one with data stays writable.
        const std::uintptr_t begin = object.dlpi_addr + segment.p_vaddr, end = (begin + segment.p_memsz) / page * page;
        slot.is_protected |= slot.at >= begin && slot.at < end;
    }
    return slot;
}

int refuse(int*, int) { return -1; }

class WithoutPipe {
  public:
    explicit WithoutPipe(const void* in_library) {
        with_object_at(in_library,
                       [this](const dl_phdr_info& object, Word, Word) { slot_ = slot_of(object, "pipe2"); });
        if (slot_.at == 0) return;
        before_ = value();
        put(reinterpret_cast<std::uintptr_t>(&refuse));
    }
    WithoutPipe(const WithoutPipe&) = delete;
    ~WithoutPipe() {
        if (slot_.at != 0) put(before_);
    }

  private:
    std::uintptr_t& value() const { return *reinterpret_cast<std::uintptr_t*>(slot_.at); }
    void put(std::uintptr_t function) const {
        const auto protect = [&](long how) {
            return !slot_.is_protected ||
                   raw(SYS_mprotect, static_cast<long>(slot_.at / page * page), static_cast<long>(page), how) == 0;
        };
        if (!protect(PROT_READ | PROT_WRITE)) return;
        __atomic_store_n(&value(), function, __ATOMIC_RELEASE);
        protect(PROT_READ);
    }
    Slot slot_;
    std::uintptr_t before_ = 0;
};

}  // namespace

bool Functions::open(Questions& questions, void*& space) {
    constexpr char paths[] =
        "/usr/lib/x86_64-linux-gnu/libunwind-x86_64.so.8\0/usr/lib64/libunwind-x86_64.so.8\0"
        "/usr/lib/libunwind-x86_64.so.8\0";
    const Loader& by = loader();
    void* library = nullptr;
    for (const char* path = paths; *path && !library && by.dlopen; path += strlen(path) + 1)
        library = by.dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    const auto find = [&](const char* name, auto& function) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(by.dlsym(library, name));
        return function != nullptr;
    };
    void* (*create_space)(Questions*, int byte_order);
    if (!find("_Ux86_64_create_addr_space", create_space) || !find("_Ux86_64_init_remote", init) ||
        !find("_Ux86_64_step", step) || !find("_Ux86_64_get_reg", get) ||
        !find("_Ux86_64_dwarf_search_unwind_table", search))
        return false;
    const WithoutPipe without(reinterpret_cast<const void*>(step));
    space = create_space(&questions, 0);
    Place place;
    return space && init(&place, space, nullptr) == 0;  // the first walk, which prepares all others
}

// What is opened meanwhile must not take the number of a standard descriptor that the program has closed.
bool may_open() {
    for (long number = 0; number <= 2; ++number)
        if (raw(SYS_fcntl, number, F_GETFD) < 0) return false;
    return true;
}

}  // namespace mpiprof::libunwind

#endif
