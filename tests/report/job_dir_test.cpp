// Files in directories -> launches: grouped by what the headers say, and a line for everything that is in the way.
#include "report/read/job_dir.h"
#include "report/read/choose_launch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "report/merge/merge.h"
#include "tests/report/profile_builder.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;
using report::Found;
using report::Launch;

ProfileSpec rank_of(std::uint32_t rank, std::uint32_t size = 2) {
    ProfileSpec spec;
    spec.rank = rank;
    spec.size = size;
    spec.calls = {collective("MPI_Allreduce", {{.calls = 1, .bytes = 8, .time_ns = 1000}})};
    return spec;
}

Found find(const fs::path& path, unsigned threads = 1) {
    report::Progress progress;
    return report::find_profiles({path.string()}, threads, progress);
}

bool says(const std::vector<std::string>& lines, std::string_view text) {
    for (const std::string& line : lines)
        if (line.find(text) != std::string::npos && line.find('\n') == std::string::npos) return true;
    return false;
}

TEST(job_dir, ranks_of_one_launch_are_one_job) {
    const TemporaryDirectory directory;
    write_profile(directory.path(), rank_of(1));
    write_profile(directory.path(), rank_of(0));
    write_file(directory.path() / "job.o4711", "output");

    const Found found = find(directory.path());

    ASSERT_EQ(found.launches.size(), 1);
    EXPECT_EQ(found.launches[0].job, "4711");
    ASSERT_EQ(found.launches[0].files.size(), 2);
    EXPECT_EQ(found.launches[0].files[1].rank, 1);
    EXPECT_TRUE(found.problems.empty());
}

