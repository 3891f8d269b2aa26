// What the calls that make communicators say of them in their arguments. ncclUniqueId comes by value, 128 bytes: where
// its bytes are among an exported function's words is written down here, and nowhere else. Used by creation.cpp and
// symbols.cpp.
#pragma once

#include "libmpiprof/nccl/catalogue.h"
#include "libmpiprof/nccl/communicators.h"

namespace mpiprof::nccl {

struct MadeBy {
    Word where;         // address of the first handle
    int communicators;  // how many are there
    std::uint64_t id, parent;
    int rank, size;    // size 0: not told
    bool tells_world;  // initialised by all processes that want to talk
    const char* name;
    bool is_nonblocking;
};

// False: nothing is made that could be told of. What is made from another gets its id of `known`.
bool describe(Id id, const Word* words, Communicators& known, MadeBy& made);

// ncclCommInitRank(comm*, nranks, ncclUniqueId by value, rank) and, with a config*, ncclCommInitRankConfig, as words:
//
//   x86-64    comm  nranks  rank  config  -  -  | 16 words on the stack: the id goes there, the others are in registers
//   aarch64   comm  nranks  &id   rank  config  | the caller's copy is passed by its address
//
// Elsewhere these two are not wrapped: their communicators are asked for their size and rank at their first use.
inline constexpr int unique_id_bytes = 128;
#if defined(__x86_64__)
inline constexpr int words_of_init = 22, word_of_rank = 2, word_of_config = 3, word_of_id = 6;
inline const void* unique_id(const Word* words) { return words + word_of_id; }
#elif defined(__aarch64__)
inline constexpr int words_of_init = 5, word_of_rank = 3, word_of_config = 4, word_of_id = 2;
inline const void* unique_id(const Word* words) { return reinterpret_cast<const void*>(words[word_of_id]); }
#endif

}  // namespace mpiprof::nccl
