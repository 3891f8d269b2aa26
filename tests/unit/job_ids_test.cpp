// What schedulers call a job, from the variables that they give its processes.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/asked_who.h"

namespace mpiprof {
namespace {

TEST(job_ids, are_what_the_scheduler_shows) {
    const auto ids = [](const Texts& environment) { return who(environment)["job_ids"]; };
    const Texts array{"SLURM_JOB_ID=4715", "SLURM_ARRAY_JOB_ID=4711", "SLURM_ARRAY_TASK_ID=3"};
    Texts step = array, batch = array;
    step.push_back("SLURM_STEP_ID=2");
    batch.push_back("SLURM_STEP_ID=4294967291");

    EXPECT_EQ(ids(array), "4711_3 4715");
    EXPECT_EQ(ids(step), "4711_3.2 4715.2");
    EXPECT_EQ(ids(batch), "4711_3 4715") << "a batch script is no step";
    EXPECT_EQ(ids({"SLURM_JOB_ID=815", "SLURM_STEP_ID=0"}), "815.0");
    EXPECT_EQ(ids({"SLURM_JOB_ID=4712", "SLURM_HET_JOB_ID=4711", "SLURM_HET_JOB_OFFSET=1"}), "4711+1 4712");
    EXPECT_EQ(ids({"PBS_JOBID=4711[3].sdb.example.org"}), "4711[3].sdb.example.org");
    EXPECT_EQ(ids({"LSB_JOBID=4711", "LSB_JOBINDEX=3"}), "4711[3]");
    EXPECT_EQ(ids({"LSB_JOBID=4711", "LSB_JOBINDEX=0"}), "4711");
    EXPECT_EQ(ids({"JOB_ID=4711", "SGE_TASK_ID=3"}), "4711.3");
    EXPECT_EQ(ids({"JOB_ID=mine", "SLURM_JOB_ID=815"}), "815") << "anybody may have a JOB_ID";
    EXPECT_EQ(ids({"FLUX_JOB_ID=\u0192XYZ", "SLURM_JOB_ID=815"}), "815 \u0192XYZ") << "Flux in an allocation";
    EXPECT_EQ(ids({"MPIPROF_JOB=baseline", "PBS_JOBID=4711.sdb"}), "4711.sdb") << "whatever the user calls it";
    EXPECT_EQ(ids({}), "");
}

TEST(job_ids, an_id_with_blanks_is_one_and_one_that_does_not_fit_is_left_out) {
    const auto ids = [](const Texts& environment) { return who(environment)["job_ids"]; };
    EXPECT_EQ(ids({"PBS_JOBID=a b\nc"}), "a_b_c");
    EXPECT_EQ(ids({"SLURM_JOB_ID=815", "PBS_JOBID=" + std::string(500, '7')}), "815");
    EXPECT_EQ(ids({"PBS_JOBID=" + std::string(158, '7')}), std::string(158, '7'));
}

}  // namespace
}  // namespace mpiprof
