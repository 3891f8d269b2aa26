// New call sites: which module, which build-id, which offset. The loader is asked once for each module, and again when
// libraries have come or gone.
#include "libmpiprof/record/sites.h"

#include <string.h>
#include <unistd.h>

#include <initializer_list>

#include "libmpiprof/record/token.h"

namespace mpiprof {
namespace {

using namespace format;

// As many as the record of a site counts. What PyTorch puts between a model and its collective is some ten frames.
constexpr unsigned most_script_frames = 15;
constexpr unsigned depth_of_all_script_frames = 8;
constexpr std::uint32_t most_sites = 16384;

// What sites are told apart by where addresses do not hold: their first frames.
class FramesHash {
  public:
    void add(const Frame& frame) {
        hash_ = mix(hash_ ^ (hash_ >> 32) ^ frame.offset ^ std::uint64_t{frame.module} << 48);
    }
    std::uint64_t value() const {
        const std::uint64_t hash = hash_ ^ (hash_ >> 29);
        return hash ? hash : 1;
    }

  private:
    std::uint64_t hash_ = 1;
};

// The records of one type in their order, as a reader finds them.
template <class Record>
class EachRecord {
  public:
    EachRecord(const Image& image, TableType type) : image_(image), type_(type) {
        block_ = &image.as<Directory>(image.header().directory_offset);
    }
    // Null: there are no more.
    const Record* next() {
        while (!table_ || at_ == table_->used)
            if (!next_table()) return nullptr;
        return &image_.as<Record>(table_->offset) + at_++;
    }

