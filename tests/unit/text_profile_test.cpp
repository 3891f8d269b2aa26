// <profile>.txt in mpitrace's layout, from an image built here: byte for byte.
#include "libmpiprof/process/text_profile.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

// One tick is one nanosecond, the run lasts two seconds.
void give_times(format::Header& header) {
    header.rank = 3;
    header.size = 16;
    header.loaded = {1'000, 1'000, 0};
    header.started = {1'000'000'000, 1'000'000'000, 0};
    header.ended = {3'000'000'000, 3'000'000'000, 0};
    header.usage.user_us = 1'500'000;
    header.usage.system_us = 20'000;
    header.usage.max_resident_kib = 2048;
}

struct text_profile : testing::Test {
    std::string path = "text_profile_" + std::to_string(getpid());
    Recording recording;

    text_profile() { give_times(recording.image().header()); }
    ~text_profile() override { unlink((path + ".txt").c_str()); }
    std::string written() const {
        std::ifstream file(path + ".txt", std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
};

TEST_F(text_profile, has_the_layout_that_mpitrace_users_know) {
    for (int i = 0; i < 100; ++i) record(*recording.ledger, 8, 1'000'000);
    for (int i = 0; i < 3; ++i) record(*recording.ledger, 4'718'592, 5'000'000, {.site = some_site + 8});
    for (int i = 0; i < 5; ++i) record(*recording.ledger, 0, 2'000'000, {.call = wait});
    record(*recording.ledger, 0, 1'000'000, {.call = send});
    record(*recording.ledger, 100, 500'000, {.call = send});
    record(*recording.ledger, 128, 500'000, {.call = send, .site = some_site + 8});

    ASSERT_TRUE(write_text_profile(recording.image(), made_catalogue, path.c_str()));

    EXPECT_EQ(written(),
              "Data for MPI rank 3 of 16:\n"
              "Times and statistics from MPI_Init() to MPI_Finalize().\n"
              "-----------------------------------------------------------------------\n"
              "MPI Routine                        #calls     avg. bytes      time(sec)\n"
              "-----------------------------------------------------------------------\n"
              "MPI_Send                                3           76.0          0.002\n"
              "MPI_Wait                                5            0.0          0.010\n"
              "MPI_Reduce                            103       137442.5          0.115\n"
              "-----------------------------------------------------------------\n"
              "total communication time = 0.127 seconds.\n"
              "total elapsed time       = 2.000 seconds.\n"
              "user cpu time            = 1.500 seconds.\n"
              "system time              = 0.020 seconds.\n"
              "max resident set size    = 2.000 MBytes.\n"
              "\n"
              "-----------------------------------------------------------------\n"
              "Message size distributions:\n"
              "\n"
              "MPI_Send                  #calls    avg. bytes      time(sec)\n"
              "                               1           0.0          0.001\n"
              "                               2         114.0          0.001\n"
              "\n"
              "MPI_Reduce                #calls    avg. bytes      time(sec)\n"
              "                             100           8.0          0.100\n"
              "                               3     4718592.0          0.015\n"
              "\n");
}

TEST_F(text_profile, counted_calls_have_no_time) {
    for (int i = 0; i < 7; ++i) recording.ledger->counters.count(0);

    ASSERT_TRUE(write_text_profile(recording.image(), made_catalogue, path.c_str()));

    EXPECT_NE(written().find("MPI_Query                               7            0.0          0.000\n"),
              std::string::npos);
}

TEST_F(text_profile, threads_of_a_rank_are_added_up) {
    Ledger* other = Ledger::create(recording.records, 2, format::ThreadKind::other);
    ASSERT_NE(other, nullptr);
    record(*recording.ledger, 8, 1'000'000);
    record(*other, 8, 2'000'000);
    other->counters.count(0);
    recording.ledger->counters.count(0);

    ASSERT_TRUE(write_text_profile(recording.image(), made_catalogue, path.c_str()));

    EXPECT_NE(written().find("MPI_Reduce                              2            8.0          0.003\n"),
              std::string::npos);
    EXPECT_NE(written().find("MPI_Query                               2            0.0          0.000\n"),
              std::string::npos);
}

TEST_F(text_profile, a_rank_that_paused_says_so) {
    recording.image().header().paused_ticks = 500'000'000;

    ASSERT_TRUE(write_text_profile(recording.image(), made_catalogue, path.c_str()));

    EXPECT_NE(written().find("Times and statistics from MPI_Pcontrol(1) to MPI_Pcontrol(0).\n"), std::string::npos);
    EXPECT_NE(written().find("exclusive elapsed time   = 1.500 seconds.\n"), std::string::npos);
}

TEST_F(text_profile, is_private_to_its_owner_and_never_overwrites) {
    umask(0);
    ASSERT_TRUE(write_text_profile(recording.image(), made_catalogue, path.c_str()));
    struct stat status;
    ASSERT_EQ(stat((path + ".txt").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    const std::string first = written();
    record(*recording.ledger, 8, 1'000'000);

    EXPECT_FALSE(write_text_profile(recording.image(), made_catalogue, path.c_str()));

    EXPECT_EQ(written(), first);
}

TEST_F(text_profile, a_symbolic_link_in_its_place_is_not_followed) {
    ASSERT_EQ(symlink("/dev/null", (path + ".txt").c_str()), 0);

    EXPECT_FALSE(write_text_profile(recording.image(), made_catalogue, path.c_str()));
}

TEST_F(text_profile, a_directory_that_cannot_be_written_is_an_answer) {
    EXPECT_FALSE(write_text_profile(recording.image(), made_catalogue, "/no/such/directory/mpi_profile.1.0"));
}

}  // namespace
}  // namespace mpiprof::test
