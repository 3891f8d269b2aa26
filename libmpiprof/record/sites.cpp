// New call sites: which module, which build-id, which offset. The module list is asked of the loader once per new site.
#include "libmpiprof/record/sites.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

namespace mpiprof {
namespace {

using namespace format;

constexpr std::uint32_t max_sites = 16384;

struct Found {
    Word address;
    bool found;
    std::uint64_t base;
    std::uint64_t end;
    const char* path;
    const std::uint8_t* build_id;
    std::uint32_t build_id_length;
};

void read_build_id(const char* notes, std::size_t bytes, Found& found) {
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

int look_into(dl_phdr_info* info, std::size_t, void* argument) {
    auto& found = *static_cast<Found*>(argument);
    const auto address = static_cast<std::uint64_t>(found.address);
    std::uint64_t end = 0;
    bool inside = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD) continue;
        const std::uint64_t begin = info->dlpi_addr + header.p_vaddr;
        if (address >= begin && address < begin + header.p_memsz) inside = true;
        if (begin + header.p_memsz > end) end = begin + header.p_memsz;
    }
    if (!inside) return 0;
    found.found = true;
    found.base = info->dlpi_addr;
    found.end = end;
    found.path = info->dlpi_name;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        if (header.p_type == PT_NOTE && !found.build_id)
            read_build_id(reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr), header.p_memsz, found);
    }
    return 1;
}

}  // namespace

std::uint32_t Sites::find(Image& image, Word address) {
    const Guard guard(lock_);
    if (capacity_ != 0)
        for (std::uint64_t i = mix(static_cast<std::uint64_t>(address)) >> 40;; ++i) {
            const Known& known = known_[i & (capacity_ - 1)];
            if (known.address == address) return known.site;
            if (known.address == 0) break;
        }
    const std::uint32_t site = used_ < max_sites ? add_locked(image, address) : 0;
    if (site == 0) count_drop(image.header().drops.sites);
    else remember(address, site);
    return site;
}

std::uint32_t Sites::add_locked(Image& image, Word address) {
    if (used_ * 2 >= capacity_ && !grow()) return 0;
    if (sites_ == 0) {  // record 0 of every table that is referred to by index means "not known"
        auto* none = image.next_record(site_table_, TableType::sites, sizeof(Site), 128, 0);
        auto* no_module = image.next_record(module_table_, TableType::modules, sizeof(Module), 16, 0);
        if (!none || !no_module) return 0;
        Image::publish(site_table_);
        Image::publish(module_table_);
        sites_ = modules_ = 1;
    }
    auto* frame = static_cast<Frame*>(image.next_record(frame_table_, TableType::frames, sizeof(Frame), 128, 0));
    if (!frame) return 0;
    *frame = frame_of(image, address);
    auto* site = static_cast<Site*>(image.next_record(site_table_, TableType::sites, sizeof(Site), 128, 0));
    if (!site) return 0;
    Image::publish(frame_table_);
    *site = {frames_++, 1, 0};
    Image::publish(site_table_);
    return sites_++;
}

Frame Sites::frame_of(Image& image, Word address) {
    Found found{address, false, 0, 0, nullptr, nullptr, 0};
    dl_iterate_phdr(look_into, &found);
    const auto absolute = static_cast<std::uint64_t>(address);
    if (!found.found) return {absolute, 0, 0};  // a JIT's code, for example
    for (std::uint32_t i = 1; i < modules_; ++i)
        if (modules_seen_[i].base == found.base && modules_seen_[i].end == found.end) return {absolute - found.base, i, 0};
    if (modules_ == max_modules) return {absolute, 0, 0};
    auto* module = static_cast<Module*>(image.next_record(module_table_, TableType::modules, sizeof(Module), 16, 0));
    if (!module) return {absolute, 0, 0};
    char executable[512];
    const char* path = found.path;
    std::size_t length = strlen(path);
    if (length == 0) {  // the loader's name for the program itself
        const ssize_t n = readlink("/proc/self/exe", executable, sizeof executable);
        path = executable;
        length = n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    module->base = found.base;
    module->end = found.end;
    module->path_offset = image.add_string(path, length);
    module->path_length = static_cast<std::uint32_t>(length);
    if (found.build_id && found.build_id_length <= sizeof module->build_id) {
        memcpy(module->build_id, found.build_id, found.build_id_length);
        module->build_id_length = found.build_id_length;
    }
    Image::publish(module_table_);
    modules_seen_[modules_] = {found.base, found.end};
    return {absolute - found.base, modules_++, 0};
}

bool Sites::remember(Word address, std::uint32_t site) {
    for (std::uint64_t i = mix(static_cast<std::uint64_t>(address)) >> 40;; ++i) {
        Known& known = known_[i & (capacity_ - 1)];
        if (known.address != 0) continue;
        known = {address, site};
        ++used_;
        return true;
    }
}

bool Sites::grow() {
    const std::uint32_t capacity = capacity_ ? capacity_ * 2 : 256;
    auto* known = static_cast<Known*>(private_pages(capacity * sizeof(Known)));
    if (!known) return false;
    Known* old = known_;
    const std::uint32_t old_capacity = capacity_;
    known_ = known;
    capacity_ = capacity;
    used_ = 0;
    for (std::uint32_t i = 0; i < old_capacity; ++i)
        if (old[i].address != 0) remember(old[i].address, old[i].site);
    if (old) munmap(old, old_capacity * sizeof(Known));
    return true;
}

}  // namespace mpiprof