// What `mpiprof run` makes, beside what a plain preload leaves; nothing further below, and nothing that only sounds so.
TEST(job_dir, directories_of_jobs_are_looked_into_and_the_newest_launch_is_first) {
    const TemporaryDirectory directory;
    const auto write = [&](const std::string& in, const std::string& job, std::uint64_t start_ns) {
        ProfileSpec spec = rank_of(0, 1);
        spec.job = job;
        spec.launch = "launch of " + job;
        spec.start_realtime_ns += start_ns;
        fs::create_directories(directory.path() / in);
        write_profile(directory.path() / in, spec);
    };
    write("mpiprof.1", "1", 3'000'000'000);
    write("mpiprof.2", "2", 5'000'000'000);
    write(".", "3", 4'000'000'000);
    write("mpiprof.2/mpiprof.4", "4", 9'000'000'000);
    write("other", "5", 9'000'000'000);
    write("old.mpiprof", "6", 9'000'000'000);
    write_file(directory.path() / "mpiprof.txt", "notes");
    const Found found = find(directory.path());
    std::vector<std::string> jobs;
    for (const Launch& launch : found.launches) jobs.push_back(launch.job);
    EXPECT_EQ(jobs, (std::vector<std::string>{"2", "3", "1"}));
    EXPECT_EQ(find(directory.path() / "mpiprof.1").launches.size(), 1);
}

TEST(job_dir, two_launches_of_one_job_are_told_apart_and_the_newest_is_first) {
    const TemporaryDirectory directory;
    ProfileSpec older = rank_of(0, 1);
    older.launch = "pmix:1";
    ProfileSpec newer = rank_of(0, 1);
    newer.launch = "pmix:2";
    newer.start_realtime_ns += 60'000'000'000;
    write_file(directory.path() / "mpi_profile.4711.0", build(older));
    write_file(directory.path() / "mpi_profile.4711-2.0", build(newer));

    const Found found = find(directory.path());

    ASSERT_EQ(found.launches.size(), 2);
    EXPECT_EQ(found.launches[0].launch, "pmix:2");
    EXPECT_EQ(report::choose_launch(found.launches, {}).value(), 0);
    EXPECT_EQ(report::choose_launch(found.launches, {"", "2"}).value(), 1);
    EXPECT_EQ(report::choose_launch(found.launches, {"", "pmix:1"}).value(), 1);
    EXPECT_EQ(report::choose_launch(found.launches, {"4711", ""}).value(), 0);
    EXPECT_NE(report::choose_launch(found.launches, {"9", ""}).error().line().find("there is 4711"), std::string::npos);
    EXPECT_FALSE(report::choose_launch(found.launches, {"", "3"}).has_value());
}

TEST(job_dir, a_rank_with_two_profiles_keeps_the_newer_and_says_so) {
    const TemporaryDirectory directory;
    write_file(directory.path() / "mpi_profile.4711.0", build(rank_of(0)));
    write_file(directory.path() / "mpi_profile.4711.1", build(rank_of(1)));
    ProfileSpec newer = rank_of(1);
    newer.start_realtime_ns += 1'000'000'000;
    write_file(directory.path() / "mpi_profile.copy.1", build(newer));

    const Found found = find(directory.path());

    ASSERT_EQ(found.launches.size(), 1);
    ASSERT_EQ(found.launches[0].files.size(), 2);
    EXPECT_TRUE(found.launches[0].files[1].path.text().ends_with("mpi_profile.copy.1"));
    EXPECT_TRUE(says(found.launches[0].problems, "rank 1 has two profiles"));
}

TEST(job_dir, a_rank_of_another_world_size_is_left_out_and_named) {
    const TemporaryDirectory directory;
    write_profile(directory.path(), rank_of(0));
    write_profile(directory.path(), rank_of(1));
    write_file(directory.path() / "mpi_profile.4711.7", build(rank_of(7, 9)));

    const Found found = find(directory.path());

    ASSERT_EQ(found.launches.size(), 1);
    EXPECT_EQ(found.launches[0].size, 2);
    EXPECT_EQ(found.launches[0].files.size(), 2);
    EXPECT_TRUE(says(found.launches[0].problems, "from a world of 9 ranks"));
}

TEST(job_dir, a_spawned_world_is_a_launch_of_its_own) {
    const TemporaryDirectory directory;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        write_profile(directory.path(), rank_of(rank));
        ProfileSpec child = rank_of(rank);
        child.flags = format::world_is_spawned;
        child.start_realtime_ns += 1'000'000'000;
        write_file(directory.path() / ("mpi_profile.4711-2." + std::to_string(rank)), build(child));
    }

    const Found found = find(directory.path());

    ASSERT_EQ(found.launches.size(), 2);
    EXPECT_FALSE(found.launches[0].is_spawned);
    for (const Launch& launch : found.launches) {
        EXPECT_EQ(launch.files.size(), 2);
        EXPECT_TRUE(launch.problems.empty());
    }
}

// As a process of a training that nobody but its node's own launcher started.
ProfileSpec trainer(std::uint32_t rank, std::uint32_t size, const std::string& parent, std::uint64_t communicator) {
    ProfileSpec spec = rank_of(rank, size);
    spec.launch = "parent:" + parent;
    spec.job = parent;
    spec.communicators = {{.name = "default_pg",
                           .id = communicator,
                           .size = size,
                           .rank = rank,
                           .how = format::origin_made,
                           .made_by = "ncclCommInitRank"}};
    CallSpec init = setup("ncclCommInitRank", {{.calls = 1, .time_ns = 1000}});
    init.family = format::Family::nccl;
    spec.calls = {init};
    return spec;
}
void write_trainer(const fs::path& directory, const ProfileSpec& spec) {
    write_file(directory / ("mpi_profile." + spec.job + "." + std::to_string(spec.rank)), build(spec));
}

TEST(job_dir, launches_without_a_name_are_one_where_they_share_a_communicator_of_nccl) {
    const TemporaryDirectory directory;
    for (std::uint32_t rank = 0; rank < 4; ++rank)
        write_trainer(directory.path(), trainer(rank, 4, rank < 2 ? "700" : "300", 0x5e46));
    write_trainer(directory.path(), trainer(0, 4, "800", 0x9999));  // another one that has not come far

    const Found found = find(directory.path());

    ASSERT_EQ(found.launches.size(), 2);
    const Launch& joined = found.launches[found.launches[0].files.size() == 4 ? 0 : 1];
    ASSERT_EQ(joined.files.size(), 4);
    EXPECT_EQ(joined.launch, "parent:700");
    EXPECT_EQ(joined.job, "700") << "that of its lowest rank";
    EXPECT_TRUE(joined.problems.empty());
    for (std::uint32_t rank = 0; rank < 4; ++rank) EXPECT_EQ(joined.files[rank].rank, rank);
    EXPECT_TRUE(report::choose_launch(found.launches, {"", "parent:300"}).has_value());
    report::Progress progress;
    const auto job = report::merge(joined, 1, progress);
    ASSERT_TRUE(job);
    EXPECT_EQ(job->profiles(), 4);
    EXPECT_TRUE(job->problems.empty());
}

TEST(job_dir, launches_are_joined_by_communicators_of_some_ranks_too) {
    const TemporaryDirectory directory;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        ProfileSpec spec = trainer(rank, 3, std::to_string(100 + rank), 0x10 + rank);  // with the next one
        spec.communicators[0].size = 2;
        spec.communicators.push_back(spec.communicators[0]);
        spec.communicators[1].id = 0x10 + (rank + 1) % 3;
        spec.communicators[1].handle += 8;
        write_trainer(directory.path(), spec);
    }

    const Found found = find(directory.path());

    ASSERT_EQ(found.launches.size(), 1);
    EXPECT_EQ(found.launches[0].files.size(), 3);
}

TEST(job_dir, launches_that_have_the_same_rank_or_a_name_are_not_joined) {
    const TemporaryDirectory directory;
    write_trainer(directory.path(), trainer(0, 2, "100", 0x77));  // trains, and hands weights to
    write_trainer(directory.path(), trainer(0, 2, "200", 0x77));  // what infers
    ProfileSpec named = trainer(1, 2, "300", 0x77);
    named.launch = "torchrun:train";
    write_trainer(directory.path(), named);

    EXPECT_EQ(find(directory.path()).launches.size(), 3);
}

TEST(job_dir, communicators_of_mpi_join_no_launches) {
    const TemporaryDirectory directory;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProfileSpec spec = rank_of(rank);
        spec.launch = "parent:" + std::to_string(rank);
        write_file(directory.path() / ("mpi_profile.x." + std::to_string(rank)), build(spec));
    }

    EXPECT_EQ(find(directory.path()).launches.size(), 2);
}

TEST(job_dir, text_beside_a_profile_is_the_same_rank_again) {
    const TemporaryDirectory directory;
    write_profile(directory.path(), rank_of(0, 1));
    write_file(directory.path() / "mpi_profile.4711.0.txt", read_file(golden("seed003_cpu.txt")));

    const Found found = find(directory.path());

    ASSERT_EQ(found.launches.size(), 1);
    EXPECT_EQ(found.launches[0].launch, "pmix:4711.0");
}

TEST(job_dir, files_named_by_a_shell_are_as_those_found_in_their_directory) {
    const TemporaryDirectory directory;
    std::vector<std::string> expanded;  // mpi_profile.4711.*
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        write_profile(directory.path(), rank_of(rank));
        expanded.push_back(directory.path() / ("mpi_profile.4711." + std::to_string(rank)));
    }
    expanded.push_back(directory.path() / "mpi_profile.4711.0.txt");
    write_file(expanded.back(), read_file(golden("seed003_cpu.txt")));

    report::Progress progress;
    const Found found = report::find_profiles(expanded, 1, progress);

    ASSERT_EQ(found.launches.size(), 1);
    EXPECT_FALSE(found.launches[0].is_text);
    EXPECT_EQ(found.launches[0].files.size(), 2);
    EXPECT_TRUE(found.launches[0].problems.empty());
}

TEST(job_dir, text_of_a_rank_joins_the_profiles_of_its_job) {
    const TemporaryDirectory directory;
    const fs::path elsewhere = directory.path() / "texts";
    fs::create_directory(elsewhere);
    for (std::uint32_t rank = 1; rank < 4; ++rank) write_profile(directory.path(), rank_of(rank, 16));
    write_file(elsewhere / "mpi_profile.4711.0.txt", read_file(golden("seed003_cpu.txt")));  // of 16 ranks

    report::Progress progress;
    Found found = report::find_profiles({directory.path(), elsewhere}, 1, progress);
    ASSERT_EQ(found.launches.size(), 1);
    EXPECT_EQ(found.launches[0].files.size(), 4) << "it stands for the rank without a profile";
    EXPECT_EQ(found.launches[0].command, "./app --steps 10") << "the profiles know more";

    write_profile(directory.path(), rank_of(0, 16));
    found = report::find_profiles({directory.path(), elsewhere}, 1, progress);
    ASSERT_EQ(found.launches.size(), 1);
    ASSERT_EQ(found.launches[0].files.size(), 4);
    EXPECT_TRUE(found.launches[0].files[0].path.text().ends_with("mpi_profile.4711.0"));
    EXPECT_TRUE(found.launches[0].problems.empty()) << "to have both is no problem";
}

TEST(job_dir, text_alone_is_read) {
    const TemporaryDirectory directory;
    write_file(directory.path() / "mpi_profile.4711.0.txt", read_file(golden("seed003_cpu.txt")));
    const Found found = find(directory.path());
    ASSERT_EQ(found.launches.size(), 1);
    EXPECT_EQ(found.launches[0].size, 16);
}

TEST(job_dir, what_only_bears_the_name_of_a_profile_is_a_line_each) {
    const TemporaryDirectory directory;
    const fs::path& path = directory.path();
    write_profile(path, rank_of(0, 1));
    ASSERT_EQ(mkfifo((path / "mpi_profile.4711.1").c_str(), 0600), 0);  // reading it would wait for ever
    fs::create_directory(path / "mpi_profile.4711.2");
    fs::create_symlink("mpi_profile.4711.3", path / "mpi_profile.4711.3");
    fs::create_symlink("nowhere", path / "mpi_profile.4711.4");
    write_file(path / "mpi_profile.4711.5", "");
    write_file(path / "mpi_profile.4711.6", "hello");
    fs::create_symlink("/dev/zero", path / "mpi_profile.4711.7");
    Bytes whole = build(rank_of(0, 1));
    whole.resize(whole.size() / 2);
    write_file(path / "mpi_profile.4711.8", whole);

    const Found found = find(path);

    ASSERT_EQ(found.launches.size(), 1);
    EXPECT_EQ(found.launches[0].files.size(), 1);
    EXPECT_TRUE(says(found.problems, "mpi_profile.4711.1: is a pipe"));
    EXPECT_TRUE(says(found.problems, "mpi_profile.4711.2: is a directory"));
    EXPECT_TRUE(says(found.problems, "mpi_profile.4711.3: cannot be read: Too many levels of symbolic links"));
    EXPECT_TRUE(says(found.problems, "mpi_profile.4711.4: cannot be read: No such file"));
    EXPECT_TRUE(says(found.problems, "mpi_profile.4711.5: is empty"));
    EXPECT_TRUE(says(found.problems, "mpi_profile.4711.6: is not a profile"));
    EXPECT_TRUE(says(found.problems, "mpi_profile.4711.7: is a device"));
    EXPECT_TRUE(says(found.problems, "mpi_profile.4711.8: is truncated"));
    EXPECT_EQ(found.problems.size(), 8);
}

TEST(job_dir, a_profile_of_someone_else_is_a_line) {
    const TemporaryDirectory directory;
    const fs::path path = write_profile(directory.path(), rank_of(0, 1));
    fs::permissions(path, fs::perms::none);
    fs::permissions(directory.path(),
                    fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec,
                    fs::perm_options::add);
    const bool is_root = geteuid() == 0;  // who reads everything
    if (is_root) {
        ASSERT_EQ(seteuid(65534), 0);
    }

    const Found found = find(directory.path());

    if (is_root) {
        ASSERT_EQ(seteuid(0), 0);
    }
    EXPECT_TRUE(says(found.problems, "cannot be read: Permission denied; profiles belong to the user who ran the job"));
}

TEST(job_dir, an_empty_directory_and_a_missing_path_find_nothing) {
    const TemporaryDirectory directory;
    EXPECT_TRUE(find(directory.path()).launches.empty());
    EXPECT_TRUE(find(directory.path()).problems.empty());
    EXPECT_TRUE(says(find(directory.path() / "none").problems, "No such file or directory"));
}

TEST(job_dir, named_files_are_taken_whatever_they_are_called) {
    const TemporaryDirectory directory;
    write_file(directory.path() / "saved-profile", build(rank_of(0)));
    report::Progress progress;
    const std::string path = (directory.path() / "saved-profile").string();
    const Found found = report::find_profiles({path, path}, 1, progress);
    ASSERT_EQ(found.launches.size(), 1);
    EXPECT_TRUE(found.only_files);
    EXPECT_EQ(found.launches[0].files.size(), 1);
    EXPECT_TRUE(found.launches[0].problems.empty());  // the same file named twice is one
}

TEST(job_dir, many_threads_find_the_same) {
    const TemporaryDirectory directory;
    for (std::uint32_t rank = 0; rank < 100; ++rank) write_profile(directory.path(), rank_of(rank, 100));
    const Found one = find(directory.path(), 1);
    const Found four = find(directory.path(), 4);
    ASSERT_EQ(four.launches.size(), 1);
    ASSERT_EQ(four.launches[0].files.size(), 100);
    for (std::size_t i = 0; i < 100; ++i)
        EXPECT_EQ(four.launches[0].files[i].path.text(), one.launches[0].files[i].path.text());
}

}  // namespace
}  // namespace mpiprof::test
