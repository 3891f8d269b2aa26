// Which functions a user names: with and without MPI_, in any case, by beginnings, all but some.
#include "libmpiprof/process/selection.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mpiprof::test {
namespace {

constexpr char names[] = "MPI_Send\0MPI_Send_c\0MPI_Isend\0MPI_Iprobe\0MPI_Allreduce";
constexpr CallInfo infos[] = {
    {0, Family::mpi, Treatment::timed, Traffic::send, SizeRule::count_type, 0},
    {9, Family::mpi, Treatment::timed, Traffic::send, SizeRule::count_type, 0},
    {20, Family::mpi, Treatment::timed, Traffic::send, SizeRule::count_type, 0},
    {30, Family::mpi, Treatment::polled, Traffic::probe, SizeRule::none, 0},
    {41, Family::mpi, Treatment::timed, Traffic::collective, SizeRule::count_type, 0},
};
constexpr Catalogue catalogue{names, infos, 5, 1};

// The ids that a list means, as digits, and behind a blank each the words that mean nothing.
std::string chosen(
    const char* list, bool (*may_have)(const CallInfo&) = [](const CallInfo&) { return true; }) {
    Selection selection;
    std::string unknown;
    selection.choose(list, catalogue, may_have, [&](const char* word, int length) {
        unknown += " " + std::string(word, static_cast<std::size_t>(length));
    });
    std::string ids;
    for (std::uint16_t id = 0; id < catalogue.size; ++id)
        if (selection.has(id)) ids += static_cast<char>('0' + id);
    return ids + unknown;
}

TEST(selection, all_and_none) {
    EXPECT_EQ(chosen("all"), "01234");
    EXPECT_EQ(chosen("none"), "");
    EXPECT_EQ(chosen("ALL"), "01234");
    EXPECT_EQ(chosen(""), "");
}

TEST(selection, a_name_means_its_large_count_form_too) {
    EXPECT_EQ(chosen("MPI_Send"), "01");
    EXPECT_EQ(chosen("send"), "01");
    EXPECT_EQ(chosen("MPI_Send_c"), "1");
    EXPECT_EQ(chosen("mpi_allreduce,Isend"), "24");
}

TEST(selection, a_star_stands_for_any_end) {
    EXPECT_EQ(chosen("MPI_I*"), "23");
    EXPECT_EQ(chosen("i*,send"), "0123");
    EXPECT_EQ(chosen("*"), "01234");
}

TEST(selection, what_is_left_out_is_left_out_of_all) {
    EXPECT_EQ(chosen("-MPI_Iprobe"), "0124");
    EXPECT_EQ(chosen("-I*,Isend"), "0124");
    EXPECT_EQ(chosen("I*,-Iprobe"), "2");
}

TEST(selection, what_may_not_be_chosen_is_named_by_no_word) {
    const auto is_collective = [](const CallInfo& info) { return info.traffic == Traffic::collective; };
    EXPECT_EQ(chosen("all", is_collective), "4");
    EXPECT_EQ(chosen("-Iprobe", is_collective), "4 -Iprobe");
    EXPECT_EQ(chosen("MPI_Send,Allreduce", is_collective), "4 MPI_Send");
}

TEST(selection, words_that_name_nothing_are_told) {
    EXPECT_EQ(chosen("MPI_Snd,Send,-Rec*"), "01 MPI_Snd -Rec*");
    EXPECT_EQ(chosen(",,Send,"), "01");
    EXPECT_EQ(chosen("-"), "01234");
}

}  // namespace
}  // namespace mpiprof::test
