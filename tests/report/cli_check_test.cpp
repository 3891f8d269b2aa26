// mpiprof-report check: validate the profiles: damaged, missing, unfinished.
#include <cstring>

#include "tests/report/cli.h"
#include "tests/report/stories.h"

namespace mpiprof::test {
namespace {

TEST_F(cli, check_of_whole_profiles_says_so) {
    write(balanced_stencil());
    const Ran ran = run({"check"});
    EXPECT_EQ(ran.code, 0) << ran.out;
    EXPECT_NE(ran.out.find("all 8 profiles are intact"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("8 finalized"), std::string::npos);
    EXPECT_NE(ran.out.find("mapped"), std::string::npos);
    EXPECT_EQ(ran.err, "");
}

TEST_F(cli, check_names_each_damaged_file_on_a_line_and_fails) {
    auto ranks = balanced_stencil();
    write(ranks);
    const std::string whole = read_file(path() / "mpi_profile.4711.2");
    write_file(path() / "mpi_profile.4711.2", whole.substr(0, whole.size() / 2));
    write_file(path() / "mpi_profile.4711.3", "");
    write_file(path() / "mpi_profile.4711.x", "something else\n");
    const Ran ran = run({"check"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.out.find("mpi_profile.4711.2: is truncated"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("mpi_profile.4711.3: is empty"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("mpi_profile.4711.x: is not a profile"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("3 defects found; 6 profiles can be read; 2 ranks without a profile"), std::string::npos)
        << ran.out;
    EXPECT_NE(ran.out.find("2 and 3"), std::string::npos) << "the ranks that are missing";
    EXPECT_EQ(run({"check", "-j", "3"}).out, ran.out);
}

TEST_F(cli, check_says_what_is_missing_twice_or_dropped_and_does_not_call_it_damage) {
    auto ranks = errors_and_drops();
    ranks[0].size = 3;
    ranks[1].size = 3;
    ranks[1].state = format::State::exited;
    ranks[1].store = format::StoreKind::written;
    ranks[1].store_period_ms = 10'000;
    write(ranks);
    write_file(path() / "mpi_profile.copy.1", build(ranks[1]));
    const Ran ran = run({"check", "--width", "120"});
    EXPECT_EQ(ran.code, 1) << "a rank has no profile, another no end\n" << ran.out;
    EXPECT_NE(ran.out.find("all 2 profiles are intact; 1 rank without a profile; 1 rank did not reach MPI_Finalize"),
              std::string::npos)
        << ran.out;
    for (const char* part : {"rank 1 has two profiles", "1 exited", "1 finalized", "1 mapped, 1 written every 10.00 s",
                             "2,400 cells", "5 threads", "DROPPED: summed over ranks", " 2 "})
        EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
}

TEST_F(cli, check_of_a_killed_job_says_so_and_fails) {
    auto ranks = balanced_stencil();
    for (ProfileSpec& rank : ranks) rank.state = format::State::running;
    ranks[3].state = format::State::aborted;
    write(ranks);
    const Ran ran = run({"check", "--width", "200"});
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_NE(ran.out.find("all 8 profiles are intact; 8 ranks did not reach MPI_Finalize (1 aborted, 7 killed"),
              std::string::npos)
        << ran.out;
}

TEST_F(cli, check_finds_sums_that_do_not_add_up) {
    auto ranks = late_messages();
    write(ranks);
    const fs::path file = path() / "mpi_profile.4711.1";
    Bytes bytes = build(ranks[1]);
    const auto cells = table_of(bytes, format::TableType::cells, 1);
    ASSERT_TRUE(cells);
    const std::size_t calls = cells->table.offset + offsetof(format::Cell, calls);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + calls, sizeof value);
    overwrite(bytes, calls, value * 5);
    write_file(file, bytes);
    const Ran ran = run({"check"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.out.find("mpi_profile.4711.1: does not add up: "), std::string::npos) << ran.out;
}

TEST_F(cli, check_blames_calls_in_flight_for_sums_of_a_killed_rank) {
    auto ranks = late_messages();
    ranks[1].state = format::State::running;
    write(ranks);
    Bytes bytes = build(ranks[1]);
    const auto cells = table_of(bytes, format::TableType::cells, 1);
    ASSERT_TRUE(cells);
    for (std::uint32_t i = 0; i < cells->table.used; ++i) {
        const std::size_t at = cells->table.offset + i * cells->table.record_size;
        format::Cell cell{};
        std::memcpy(&cell, bytes.data() + at, sizeof cell);
        if (cell.histogram == 0 || cell.calls < 2) continue;
        overwrite(bytes, at + offsetof(format::Cell, calls), cell.calls - 1);
        break;
    }
    write_file(path() / "mpi_profile.4711.1", bytes);
    const Ran ran = run({"check"});
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_NE(ran.out.find("all 2 profiles are intact; 1 rank did not reach MPI_Finalize"), std::string::npos)
        << ran.out;
    EXPECT_NE(ran.out.find("by calls in flight"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("killed"), std::string::npos) << ran.out;
}

TEST_F(cli, check_is_for_programs_too) {
    write(balanced_stencil());
    write_file(path() / "mpi_profile.4711.x", "something else\n");
    const Ran csv = run({"check", "--format", "csv"});
    EXPECT_EQ(csv.code, 1);
    EXPECT_NE(csv.out.find("damaged,\"mpi_profile.4711.x: is not a profile; "), std::string::npos) << csv.out;
    EXPECT_EQ(run({"check", "nowhere"}).code, 1);
    fs::create_directory(path() / "empty");
    EXPECT_EQ(run({"check", "empty"}).code, 3);
}

}  // namespace
}  // namespace mpiprof::test
