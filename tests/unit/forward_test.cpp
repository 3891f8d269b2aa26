// The real call of the plain form: each number of words arrives as so many arguments, none lost, none moved.
#include "libmpiprof/wrap/forward.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "libmpiprof/mpi/catalogue.h"

namespace mpiprof::test {
namespace {

std::vector<Word> arrived;

template <std::size_t... I>
Word real(decltype(Word(I))... words) {
    arrived = {words...};
    return 0x7654321089abcdef;
}
template <std::size_t... I>
const void* function_of(std::index_sequence<I...>) {
    return reinterpret_cast<const void*>(&real<I...>);
}
template <unsigned n>
void expect_all_to_arrive() {
    std::vector<Word> words;
    for (unsigned i = 0; i < n; ++i) words.push_back(static_cast<Word>(0x0102030405060700 + i));
    EXPECT_EQ(wrap::forward(function_of(std::make_index_sequence<n>()), words.data(), n), 0x7654321089abcdef);
    EXPECT_EQ(arrived, words) << n << " words";
}

TEST(forward, calls_a_function_with_as_many_arguments_as_there_are_words) {
    [&]<unsigned... n>(std::integer_sequence<unsigned, n...>) { (expect_all_to_arrive<n>(), ...); }
    (std::make_integer_sequence<unsigned, wrap::most_words + 1>());
    expect_all_to_arrive<wrap::words_with_a_value>();
}

// In Fortran ierror comes behind a row's arguments, and a hidden length for each string.
TEST(forward, has_a_case_for_every_row_of_mpi) {
    unsigned most = 0;
    for (const Call& row : mpi::table)
        most = std::max(most, static_cast<unsigned>(row.arity + 1 + count_of(row.roles, Role::str)));
    EXPECT_EQ(most, 14u);
    EXPECT_LE(most, wrap::most_words);
}

}  // namespace
}  // namespace mpiprof::test
