// An object of the process (the program, a library, a plug-in) as the loader describes it: where it lies, which file it
// is, and by what it can be known again when it was unloaded and something came to its place. Asked by the call sites,
// once for each module and again when libraries have come or gone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libmpiprof/base/basics.h"

namespace mpiprof {

struct LoadedObject {
    std::uint64_t base, end;  // load bias; end of all of it
    std::uint64_t segment_begin, segment_bytes;
    const char* path;  // the loader's name; empty: the program itself
    const std::uint8_t* build_id;
    std::uint32_t build_id_length;
    // A value of the compiler's, by which the object is named where it registers what is to be called when it goes;
    // null: it has none that is found.
    void* handle;

    // The one that an address lies in. False: none, it is generated code.
    bool find(Word address);
    bool is_program() const { return path[0] == 0; }
    // The same for the same file alone: by its path and build-id, or where it has none its size and when it was
    // written.
    std::uint64_t file() const;
};

// Whether the object with this load bias and name is loaded.
bool is_loaded(std::uint64_t base, const char* path, std::size_t length);

}  // namespace mpiprof
