// Call sites of this rank: return addresses -> site id, stored as module + build-id + offset so that the same place in
// the program is the same site on every rank, whatever ASLR did. One per process, shared by its threads. Called when a
// thread meets a call in a new place, never on the hot path; the reporter symbolises. When objects were unloaded
// nothing that is known by an address holds any more; what was stored stays, and is found again by what it says.
#pragma once

#include "libmpiprof/base/at_first.h"
#include "libmpiprof/base/open_table.h"
#include "libmpiprof/record/library_moment.h"
#include "libmpiprof/record/loaded_object.h"
#include "libmpiprof/record/native_stack.h"
#include "libmpiprof/record/rows.h"
#include "libmpiprof/record/script.h"
#include "libmpiprof/record/stack.h"

namespace mpiprof {

class Sites {
  public:
    // What tells sites apart: the return addresses of the call and of its next callers, those that the hot path
    // compares.
    struct Identity {
        static constexpr unsigned most = 3;
        Word address[most];  // 0: none, or not known
    };
    // The site of that identity; 0 if there is none yet.
    std::uint32_t known(const Image& image, const Identity& identity);
    // Its id, with all of the stack as its frames if it is new; 0 when the table is full (the drop counter says so).
    std::uint32_t find(Image& image, const Identity& identity, const CallStack& stack);
    // The same for a call that a script made, whose frames of this moment tell its sites apart. 0: no script is
    // running, or none that can be read.
    std::uint32_t find_script(Image& image, Word return_address) {
        const Interpreter* script = interpreter && depth > 1 ? interpreter() : nullptr;
        return script ? find_script(image, *script, return_address) : 0;
    }
    // Makes the profile name the module of this address.
    void know_module(Image& image, Word address);

    // How often an object that sites lie in has gone: what threads remember by addresses is no longer so.
    std::uint64_t unloads() const { return relaxed(unloads_); }
    // Such an object goes: called within its unloading, by what watch() asked for.
    static void object_goes(void* range);

    AtFirst<unsigned, 8> depth;               // frames of a site, as set
    const Unwinder* (*unwinder)() = nullptr;  // found at first need
    // Goes on where that one's walk was cut: general_unwinder.h's; null: nobody does.
    bool (*general_unwinder)(CallStack& stack, unsigned wanted, const NativeStack& own) = nullptr;
    const Interpreter* (*interpreter)() = nullptr;
    // Asks for object_goes(range), once, when the object with this handle goes. False: it cannot be had. Takes the
    // loader's lock, which who loads a library may hold for long: called without ours.
    bool (*watch)(void* handle, void* range) = nullptr;

  private:
    std::uint32_t find_script(Image& image, const Interpreter& script, Word return_address);
    std::uint32_t find_locked(Image& image, const Identity& identity, const CallStack& stack);
    void watch_new_modules();
    struct Known {
        std::uint64_t hash;  // of the identity, or of the frames; 0 = free
        std::uint32_t site;
        bool is_free() const { return hash == 0; }
    };
    using KnownSites = OpenTable<Known, OpenTableSize{.inside = 0, .outside = 256, .most = 32768}>;
    static std::uint64_t hash_of(const Identity& identity);
    static std::uint32_t site_in(const KnownSites& table, std::uint64_t hash);
    static bool put(KnownSites& table, std::uint64_t hash, std::uint32_t site);
    // `fill` writes the frames from one of them on into so many rows.
    template <class Fill>
    std::uint32_t add_locked(Image& image, unsigned depth, unsigned compared, Fill fill);
    bool make_records_zero(Image& image);
    void forget_other_moments(const Image& image, const LibraryMoment& moment) {
        if (moment != moment_ || unloads() != unloads_seen_) [[unlikely]]
            enter_moment(image, moment);
    }
    void enter_moment(const Image& image, const LibraryMoment& moment);
    void know_by_frames(const Image& image);
    struct Range;
    bool is_of(const Image& image, const Range& range, const LoadedObject& object, std::uint64_t file) const;
    format::Frame in_range(std::uint32_t at, const LoadedObject& object, std::uint64_t address);
    format::Frame frame_of(Image& image, Word address);
    format::Frame frame_of(Image& image, const Interpreter& script, const ScriptFrame& frame);
    std::uint32_t add_function(Image& image, const ScriptPlace& place);
    std::uint32_t other_modules(Image& image, format::Language language);
    static std::uint64_t hash_of_known(const Known& known) { return known.hash; }

    Lock lock_;
    KnownSites known_{};          // by their identities, of addresses that hold
    KnownSites scripts_{};        // by their identities, those of scripts, which are not known by addresses alone,
    KnownSites script_frames_{};  // and by their frames, for functions that are made anew each time
    KnownSites by_frames_{};      // by the frames that are compared, once objects were unloaded
    std::uint32_t sites_ = 0;     // published so far; ids begin at 1
    std::uint32_t frames_ = 0;
    std::uint32_t modules_ = 0;
    std::uint32_t ranges_ = 0;
    static constexpr std::uint32_t max_modules = 1024;
    struct Range {
        std::uint64_t base, end;
        // Of its segments, the one that an address was found in last, at the moment below; else empty.
        std::uint64_t segment_begin, segment_bytes;
        std::uint64_t file;  // LoadedObject::file()
        format::Module* row;
        Sites* sites;
        void* handle;  // LoadedObject::handle
        std::uint32_t module;
        enum Watched : std::uint32_t { not_watched, to_be_watched, watched } is_watched;
        bool holds(std::uint64_t address) const { return address - segment_begin < segment_bytes; }
    };
    Range modules_seen_[max_modules] = {};
    std::uint32_t last_range_ = 0;  // that an address was found in
    LibraryMoment moment_;
    std::uint64_t unloads_ = 0, unloads_seen_ = 0;
    bool has_new_modules_ = false;  // that are to be watched
    bool lacks_module_ = false;     // a frame that was looked up last found no room for its module
    std::uint32_t others_[2] = {};  // what stands for those without room: objects, functions of scripts
    // The functions of scripts that are modules already, by file, name and first line; made at the first one.
    struct Function {
        std::uint64_t hash;
        std::uint32_t module;
        bool is_free() const { return hash == 0; }
    };
    OpenTable<Function, OpenTableSize{.inside = 0, .outside = 2048, .most = 16384}> functions_{};
    Rows<format::Site, 128> site_rows_;
    Rows<format::Frame, 128> frame_rows_;
    Rows<format::Module, 16> module_rows_;
};

}  // namespace mpiprof
