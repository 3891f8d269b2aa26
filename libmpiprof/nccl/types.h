// The datatypes of NCCL: the numbers that every version has given them, and the names that its profiler interface uses.
// Used by library.h for the arguments of calls and by told.h for what NCCL tells. Never asks the library.
#pragma once

#include <string.h>

#include <iterator>

#include "libmpiprof/base/basics.h"

namespace mpiprof::nccl {

// ncclDataType_t: int8 uint8 int32 uint32 int64 uint64 float16 float32 float64 bfloat16 float8e4m3 float8e5m2. 0: from
// the future.
constexpr std::uint64_t size_of_type(Word type) {
    constexpr std::uint8_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return type >= 0 && type < static_cast<Word>(sizeof sizes) ? sizes[type] : 0;
}

inline constexpr char type_names[][16] = {"ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
                                          "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
                                          "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};

// NCCL, up to 2.30 at least, has a name for every type but ncclUint8, which PyTorch uses for bytes and booleans.
inline std::uint64_t size_of_type(const char* name) {
    if (name && strcmp(name, "Unknown") == 0) return 1;
    if (name)
        for (unsigned i = 0; i < std::size(type_names); ++i)
            if (strcmp(type_names[i], name) == 0) return size_of_type(static_cast<Word>(i));
    return 0;
}

}  // namespace mpiprof::nccl
