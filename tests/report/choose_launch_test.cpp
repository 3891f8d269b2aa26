// --job: jobs are found by their names, and by what their schedulers call them: raw ids, steps, members of arrays.
#include "report/read/choose_launch.h"

#include <gtest/gtest.h>

#include "report/read/job_dir.h"
#include "report/read/merged_writer.h"
#include "tests/report/profile_builder.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Found;

Found find(const std::string& path) {
    report::Progress progress;
    return report::find_profiles({path}, 1, progress);
}

ProfileSpec rank_of(std::uint32_t rank, std::uint32_t size) {
    ProfileSpec spec;
    spec.rank = rank;
    spec.size = size;
    spec.calls = {collective("MPI_Allreduce", {{.calls = 1, .bytes = 8, .time_ns = 1000}})};
    return spec;
}

// A job as the library names it, with what its scheduler calls it.
ProfileSpec job_called(const std::string& job, const std::string& ids, std::uint64_t later_s = 0) {
    ProfileSpec spec = rank_of(0, 1);
    spec.job = job;
    spec.job_ids = ids;
    spec.launch = job + " " + ids;
    spec.start_realtime_ns += later_s * 1'000'000'000;
    return spec;
}
struct Jobs {
    explicit Jobs(const std::vector<ProfileSpec>& jobs) {
        for (const ProfileSpec& job : jobs)
            write_file(directory.path() / ("mpi_profile." + std::to_string(number++) + ".0"), build(job));
        found = find(directory.path());
    }
    // The identity of the launch that is chosen, else what is said.
    std::string chosen(const std::string& job) const {
        const auto one = report::choose_launch(found.launches, {job, ""});
        return one ? found.launches[*one].launch : one.error().line();
    }
    std::vector<std::string> all(const std::string& job) const {
        std::vector<std::string> launches;
        if (const auto which = report::choose_launches(found.launches, {job, ""}))
            for (const std::size_t i : *which) launches.push_back(found.launches[i].launch);
        return launches;
    }
    TemporaryDirectory directory;
    int number = 0;
    Found found;
};
using All = std::vector<std::string>;

TEST(choose_launch, a_member_of_an_array_is_found_by_its_raw_id) {  // as sacct and squeue show it
    const Jobs jobs({job_called("4711_0", "4711_0 4712"), job_called("4711_3", "4711_3.0 4715.0", 1),
                     job_called("47", "47"), job_called("4716", "4716.0", 9)});
    EXPECT_EQ(jobs.chosen("4715"), "4711_3 4711_3.0 4715.0");
    EXPECT_EQ(jobs.chosen("4715.0"), "4711_3 4711_3.0 4715.0");
    EXPECT_EQ(jobs.chosen("4711_3.0"), "4711_3 4711_3.0 4715.0");
    EXPECT_EQ(jobs.chosen("4711_3"), "4711_3 4711_3.0 4715.0");
    EXPECT_EQ(jobs.chosen("4712"), "4711_0 4711_0 4712");
    EXPECT_NE(jobs.chosen("471").find("no profile of that job"), std::string::npos) << "no id, though others begin so";
    EXPECT_NE(jobs.chosen("4715.1").find("no profile of that job"), std::string::npos);
}

TEST(choose_launch, an_array_as_a_whole_is_listed_where_one_job_is_asked_for) {
    const Jobs jobs({job_called("4711_0", "4711_0 4712"), job_called("4711_1", "4711_1 4711", 1),
                     job_called("4711_10", "4711_10 4722", 2)});
    EXPECT_EQ(jobs.chosen("4711"), "--job 4711: 3 jobs are called so; choose one: 4711_0, 4711_1, 4711_10");
    EXPECT_EQ(jobs.all("4711"), All{"4711_1 4711_1 4711"}) << "for a log: whose raw id it is, once";
    EXPECT_EQ(jobs.all("4722"), All{"4711_10 4711_10 4722"});
    setenv("SLURM_JOB_ID", "4711", 1);
    EXPECT_EQ(jobs.chosen("4711"), "4711_1 4711_1 4711") << "in the script of the member of that number";
    setenv("SLURM_JOB_ID", "4722", 1);
    EXPECT_NE(jobs.chosen("4711").find("3 jobs are called so"), std::string::npos) << "in that of another";
    unsetenv("SLURM_JOB_ID");
    const Jobs others({job_called("4711_1", "4711_1 4713", 5), job_called("4711_0", "4711_0 4712")});
    EXPECT_EQ(others.all("4711"), (All{"4711_0 4711_0 4712", "4711_1 4711_1 4713"})) << "oldest first";
    EXPECT_EQ(Jobs({job_called("4711_0", "4711_0 4712")}).chosen("4711"), "4711_0 4711_0 4712") << "only one is here";
}

