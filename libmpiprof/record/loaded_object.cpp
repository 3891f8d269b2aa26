// What is read lies in the object's own headers, notes and code, while the loader holds its lock and keeps it there.
#include "libmpiprof/record/loaded_object.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

namespace mpiprof {
namespace {

void read_build_id(const char* notes, std::size_t bytes, LoadedObject& found) {
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof note);
        const std::size_t name = (note.n_namesz + 3u) & ~3u;
        const std::size_t description = (note.n_descsz + 3u) & ~3u;
        if (sizeof note + name + description > bytes) return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + sizeof note, "GNU", 4) == 0) {
            found.build_id = reinterpret_cast<const std::uint8_t*>(notes + sizeof note + name);
            found.build_id_length = note.n_descsz;
            return;
        }
        notes += sizeof note + name + description;
        bytes -= sizeof note + name + description;
    }
}

// The bytes that follow an address within a segment of this kind.
std::size_t bytes_at(const dl_phdr_info& info, std::uint64_t address, std::uint32_t flags) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        const auto& header = info.dlpi_phdr[i];
        const std::uint64_t into = address - (info.dlpi_addr + header.p_vaddr);
        if (header.p_type == PT_LOAD && (header.p_flags & flags) == flags && into < header.p_memsz)
            return header.p_memsz - into;
    }
    return 0;
}

#if defined(__x86_64__)

// The compiler's last function of an object (crtbegin's __do_global_dtors_aux) hands __dso_handle, whose value is its
// own address, to __cxa_finalize(). It is no symbol that the loader knows: it is read from this function's code.
void* handle_in_code(const dl_phdr_info& info, std::uint64_t function) {
    constexpr std::uint8_t load_first_argument[] = {0x48, 0x8b, 0x3d};  // movq distance(%rip), %rdi
    constexpr std::size_t longest = 128, instruction = sizeof load_first_argument + sizeof(std::int32_t);
    std::size_t bytes = bytes_at(info, function, PF_R | PF_X);
    if (bytes > longest) bytes = longest;
    for (std::size_t i = 0; i + instruction <= bytes; ++i) {
        const auto* code = reinterpret_cast<const std::uint8_t*>(function + i);
        if (memcmp(code, load_first_argument, sizeof load_first_argument) != 0) continue;
        std::int32_t distance;
        memcpy(&distance, code + sizeof load_first_argument, sizeof distance);
        const std::uint64_t at = function + i + instruction + static_cast<std::uint64_t>(std::int64_t{distance});
        if (at % sizeof at != 0 || bytes_at(info, at, PF_R | PF_W) < sizeof at) continue;
        void* const value = *reinterpret_cast<void* const*>(at);
        if (reinterpret_cast<std::uint64_t>(value) == at) return value;
    }
    return nullptr;
}

void* find_handle(const dl_phdr_info& info) {
    std::uint64_t functions = 0, bytes = 0;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_FINI_ARRAY) functions = info.dlpi_addr + entry->d_un.d_ptr;
            if (entry->d_tag == DT_FINI_ARRAYSZ) bytes = entry->d_un.d_val;
        }
    }
    if (bytes_at(info, functions, PF_R) < bytes) return nullptr;
    constexpr std::uint64_t most = 8 * sizeof(std::uint64_t);
    for (std::uint64_t at = 0; at < bytes && at < most; at += sizeof(std::uint64_t))
        if (void* handle = handle_in_code(info, *reinterpret_cast<const std::uint64_t*>(functions + at))) return handle;
    return nullptr;
}

#else

void* find_handle(const dl_phdr_info&) { return nullptr; }

#endif

struct Question {
    Word address;
    LoadedObject& found;
    bool is_found;
};

int look_into(dl_phdr_info* info, std::size_t, void* argument) {
    auto& question = *static_cast<Question*>(argument);
    LoadedObject& found = question.found;
    const auto address = static_cast<std::uint64_t>(question.address);
    std::uint64_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD) continue;
        const std::uint64_t begin = info->dlpi_addr + header.p_vaddr;
        if (address - begin < header.p_memsz) {
            question.is_found = true;
            found.segment_begin = begin;
            found.segment_bytes = header.p_memsz;
        }
        if (begin + header.p_memsz > end) end = begin + header.p_memsz;
    }
    if (!question.is_found) return 0;
    found.base = info->dlpi_addr;
    found.end = end;
    found.path = info->dlpi_name ? info->dlpi_name : "";
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        if (header.p_type == PT_NOTE && !found.build_id)
            read_build_id(reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr), header.p_memsz, found);
    }
    found.handle = find_handle(*info);
    return 1;
}

std::uint64_t add_bytes(std::uint64_t hash, const void* bytes, std::size_t n) {
    for (const auto* c = static_cast<const unsigned char*>(bytes); n != 0; --n) hash = mix(hash ^ (hash >> 32) ^ *c++);
    return hash;
}

struct Whereabouts {
    std::uint64_t base;
    const char* path;
    std::size_t length;
};

}  // namespace

bool LoadedObject::find(Word address) {
    *this = {};
    Question question{address, *this, false};
    dl_iterate_phdr(look_into, &question);
    return question.is_found;
}

std::uint64_t LoadedObject::file() const {
    std::uint64_t hash = add_bytes(1, path, strlen(path));
    if (build_id) return add_bytes(hash, build_id, build_id_length);
    struct stat s {};
    if (raw(SYS_newfstatat, AT_FDCWD, raw_address(path), raw_address(&s), 0) == 0) {
        const std::uint64_t words[] = {static_cast<std::uint64_t>(s.st_size),
                                       static_cast<std::uint64_t>(s.st_mtim.tv_sec),
                                       static_cast<std::uint64_t>(s.st_mtim.tv_nsec)};
        hash = add_bytes(hash, words, sizeof words);
    }
    return hash;
}

bool is_loaded(std::uint64_t base, const char* path, std::size_t length) {
    Whereabouts wanted{base, path, length};
    return dl_iterate_phdr(
               [](dl_phdr_info* info, std::size_t, void* argument) -> int {
                   const Whereabouts& w = *static_cast<Whereabouts*>(argument);
                   const char* name = info->dlpi_name ? info->dlpi_name : "";
                   return info->dlpi_addr == w.base && strlen(name) == w.length && memcmp(name, w.path, w.length) == 0;
               },
               &wanted) != 0;
}

}  // namespace mpiprof
