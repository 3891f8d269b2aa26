// One case for each number of words: a function is called with as many arguments as it was called with, no more.
#include "libmpiprof/wrap/forward.h"

#include <utility>

namespace mpiprof::wrap {
namespace {

template <std::size_t... I>
[[gnu::always_inline]] inline Word call_with(const void* function, const Word* words, std::index_sequence<I...>) {
    return reinterpret_cast<Word (*)(decltype(words[I] + 0)...)>(const_cast<void*>(function))(words[I]...);
}

}  // namespace

Word forward(const void* function, const Word* words, unsigned n) {
    switch (n) {
#define WITH(number) \
    case number:     \
        return call_with(function, words, std::make_index_sequence<number>());
        WITH(0)
        WITH(1)
        WITH(2)
        WITH(3)
        WITH(4)
        WITH(5)
        WITH(6)
        WITH(7)
        WITH(8)
        WITH(9)
        WITH(10)
        WITH(11)
        WITH(12)
        WITH(13)
        WITH(14)
        WITH(15)
        WITH(16)
        WITH(words_with_a_value)
    }
    __builtin_unreachable();  // call_plainly() is held to these by the compiler
}

}  // namespace mpiprof::wrap
