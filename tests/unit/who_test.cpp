// Who a process is: launch, job, rank, node and command line, as found by a process that is started with the
// environment of a launcher or a scheduler (print_who.cpp).
#include "libmpiprof/host/who.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "tests/unit/asked_who.h"

namespace mpiprof {
namespace {

std::string job(const Texts& environment) { return who(environment)["job"]; }
std::string launch(const Texts& environment) { return who(environment)["launch"]; }

// ---- job ----

TEST(job, pbs_ids_are_cut_at_the_server) {
    EXPECT_EQ(job({"PBS_JOBID=4711.sdb"}), "4711");
    EXPECT_EQ(job({"PBS_JOBID=4711"}), "4711");
    EXPECT_EQ(job({"PBS_JOBID=4711.server.example.org"}), "4711");
}

TEST(job, an_array_member_has_its_index_behind_the_job) {
    EXPECT_EQ(job({"PBS_JOBID=4711[3].sdb"}), "4711_3");
    EXPECT_EQ(job({"SLURM_JOB_ID=4714", "SLURM_ARRAY_JOB_ID=4711", "SLURM_ARRAY_TASK_ID=3"}), "4711_3");
    EXPECT_EQ(job({"LSB_JOBID=4711", "LSB_JOBINDEX=3"}), "4711_3");
    EXPECT_EQ(job({"JOB_ID=4711", "SGE_TASK_ID=3"}), "4711_3");
}

TEST(job, jobs_that_are_no_array_have_no_index) {
    EXPECT_EQ(job({"SLURM_JOB_ID=4711"}), "4711");
    EXPECT_EQ(job({"LSB_JOBID=4711", "LSB_JOBINDEX=0"}), "4711");
    EXPECT_EQ(job({"JOB_ID=4711", "SGE_TASK_ID=undefined"}), "4711");
}

TEST(job, a_heterogeneous_job_is_the_leader_and_the_component) {
    EXPECT_EQ(job({"SLURM_JOB_ID=4712", "SLURM_HET_JOB_ID=4711", "SLURM_HET_JOB_OFFSET=1"}), "4711+1");
}

TEST(job, other_schedulers_are_known) {
    EXPECT_EQ(job({"COBALT_JOBID=4711"}), "4711");
    EXPECT_EQ(job({"OAR_JOB_ID=4711"}), "4711");
    EXPECT_EQ(job({"FLUX_JOB_ID=f3XYZ"}), "f3XYZ");
}

TEST(job, slurm_that_speaks_pbs_is_slurm) {  // slurm-wlm-torque sets both
    EXPECT_EQ(job({"PBS_JOBID=4711", "SLURM_JOB_ID=4711"}), "4711");
}

TEST(job, the_users_own_name_wins) { EXPECT_EQ(job({"MPIPROF_JOB=baseline", "SLURM_JOB_ID=4711"}), "baseline"); }

TEST(job, the_users_own_name_may_have_a_version_in_it) { EXPECT_EQ(job({"MPIPROF_JOB=lj-2.5"}), "lj-2_5"); }

TEST(job, without_scheduler_it_is_the_launchers_process) {
    EXPECT_EQ(job({}), std::to_string(getpid()));
    EXPECT_EQ(job({"SLURM_JOB_ID="}), std::to_string(getpid())) << "an empty variable is none";
}

TEST(job, the_name_of_a_torchrun_is_the_jobs_unless_it_is_none) {
    EXPECT_EQ(job({"TORCHELASTIC_RUN_ID=train.7"}), "train_7");
    EXPECT_EQ(job({"TORCHELASTIC_RUN_ID=none"}), std::to_string(getpid()));
    EXPECT_EQ(job({"TORCHELASTIC_RUN_ID=train", "SLURM_JOB_ID=4711"}), "4711");
}

TEST(job, a_hostile_id_cannot_leave_the_directory) {
    for (const char* id : {"../../etc/passwd", "/etc/passwd", "..", ".", "a/../b"}) {
        const std::string name = job({std::string("SLURM_JOB_ID=") + id});
        EXPECT_EQ(name.find('/'), std::string::npos) << id;
        EXPECT_NE(name, "") << id;
        EXPECT_NE(name[0], '.') << id;
        const std::string own = job({std::string("MPIPROF_JOB=") + id});
        EXPECT_EQ(own.find('/'), std::string::npos) << id;
        EXPECT_NE(own, "") << id;
    }
}

TEST(job, control_characters_and_blanks_do_not_reach_file_names) {
    EXPECT_EQ(job({"MPIPROF_JOB=a b\nc\033[2Jd\177e"}), "a_b_c__2Jd_e");
}

TEST(job, a_very_long_id_is_cut) {
    const std::string name = job({"SLURM_JOB_ID=" + std::string(5000, '7')});

    EXPECT_EQ(name, std::string(63, '7'));
}

// ---- launch ----

TEST(launch, ranks_of_one_mpirun_agree_and_two_mpiruns_differ) {
    const auto rank = [](const char* space, const char* number) {
        return launch({std::string("PMIX_NAMESPACE=") + space, std::string("PMIX_RANK=") + number});
    };

    EXPECT_EQ(rank("prte-node1-4711@1", "0"), rank("prte-node1-4711@1", "1"));
    EXPECT_NE(rank("prte-node1-4711@1", "0"), rank("prte-node1-4711@2", "0"));
}

TEST(launch, two_steps_of_one_slurm_job_differ) {
    const auto step = [](const char* number, const char* rank) {
        return launch({"SLURM_JOB_ID=4711", std::string("SLURM_STEP_ID=") + number, std::string("SLURM_PROCID=") + rank,
                       "SLURM_NTASKS=4"});
    };

    EXPECT_EQ(step("0", "0"), step("0", "3"));
    EXPECT_NE(step("0", "0"), step("1", "0"));
}

TEST(launch, the_same_step_number_of_two_jobs_differs) {
    const auto in_job = [](const char* number) {
        return launch({std::string("SLURM_JOB_ID=") + number, "SLURM_STEP_ID=0"});
    };

    EXPECT_NE(in_job("4711"), in_job("4712"));
}

TEST(launch, launchers_are_told_by_what_they_set) {
    EXPECT_EQ(who({"PALS_APID=3fa8", "PALS_RANKID=2"})["launcher"], "PALS");
    EXPECT_EQ(who({"FLUX_JOB_ID=f3X", "FLUX_TASK_RANK=2"})["launcher"], "Flux");
    EXPECT_EQ(who({"PMIX_NAMESPACE=x", "OMPI_COMM_WORLD_SIZE=4"})["launcher"], "Open MPI");
    EXPECT_EQ(who({"SLURM_STEP_ID=0", "SLURM_JOB_ID=1"})["launcher"], "Slurm");
    EXPECT_EQ(who({"TORCHELASTIC_RUN_ID=x", "RANK=0"})["launcher"], "torchrun");
}

TEST(launch, a_restart_by_torchrun_is_another_launch) {
    const auto restart = [](const char* count) {
        return launch(
            {"TORCHELASTIC_RUN_ID=none", std::string("TORCHELASTIC_RESTART_COUNT=") + count, "MASTER_PORT=29500"});
    };

    EXPECT_EQ(restart("0"), restart("0"));
    EXPECT_NE(restart("0"), restart("1"));
}

TEST(launch, a_restart_below_srun_is_another_launch_too) {
    const auto restart = [](const char* count) {
        return launch({"SLURM_STEP_ID=0", "SLURM_JOB_ID=4711", "TORCHELASTIC_RUN_ID=x",
                       std::string("TORCHELASTIC_RESTART_COUNT=") + count});
    };

    EXPECT_NE(restart("0"), restart("1"));
}

TEST(launch, nameless_torchruns_on_one_machine_are_told_apart_by_their_process) {
    const Texts ranks{"TORCHELASTIC_RUN_ID=none", "MASTER_PORT=29500", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=4"};
    Texts of_two_nodes = ranks;
    of_two_nodes[3] = "LOCAL_WORLD_SIZE=2";

    EXPECT_NE(launch(ranks).find(std::to_string(getpid())), std::string::npos);
    EXPECT_EQ(launch(of_two_nodes).find(std::to_string(getpid())), std::string::npos);
}

// sh carries the proxy's arguments in its own command line, as Hydra's proxy does, and starts the rank; `between` are
// scripts that do not exec.
Answers whole_under_hydra(const Texts& arguments, const Texts& environment = {}, int between = 0) {
    std::string rank = PRINT_WHO;
    for (int i = 0; i < between; ++i) rank = "/bin/sh -c '\"$@\"; true' wrap.sh " + rank;
    Texts command{"/bin/sh", "-c", rank + "; true", "hydra_pmi_proxy"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return parsed(output_of(command, environment));
}
std::string under_hydra(const Texts& arguments) { return whole_under_hydra(arguments)["launch"]; }

TEST(launch, ranks_under_hydra_agree_by_the_port_that_their_proxy_reports_to) {
    const Texts node0{"--control-port", "login:41753", "--rmk", "user", "--pgid", "0", "--proxy-id", "0"};
    const Texts node1{"--control-port", "login:41753", "--rmk", "user", "--pgid", "0", "--proxy-id", "1"};
    const Texts other{"--control-port", "login:36817", "--rmk", "user", "--pgid", "0", "--proxy-id", "0"};

    EXPECT_EQ(under_hydra(node0), "hydra:login:41753:0");
    EXPECT_EQ(under_hydra(node0), under_hydra(node1));
    EXPECT_NE(under_hydra(node0), under_hydra(other));
}

TEST(launch, a_spawned_world_under_hydra_is_another_launch) {
    EXPECT_NE(under_hydra({"--control-port", "login:41753", "--pgid", "0"}),
              under_hydra({"--control-port", "login:41753", "--pgid", "1"}));
}

const Texts hydras_arguments{"--control-port", "login:41753", "--pgid", "0"};

TEST(launch, ranks_under_hydra_agree_behind_scripts_that_do_not_exec) {
    const std::string without = whole_under_hydra(hydras_arguments)["launch"];

    for (int scripts : {1, 2, 5})
        for (const Texts& environment :
             {Texts{}, Texts{"PBS_JOBID=4711.sdb"}, Texts{"SLURM_JOB_ID=815"}, Texts{"MPIPROF_JOB=x"}}) {
            EXPECT_EQ(whole_under_hydra(hydras_arguments, environment, scripts)["launch"], without) << scripts;
        }
}

TEST(launch, of_two_launchers_the_nearer_one_has_started_the_rank) {
    const std::string mpirun = testing::TempDir() + "/who_test." + std::to_string(getpid()) + "/mpirun";
    const std::string directory = mpirun.substr(0, mpirun.rfind('/'));
    ASSERT_EQ(mkdir(directory.c_str(), 0700), 0);
    ASSERT_EQ(symlink("/bin/sh", mpirun.c_str()), 0);
    const Texts command{"/bin/sh",        "-c",         mpirun + " -c '" PRINT_WHO "; true'; true", "hydra_pmi_proxy",
                        "--control-port", "login:41753"};

    Answers inside = parsed(output_of(command, {"PMIX_NAMESPACE=4057923585"}));

    EXPECT_EQ(inside["launch"], "PMIx:4057923585");
    EXPECT_EQ(inside["job"], inside["parent"]);
    unlink(mpirun.c_str());
    rmdir(directory.c_str());
}

TEST(job, without_scheduler_it_is_mpiexecs_process_behind_scripts_too) {
    const Texts one_node{"MPI_LOCALNRANKS=4", "PMI_SIZE=4"};

    for (int scripts : {0, 1, 3})
        EXPECT_EQ(whole_under_hydra(hydras_arguments, one_node, scripts)["job"], std::to_string(getpid())) << scripts;
}

TEST(job, without_scheduler_on_several_nodes_it_is_what_the_launcher_calls_the_launch) {
    const auto under_hydra_of_two = [](const char* proxy) {
        return whole_under_hydra({"--control-port", "login:41753", "--pgid", "0", "--proxy-id", proxy},
                                 {"MPI_LOCALNRANKS=2", "PMI_SIZE=4"}, 1)["job"];
    };
    const auto under_open_mpi = [](const char* space, const char* here) {
        return job({std::string("PMIX_NAMESPACE=") + space, std::string("OMPI_COMM_WORLD_LOCAL_SIZE=") + here,
                    "OMPI_COMM_WORLD_SIZE=4"});
    };

    EXPECT_EQ(under_hydra_of_two("0"), "41753");
    EXPECT_EQ(under_hydra_of_two("1"), "41753");
    EXPECT_EQ(under_open_mpi("4057923585", "2"), "61919");
    EXPECT_EQ(under_open_mpi("4057923586", "1"), "61919") << "what it spawned, too";
    EXPECT_EQ(under_open_mpi("prterun-login-27540@1", "2"), "27540");
    EXPECT_EQ(under_open_mpi("prterun-login-27540@1", "4"), "27540") << "where its process cannot be seen";
    EXPECT_EQ(under_open_mpi("something", "2"), std::to_string(getpid()));
}

TEST(launch, singletons_are_launches_of_their_own) { EXPECT_NE(launch({"WORLD_SIZE=1"}), launch({"WORLD_SIZE=1"})); }

TEST(launch, singletons_that_srun_started_are_told_apart) {  // srun and the program do not speak the same PMI
    const Texts task{"SLURM_STEP_ID=0", "SLURM_JOB_ID=4711", "SLURM_PROCID=1", "SLURM_NTASKS=4"};
    Texts alone = task;
    alone.push_back("WORLD_SIZE=1");

    EXPECT_EQ(launch(task), launch(task));
    EXPECT_NE(launch(alone), launch(alone));
}

TEST(launch, without_any_launcher_siblings_agree) { EXPECT_EQ(launch({"WORLD_SIZE=4"}), launch({"WORLD_SIZE=4"})); }

TEST(launch, a_very_long_identity_is_cut_and_not_overrun) {
    const Texts environment{"PMIX_NAMESPACE=" + std::string(5000, 'x'), "SLURM_JOB_ID=" + std::string(5000, '7')};

    EXPECT_EQ(launch(environment).size(), 127u);
}

// ---- rank ----

TEST(rank, is_found_in_the_launchers_words) {
    const auto found = [](const Texts& environment) { return who(environment)["launch_rank"]; };

    EXPECT_EQ(found({}), "unknown 0 1 -1");
    EXPECT_EQ(found({"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=8", "OMPI_COMM_WORLD_LOCAL_RANK=1"}),
              "known 3 8 1");
    EXPECT_EQ(found({"PMI_RANK=3", "PMI_SIZE=8", "MPI_LOCALRANKID=1"}), "known 3 8 1");
    EXPECT_EQ(found({"SLURM_PROCID=3", "SLURM_NTASKS=8", "SLURM_LOCALID=1"}), "known 3 8 1");
    EXPECT_EQ(found({"PALS_RANKID=3", "PALS_SIZE=8", "PALS_LOCAL_RANKID=1"}), "known 3 8 1");
    EXPECT_EQ(found({"FLUX_TASK_RANK=3", "FLUX_JOB_SIZE=8", "FLUX_TASK_LOCAL_ID=1"}), "known 3 8 1");
    EXPECT_EQ(found({"RANK=3", "WORLD_SIZE=8", "LOCAL_RANK=1"}), "known 3 8 1");
}

TEST(rank, torchrun_below_a_launcher_knows_better) {  // srun starts one torchrun a node
    EXPECT_EQ(who({"SLURM_PROCID=1", "SLURM_NTASKS=2", "MASTER_ADDR=n1", "RANK=5", "WORLD_SIZE=8",
                   "LOCAL_RANK=1"})["launch_rank"],
              "known 5 8 1");
    EXPECT_EQ(who({"PMI_RANK=1", "PMI_SIZE=2", "HOROVOD_RANK=5", "HOROVOD_SIZE=8"})["launch_rank"], "known 5 8 -1");
    EXPECT_EQ(who({"PMI_RANK=1", "PMI_SIZE=2", "RANK=5"})["launch_rank"], "known 1 2 -1") << "anybody may have a RANK";
}

TEST(rank, of_a_job_without_mpi_is_what_nccl_was_told_where_the_launcher_knows_fewer_processes) {
    const auto world = [](const Texts& environment) { return who(environment)["nccl_world"]; };

    EXPECT_EQ(world({}), "2 4");
    EXPECT_EQ(world({"MASTER_ADDR=n1", "RANK=5", "WORLD_SIZE=8"}), "5 8");
    EXPECT_EQ(world({"SLURM_PROCID=0", "SLURM_NTASKS=1"}), "2 4") << "the batch script's own";
}

TEST(rank, a_launchers_word_that_is_no_number_is_none) {
    EXPECT_EQ(who({"PMI_RANK=three", "SLURM_PROCID=3"})["launch_rank"], "known 3 1 -1");
}

// ---- node and process ----

TEST(process, is_described) {
    auto found = who({}, {"in.lj"});

    EXPECT_EQ(found["executable"], PRINT_WHO);
    EXPECT_EQ(found["command"], PRINT_WHO " in.lj");
    EXPECT_EQ(found["parent"], std::to_string(getpid()));
    char here[4096];
    EXPECT_EQ(found["directory"], getcwd(here, sizeof here));
    const double age = static_cast<double>(time(nullptr)) - std::stod(found["process_start_ns"]) * 1e-9;
    EXPECT_GT(age, -2);
    EXPECT_LT(age, 10);
}

TEST(process, two_slurm_nodes_on_one_machine_are_two_nodes) {
    auto a = who({"SLURM_JOB_ID=1", "SLURMD_NODENAME=n1"});
    auto b = who({"SLURM_JOB_ID=1", "SLURMD_NODENAME=n2"});

    EXPECT_EQ(a["host"], "n1");
    EXPECT_NE(a["node"], b["node"]);
}

TEST(process, secrets_in_the_command_line_are_masked) {
    const auto command = [](const Texts& arguments) { return who({}, arguments)["command"].substr(sizeof PRINT_WHO); };

    EXPECT_EQ(command({"--api-key=abc123", "-n", "4"}), "--api-key=*** -n 4");
    EXPECT_EQ(command({"--token", "abc123", "-n", "4"}), "--token *** -n 4");
    EXPECT_EQ(command({"--Password=x=y"}), "--Password=***");
    EXPECT_EQ(command({"HF_TOKEN=abc123"}), "HF_TOKEN=***");
    EXPECT_EQ(command({"--wandb_api_key", "abc123"}), "--wandb_api_key ***");
    EXPECT_EQ(command({"--client-secret="}), "--client-secret=***");
    EXPECT_EQ(command({"--no-token", "--steps", "10"}), "--no-token --steps 10");
    EXPECT_EQ(command({"--steps=10", "in.lj"}), "--steps=10 in.lj");
}

TEST(process, a_command_line_of_any_length_fits) {
    const Texts arguments(1000, std::string(50, 'x'));

    EXPECT_EQ(who({}, arguments)["command"].size(), 1023u);
}

}  // namespace
}  // namespace mpiprof
