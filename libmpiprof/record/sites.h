// Call sites of this rank: return addresses -> site id, stored as module + build-id + offset so that the same place in
// the program is the same site on every rank, whatever ASLR did. One per process, shared by its threads. Called when a
// thread meets a call in a new place, never on the hot path; the reporter symbolises.
#pragma once

#include "libmpiprof/base/open_table.h"
#include "libmpiprof/record/library_moment.h"
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
    std::uint32_t known(const Identity& identity);
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

    unsigned depth = 8;                       // frames of a site, as set
    const Unwinder* (*unwinder)() = nullptr;  // found at first need
    const Interpreter* (*interpreter)() = nullptr;

  private:
    std::uint32_t find_script(Image& image, const Interpreter& script, Word return_address);
    struct Known {
        std::uint64_t hash;  // of the identity; 0 = free
        std::uint32_t site;
        bool is_free() const { return hash == 0; }
    };
    static std::uint64_t hash_of(const Identity& identity);
    std::uint32_t known_locked(std::uint64_t hash) const;
    // `fill` writes the frames from one of them on into so many rows.
    template <class Fill>
    std::uint32_t add_locked(Image& image, unsigned depth, unsigned compared, Fill fill);
    bool make_records_zero(Image& image);
    void forget_other_moments(const LibraryMoment& moment);
    format::Frame frame_of(Image& image, Word address);
    format::Frame frame_of(Image& image, const Interpreter& script, const ScriptFrame& frame);
    std::uint32_t add_function(Image& image, const ScriptPlace& place);
    void remember(Image& image, std::uint64_t hash, std::uint32_t site);
    static std::uint64_t hash_of_known(const Known& known) { return known.hash; }

    Lock lock_;
    OpenTable<Known, OpenTableSize{.inside = 0, .outside = 256, .most = 32768}> known_{};
    std::uint32_t sites_ = 0;  // published so far; ids begin at 1
    std::uint32_t frames_ = 0;
    std::uint32_t modules_ = 0;
    std::uint32_t ranges_ = 0;
    static constexpr std::uint32_t max_modules = 256;
    struct Range {
        std::uint64_t base, end;
        // Of its segments, the one that an address was found in last, at the moment below; else empty.
        std::uint64_t segment_begin, segment_bytes;
        std::uint32_t module;
        bool holds(std::uint64_t address) const { return address - segment_begin < segment_bytes; }
    };
    Range modules_seen_[max_modules] = {};
    std::uint32_t last_range_ = 0;  // that an address was found in
    LibraryMoment moment_;
    // The functions of scripts that are modules already, by their code objects; made at the first one.
    struct Function {
        const void* code;
        std::uint32_t module;
        bool is_free() const { return code == nullptr; }
    };
    OpenTable<Function, OpenTableSize{.inside = 0, .outside = 2048, .most = 2048}> functions_{};
    Rows<format::Site, 128> site_rows_;
    Rows<format::Frame, 128> frame_rows_;
    Rows<format::Module, 16> module_rows_;
};

}  // namespace mpiprof