  private:
    bool next_table() {
        for (;;) {
            for (; entry_ < block_->used; ++entry_) {
                const auto* table = reinterpret_cast<const Table*>(block_ + 1) + entry_;
                if (table->type != type_) continue;
                ++entry_;
                at_ = 0;
                table_ = table;
                return true;
            }
            if (block_->next == 0) return false;
            block_ = &image_.as<Directory>(block_->next);
            entry_ = 0;
        }
    }
    const Image& image_;
    TableType type_;
    const Directory* block_;
    std::uint32_t entry_ = 0, at_ = 0;
    const Table* table_ = nullptr;
};

}  // namespace

// Two identities of one hash would share a site; of 64 bits that is no figure to be counted with.
std::uint64_t Sites::hash_of(const Identity& identity) {
    std::uint64_t hash = 0;
#pragma GCC unroll 3
    for (const Word address : identity.address) hash = mix(hash ^ (hash >> 32) ^ static_cast<std::uint64_t>(address));
    hash ^= hash >> 29;
    return hash ? hash : 1;
}

std::uint32_t Sites::site_in(const KnownSites& table, std::uint64_t hash) {
    const Known* known = table.find(hash, [&](const Known& k) { return k.hash == hash; });
    return known ? known->site : 0;
}

bool Sites::put(KnownSites& table, std::uint64_t hash, std::uint32_t site) {
    if (!table.make_room(hash_of_known)) return false;
    table.insert(hash, {hash, site});
    return true;
}

std::uint32_t Sites::known(const Image& image, const Identity& identity) {
    const Guard guard(lock_);
    forget_other_moments(image, LibraryMoment::now());
    return site_in(known_, hash_of(identity));
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
[[gnu::always_inline]] inline std::uint32_t Sites::add_locked(Image& image, unsigned frames, unsigned compared,
                                                              Fill fill) {
    if (sites_ >= most_sites || !make_records_zero(image)) return 0;
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

[[gnu::always_inline]] inline std::uint32_t Sites::find_locked(Image& image, const Identity& identity,
                                                               const CallStack& stack) {
    forget_other_moments(image, stack.moment.adds != 0 ? stack.moment : LibraryMoment::now());
    const std::uint64_t hash = hash_of(identity);
    if (const std::uint32_t site = site_in(known_, hash)) return site;
    unsigned compared = 0;
#pragma GCC unroll 3
    for (const Word address : identity.address) compared += address != 0;
    lacks_module_ = false;
    if (by_frames_.count() != 0) [[unlikely]] {
        FramesHash frames;
        for (unsigned i = 0; i < compared; ++i) frames.add(frame_of(image, identity.address[i]));
        if (const std::uint32_t site = site_in(by_frames_, frames.value())) {
            put(known_, hash, site);
            return site;
        }
    }
    if (!known_.make_room(hash_of_known)) {
        count_drop(image.header().drops.sites);
        return 0;
    }
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
    if (site == 0 || lacks_module_) [[unlikely]]
        count_drop(image.header().drops.sites);
    if (site != 0) known_.insert(hash, {hash, site});
    return site;
}

std::uint32_t Sites::find(Image& image, const Identity& identity, const CallStack& stack) {
    lock_.lock();
    const std::uint32_t site = find_locked(image, identity, stack);
    const bool has_new_modules = has_new_modules_;
    lock_.unlock();
    if (has_new_modules) [[unlikely]]
        watch_new_modules();
    return site;
}

// Before the call returns that was made from there: so none of them has gone yet.
void Sites::watch_new_modules() {
    constexpr unsigned most_at_once = CallStack::deepest;
    Range* ranges[most_at_once];
    unsigned count = 0;
    {
        const Guard guard(lock_);
        has_new_modules_ = false;
        for (Range* range = modules_seen_; range != modules_seen_ + ranges_ && count != most_at_once; ++range)
            if (range->is_watched == Range::to_be_watched) {
                range->is_watched = Range::watched;
                ranges[count++] = range;
            }
    }
    for (unsigned i = 0; i < count; ++i)
        if (!watch(ranges[i]->handle, ranges[i]))
            __atomic_store_n(&ranges[i]->is_watched, Range::not_watched, __ATOMIC_RELAXED);
}

std::uint32_t Sites::find_script(Image& image, const Interpreter& script, Word return_address) {
    ScriptFrame frames[most_script_frames];
    const unsigned n = script.is_its(return_address)
                           ? script.frames(frames, depth < depth_of_all_script_frames ? depth : most_script_frames)
                           : 0;
    if (n == 0) return 0;
    std::uint64_t all = 0;
    for (unsigned i = 0; i < n; ++i)
        all = mix(all ^ (all >> 31) ^ frames[i].function ^
                  std::uint64_t{static_cast<std::uint32_t>(frames[i].instruction)} << 44);
    const Guard guard(lock_);
    const std::uint64_t hash = hash_of({{return_address, static_cast<Word>(all), static_cast<Word>(n)}});
    if (const std::uint32_t site = site_in(scripts_, hash)) return site;
    // A function that is made anew for each call has one site all the same.
    Frame rows[most_script_frames];
    FramesHash found;
    lacks_module_ = false;
    if (!make_records_zero(image)) return 0;
    found.add({static_cast<std::uint64_t>(return_address), 0, 0});
    for (unsigned i = 0; i < n; ++i) found.add(rows[i] = frame_of(image, script, frames[i]));
    std::uint32_t site = site_in(script_frames_, found.value());
    if (site == 0) {
        site = add_locked(image, n, n, [&](Frame* to, unsigned at, unsigned count) {
            for (; count != 0; --count) *to++ = rows[at++];
        });
        if (site == 0 || lacks_module_) count_drop(image.header().drops.sites);
        if (site != 0) put(script_frames_, found.value(), site);
    }
    if (site != 0 && !put(scripts_, hash, site)) scripts_.clear();  // many are of functions that are gone
    return site;
}

void Sites::know_module(Image& image, Word address) {
    const Guard guard(lock_);
    forget_other_moments(image, LibraryMoment::now());
    if (make_records_zero(image)) (void)frame_of(image, address);
}

// Libraries that came leave what is known as it is, but for where code lies that was in none before.
void Sites::enter_moment(const Image& image, const LibraryMoment& moment) {
    const std::uint64_t unloads = this->unloads();
    const bool has_unloaded = moment.subs != moment_.subs || unloads != unloads_seen_;
    moment_ = moment;
    unloads_seen_ = unloads;
    for (std::uint32_t i = 0; i < ranges_; ++i) modules_seen_[i].segment_bytes = 0;
    if (!has_unloaded || known_.count() == 0) return;
    know_by_frames(image);
    known_.clear();
}

// All that were stored: what comes back to the process has the sites that it had.
void Sites::know_by_frames(const Image& image) {
    by_frames_.clear();
    EachRecord<Site> sites(image, TableType::sites);
    EachRecord<Frame> frames(image, TableType::frames);
    sites.next();  // the one that means not told apart
    std::uint32_t id = 1;
    for (const Site* site = sites.next(); site && id < sites_; site = sites.next(), ++id) {
        FramesHash hash;
        for (unsigned i = 0; i < site->frames; ++i) {
            const Frame* frame = frames.next();
            if (frame && i < site->flags) hash.add(*frame);
        }
        if (site_in(by_frames_, hash.value()) == 0) put(by_frames_, hash.value(), id);
    }
}

// Not the same thread's business alone, and within the loader's lock: nothing is waited for here.
void Sites::object_goes(void* range) {
    auto& gone = *static_cast<Range*>(range);
    __atomic_store_n(&gone.is_watched, Range::not_watched, __ATOMIC_RELAXED);
    __atomic_fetch_add(&gone.sites->unloads_, 1, __ATOMIC_RELEASE);
    nudge_gate();
}

// Whether it is what this was made for, wherever it lay then.
bool Sites::is_of(const Image& image, const Range& range, const LoadedObject& object, std::uint64_t file) const {
    if (range.file != file) return false;
    if (range.base == object.base && range.end == object.end) return true;
    return range.end - range.base == object.end - object.base &&
           !is_loaded(range.base, image.at(range.row->path_offset), object.is_program() ? 0 : range.row->path_length);
}

Frame Sites::in_range(std::uint32_t at, const LoadedObject& object, std::uint64_t address) {
    Range& range = modules_seen_[at];
    range.segment_begin = object.segment_begin;
    range.segment_bytes = object.segment_bytes;
    last_range_ = at;
    if (watch && object.handle && !object.is_program() && range.is_watched == Range::not_watched) {
        range.handle = object.handle;
        range.is_watched = Range::to_be_watched;
        has_new_modules_ = true;
    }
    return {address - range.base, range.module, 0};
}

Frame Sites::frame_of(Image& image, Word address) {
    const auto absolute = static_cast<std::uint64_t>(address);
    for (std::uint32_t i = 0; i < ranges_; ++i) {
        const Range& range = modules_seen_[i];
        if (!range.holds(absolute)) continue;
        last_range_ = i;
        return {absolute - range.base, range.module, 0};
    }
    LoadedObject object;
    if (!object.find(address)) return {absolute, 0, 0};  // a JIT's code, for example
    const std::uint64_t file = object.file();
    for (std::uint32_t i = 0; i < ranges_; ++i) {
        Range& range = modules_seen_[i];
        if (!is_of(image, range, object, file)) continue;
        range.row->base = range.base = object.base;
        range.row->end = range.end = object.end;
        return in_range(i, object, absolute);
    }
    Module* module = ranges_ != max_modules ? module_rows_.next(image) : nullptr;
    if (!module) return {0, other_modules(image, Language{}), 0};
    char executable[512];
    const char* path = object.path;
    std::size_t length = strlen(path);
    if (object.is_program()) {
        const ssize_t n = readlink("/proc/self/exe", executable, sizeof executable);
        path = executable;
        length = n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    module->base = object.base;
    module->end = object.end;
    module->path_offset = image.add_string(path, length);
    module->path_length = static_cast<std::uint32_t>(length);
    if (object.build_id && object.build_id_length <= sizeof module->build_id) {
        memcpy(module->build_id, object.build_id, object.build_id_length);
        module->build_id_length = object.build_id_length;
    }
    module_rows_.publish();
    modules_seen_[ranges_] = {object.base, object.end, 0,       0,          file,
                              module,      this,       nullptr, modules_++, Range::not_watched};
    return in_range(ranges_++, object, absolute);
}

// A place in a script. Its function is a module, known by its file, name and first line: where its code object lies
// another may come.
Frame Sites::frame_of(Image& image, const Interpreter& script, const ScriptFrame& frame) {
    ScriptPlace place;
    script.describe(frame, place);
    std::uint64_t hash = static_cast<std::uint32_t>(place.first_line);
    for (const char* text : {place.file, place.function})
        for (const char* c = text;; ++c) {
            hash = mix(hash ^ (hash >> 32) ^ static_cast<unsigned char>(*c));
            if (*c == 0) break;
        }
    hash ^= hash >> 29;
    if (hash == 0) hash = 1;
    const auto line = static_cast<std::uint64_t>(place.line);
    if (const Function* known = functions_.find(hash, [&](const Function& f) { return f.hash == hash; }))
        return {line, known->module, 0};
    Function wanted{hash, 0};
    if (functions_.make_room([](const Function& f) { return f.hash; })) wanted.module = add_function(image, place);
    if (wanted.module == 0) return {0, other_modules(image, Language::python), 0};
    functions_.insert(hash, wanted);
    return {line, wanted.module, 0};
}

// What finds no room has one place for all, which is the same on each rank; that is counted. 0: not even that.
std::uint32_t Sites::other_modules(Image& image, Language language) {
    lacks_module_ = true;
    std::uint32_t& other = others_[language == Language::python];
    Module* module = other == 0 ? module_rows_.next(image) : nullptr;
    if (!module) return other;
    static constexpr char name[] = "(other modules)";
    std::size_t length = sizeof name - 1;
    module->path_offset = image.add_string(name, length);
    module->path_length = static_cast<std::uint32_t>(length);
    module->language = language;
    module_rows_.publish();
    return other = modules_++;
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

}  // namespace mpiprof