TEST(choose_launch, steps_of_a_job_are_found_by_their_numbers) {
    const Jobs jobs({job_called("4711", "4711.0"), job_called("4711", "4711.1", 1), job_called("4711", "4711.10", 2)});
    EXPECT_EQ(jobs.chosen("4711.0"), "4711 4711.0");
    EXPECT_EQ(jobs.chosen("4711.1"), "4711 4711.1");
    EXPECT_EQ(jobs.chosen("4711"), "4711 4711.10") << "the newest";
    EXPECT_EQ(jobs.all("4711").size(), 3);
    EXPECT_NE(jobs.chosen("4711.2").find("there is 4711"), std::string::npos);
}

TEST(choose_launch, ids_of_pbs_are_known_with_server_index_and_brackets) {
    const Jobs jobs({job_called("4711_3", "4711[3].sdb.example.org"), job_called("815", "815.sdb", 1)});
    for (const char* called :
         {"4711[3]", "4711[3].sdb", "4711[3].sdb.example.org", "4711_3", "4711", "4711[]", "4711[].sdb"})
        EXPECT_EQ(jobs.chosen(called), "4711_3 4711[3].sdb.example.org") << called;
    EXPECT_EQ(jobs.chosen("815.sdb"), "815 815.sdb");
    EXPECT_NE(jobs.chosen("815.other").find("no profile"), std::string::npos);
    const Jobs older({job_called("4711_3", ""), job_called("815", "", 1)});  // by a library that kept no ids
    EXPECT_EQ(older.chosen("4711[3].sdb"), "4711_3 ");
    EXPECT_EQ(older.chosen("815.sdb"), "815 ");
    EXPECT_NE(older.chosen("815.2").find("no profile"), std::string::npos) << "that may be a step, which is not known";
}

TEST(choose_launch, a_name_that_the_user_chose_is_no_beginning_of_another) {
    const Jobs jobs({job_called("lj_1", "4711.0"), job_called("lj_2", "4712.0", 1)});
    EXPECT_NE(jobs.chosen("lj").find("no profile of that job; there is lj_2, lj_1"), std::string::npos);
    EXPECT_EQ(jobs.chosen("lj_1"), "lj_1 4711.0");
    EXPECT_EQ(jobs.chosen("4711"), "lj_1 4711.0") << "the scheduler knows it, too";
}

// mpirun in a batch script starts the ranks of other nodes by a step of its own.
TEST(choose_launch, ids_of_all_ranks_count_and_are_kept_in_a_merged_file) {
    const TemporaryDirectory directory;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProfileSpec spec = rank_of(rank, 2);
        spec.job_ids = rank ? "4711.0" : "4711";
        write_profile(directory.path(), spec);
    }
    Found found = find(directory.path());
    ASSERT_TRUE(report::choose_launch(found.launches, {"4711.0", ""}));
    report::Progress progress;
    const TemporaryDirectory archive;
    const std::string merged = archive.path() / "run.mpiprof";
    ASSERT_TRUE(report::write_merged(found, found.launches[0], merged, 1, progress));
    found = find(merged);
    ASSERT_EQ(found.launches.size(), 1);
    EXPECT_TRUE(found.launches[0].problems.empty()) << "ids are no problem to be said";
    EXPECT_TRUE(report::choose_launch(found.launches, {"4711.0", ""}));
    EXPECT_FALSE(report::choose_launch(found.launches, {"4711.1", ""}));
}

}  // namespace
}  // namespace mpiprof::test
