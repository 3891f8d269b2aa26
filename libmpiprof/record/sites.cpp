// New call sites: which module, which build-id, which offset. The loader is asked once for each module, and again when
// libraries have come or gone.
#include "libmpiprof/record/sites.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

namespace mpiprof {
namespace {

using namespace format;

constexpr unsigned most_script_frames = 8;

struct Found {
    Word address;
    bool found;
    std::uint64_t base, end;
    std::uint64_t segment_begin, segment_bytes;
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
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD) continue;
        const std::uint64_t begin = info->dlpi_addr + header.p_vaddr;
        if (address - begin < header.p_memsz) {
            found.found = true;
            found.segment_begin = begin;
            found.segment_bytes = header.p_memsz;
        }
        if (begin + header.p_memsz > end) end = begin + header.p_memsz;
    }
    if (!found.found) return 0;
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

// Two identities of one hash would share a site; of 64 bits that is no figure to be counted with.
std::uint64_t Sites::hash_of(const Identity& identity) {
    std::uint64_t hash = 0;
#pragma GCC unroll 3
    for (const Word address : identity.address) hash = mix(hash ^ (hash >> 32) ^ static_cast<std::uint64_t>(address));
    hash ^= hash >> 29;
    return hash ? hash : 1;
}

std::uint32_t Sites::known_locked(std::uint64_t hash) const {
    const Known* known = known_.find(hash, [&](const Known& k) { return k.hash == hash; });
    return known ? known->site : 0;
}

std::uint32_t Sites::known(const Identity& identity) {
    const Guard guard(lock_);
    return known_locked(hash_of(identity));
}

std::uint32_t Sites::find(Image& image, const Identity& identity, const CallStack& stack) {
    const Guard guard(lock_);
    const std::uint64_t hash = hash_of(identity);
    if (const std::uint32_t site = known_locked(hash)) return site;
    unsigned compared = 0;
#pragma GCC unroll 3
    for (const Word address : identity.address) compared += address != 0;
    forget_other_moments(stack.moment.adds != 0 ? stack.moment : LibraryMoment::now());
    const std::uint32_t site = add_locked(image, stack.depth, compared, [&](Frame* rows, unsigned at, unsigned count) {
        // The frames of a stack mostly lie in few modules, and neighbours in one.
        Range range = modules_seen_[last_range_];
        for (const Word* address = stack.address + at; count != 0; --count, ++rows, ++address) {
            const auto absolute = static_cast<std::uint64_t>(*address);
            if (range.holds(absolute)) [[likely]] {
                *rows = {absolute - range.base, range.module, 0};
                continue;
            }
            *rows = frame_of(image, *address);
            range = modules_seen_[last_range_];
        }
    });
    remember(image, hash, site);
    return site;
}

std::uint32_t Sites::find_script(Image& image, const Interpreter& script, Word return_address) {
    ScriptFrame frames[most_script_frames];
    const unsigned n = script.is_its(return_address)
                           ? script.frames(frames, depth < most_script_frames ? depth : most_script_frames)
                           : 0;
    if (n == 0) return 0;
    std::uint64_t all = 0;
    for (unsigned i = 0; i < n; ++i)
        all = mix(all ^ (all >> 31) ^ reinterpret_cast<std::uintptr_t>(frames[i].code) ^
                  std::uint64_t{static_cast<std::uint32_t>(frames[i].instruction)} << 44);
    const Guard guard(lock_);
    const std::uint64_t hash = hash_of({{return_address, static_cast<Word>(all), static_cast<Word>(n)}});
    if (const std::uint32_t site = known_locked(hash)) return site;
    const std::uint32_t site = add_locked(image, n, n, [&](Frame* rows, unsigned at, unsigned count) {
        for (; count != 0; --count) *rows++ = frame_of(image, script, frames[at++]);
    });
    remember(image, hash, site);
    return site;
}

void Sites::know_module(Image& image, Word address) {
    const Guard guard(lock_);
    forget_other_moments(LibraryMoment::now());
    if (make_records_zero(image)) (void)frame_of(image, address);
}

// Record 0 of every table that is referred to by index means "not known".
bool Sites::make_records_zero(Image& image) {
    if (sites_ != 0) return true;
    if (!site_rows_.next(image) || !module_rows_.next(image)) return false;
    site_rows_.publish();
    module_rows_.publish();
    sites_ = modules_ = 1;
    return true;
}

// The frames first: a site that is published has them. They are counted through all tables of frames.
template <class Fill>
std::uint32_t Sites::add_locked(Image& image, unsigned frames, unsigned compared, Fill fill) {
    if (!known_.make_room(hash_of_known) || !make_records_zero(image)) return 0;
    const std::uint32_t first = frames_;
    for (unsigned i = 0; i < frames;) {
        std::uint32_t few = frames - i;
        Frame* rows = frame_rows_.next_few(image, few);
        if (!rows) return 0;
        fill(rows, i, few);
        i += few;
        frame_rows_.publish_few(few);
        frames_ += few;
    }
    const Site site{first, static_cast<std::uint16_t>(frames), static_cast<std::uint16_t>(compared)};
    return site_rows_.add(image, site) ? sites_++ : 0;
}

void Sites::forget_other_moments(const LibraryMoment& moment) {
    if (moment == moment_) return;
    moment_ = moment;
    for (std::uint32_t i = 0; i < ranges_; ++i) modules_seen_[i].segment_bytes = 0;
}

Frame Sites::frame_of(Image& image, Word address) {
    const auto absolute = static_cast<std::uint64_t>(address);
    for (std::uint32_t i = 0; i < ranges_; ++i) {
        const Range& range = modules_seen_[i];
        if (!range.holds(absolute)) continue;
        last_range_ = i;
        return {absolute - range.base, range.module, 0};
    }
    Found found{};
    found.address = address;
    dl_iterate_phdr(look_into, &found);
    if (!found.found) return {absolute, 0, 0};  // a JIT's code, for example
    for (std::uint32_t i = 0; i < ranges_; ++i) {
        Range& range = modules_seen_[i];
        if (range.base != found.base || range.end != found.end) continue;
        range.segment_begin = found.segment_begin;
        range.segment_bytes = found.segment_bytes;
        return {absolute - found.base, range.module, 0};
    }
    if (ranges_ == max_modules) return {absolute, 0, 0};
    Module* module = module_rows_.next(image);
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
    module_rows_.publish();
    modules_seen_[ranges_++] = {found.base, found.end, found.segment_begin, found.segment_bytes, modules_};
    return {absolute - found.base, modules_++, 0};
}

// A place in a script. Its function is a module, found by its code object: a second one at the same address, when the
// first was thrown away, is taken for it.
Frame Sites::frame_of(Image& image, const Interpreter& script, const ScriptFrame& frame) {
    ScriptPlace place;
    script.describe(frame, place);
    const auto line = static_cast<std::uint64_t>(place.line);
    const auto hash_of = [](const Function& f) { return mix(reinterpret_cast<std::uintptr_t>(f.code)) >> 40; };
    Function wanted{frame.code, 0};
    const std::uint64_t hash = hash_of(wanted);
    if (const Function* known = functions_.find(hash, [&](const Function& f) { return f.code == frame.code; }))
        return {line, known->module, 0};
    if (functions_.make_room(hash_of)) wanted.module = add_function(image, place);
    if (wanted.module != 0) functions_.insert(hash, wanted);
    return {line, wanted.module, 0};
}

std::uint32_t Sites::add_function(Image& image, const ScriptPlace& place) {
    Module* module = module_rows_.next(image);
    if (!module) return 0;
    std::size_t length = strlen(place.file);
    module->path_offset = image.add_string(place.file, length);
    module->path_length = static_cast<std::uint32_t>(length);
    length = strlen(place.function);
    module->function_offset = image.add_string(place.function, length);
    module->function_length = static_cast<std::uint32_t>(length);
    module->language = Language::python;
    module_rows_.publish();
    return modules_++;
}

// Of what found no room, the drop counter says so.
void Sites::remember(Image& image, std::uint64_t hash, std::uint32_t site) {
    if (site == 0)
        count_drop(image.header().drops.sites);
    else
        known_.insert(hash, {hash, site});
}

}  // namespace mpiprof
