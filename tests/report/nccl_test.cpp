// NCCL in the report: bus bandwidths, jobs without MPI, communicators whose members are GPUs of one process.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/bus_bandwidth.h"
#include "report/layouts/layout.h"
#include "report/layouts/mpitrace.h"
#include "report/sections/section.h"
#include "tests/report/shown.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::BusFactors;
using report::Job;
using report::Question;

std::string show(const Job& job, const std::string& section, const char* view = "text", const Question& question = {},
                 unsigned width = 160) {
    return shown(job, section, question, view, {.width = width, .has_utf8 = true});
}

std::uint16_t number_of(const Job& job, std::string_view name) {
    for (std::size_t i = 0; i < job.calls.size(); ++i)
        if (job.calls[i].name == name) return static_cast<std::uint16_t>(i);
    ADD_FAILURE() << "no " << name;
    return 0;
}

// One rank of a job of `size`, whose calls were all made on communicators of these sizes.
ProfileSpec rank_with(std::vector<CallSpec> calls, std::vector<std::uint32_t> sizes) {
    ProfileSpec spec;
    spec.size = 8;
    spec.communicators.clear();
    for (const std::uint32_t size : sizes)
        spec.communicators.push_back({.name = "c", .id = 100 + size, .size = size, .how = format::origin_made});
    spec.calls = std::move(calls);
    return spec;
}

TEST(bus_bandwidth, factors_are_those_of_nccl_tests) {
    const std::vector<CellSpec> cell{{.calls = 10, .bytes = 80'000, .time_ns = 1'000'000}};
    const Job job = job_of({rank_with(
        {collective("MPI_Allreduce", cell), collective("MPI_Bcast_c", cell), collective("MPI_Allgather", cell),
         collective("MPI_Reduce_scatter_block", cell), collective("MPI_Alltoallw", cell),
         collective("ncclAllGather", cell), collective("ncclAllReduceConfig", cell)},
        {4})});
    const BusFactors factors(job, false);
    const auto factor = [&](std::string_view name) { return factors.of(number_of(job, name), std::nullopt); };

    EXPECT_DOUBLE_EQ(factor("MPI_Allreduce").value(), 1.5);
    EXPECT_DOUBLE_EQ(factor("MPI_Bcast_c").value(), 1);
    EXPECT_DOUBLE_EQ(factor("MPI_Allgather").value(), 3) << "its size is one block";
    EXPECT_DOUBLE_EQ(factor("MPI_Reduce_scatter_block").value(), 0.75);
    EXPECT_FALSE(factor("MPI_Alltoallw")) << "nccl-tests has no such thing";
    EXPECT_DOUBLE_EQ(factor("ncclAllGather").value(), 0.75) << "its size is all blocks";
    EXPECT_DOUBLE_EQ(factor("ncclAllReduceConfig").value(), 1.5);
}

TEST(bus_bandwidth, of_communicators_of_several_sizes_is_their_mean_by_bytes) {
    const Job job = job_of(
        {rank_with({collective("MPI_Allreduce", {{.calls = 1, .bytes = 3000, .time_ns = 10, .communicator = 1},
                                                 {.calls = 1, .bytes = 3000, .time_ns = 10, .communicator = 2}})},
                   {2, 4})});
    const std::uint16_t call = number_of(job, "MPI_Allreduce");

    EXPECT_DOUBLE_EQ(BusFactors(job, false).of(call, std::nullopt).value(), (1 + 1.5) / 2);
    EXPECT_FALSE(BusFactors(job, true).of(call, std::nullopt)) << "of some ranks the shares are not known";
}

TEST(bus_bandwidth, where_a_size_is_not_known_there_is_none) {
    const Job job = job_of({rank_with(
        {collective("MPI_Allreduce", {{.calls = 1, .bytes = 3000, .time_ns = 10, .communicator = 0}})}, {2})});

    EXPECT_FALSE(BusFactors(job, false).of(number_of(job, "MPI_Allreduce"), std::nullopt));
}

TEST(nccl, host_time_is_no_bandwidth) {
    const std::string text =
        show(job_of(nccl_beside_mpi()), "calls", "csv", {.ranks = {}, .sort = {}, .by = "call", .top = {}});
    const auto row = [&](std::string_view call) {
        const auto at = text.find("\n" + std::string(call) + ",");
        return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    };

    // algbw, busbw, bus factor; on 2 ranks that is 1 for an Allreduce.
    EXPECT_TRUE(says(row("ncclAllReduce"), ",60000,,,1,")) << row("ncclAllReduce");
    EXPECT_TRUE(says(row("MPI_Allreduce"), ",2000000,1165084444,1165084444,1,")) << row("MPI_Allreduce");
    EXPECT_TRUE(says(show(job_of(nccl_beside_mpi()), "calls"), "TIME is host time"));
}

TEST(nccl, a_job_without_mpi_does_not_speak_of_mpi) {
    const Job job = job_of(gpu_training());

    for (const char* section : {"summary", "calls", "ranks", "regions", "nccl", "hang", "comms"}) {
        std::string text = show(job, section);
        for (std::size_t at; (at = text.find("MPIPROF_")) != text.npos;) text.erase(at, 8);  // names of settings
        EXPECT_FALSE(says(text, "MPI")) << section << ":\n" << text;
    }
    EXPECT_TRUE(says(show(job, "summary"), "profile complete: 4 of 4 ranks"));
    EXPECT_FALSE(says(show(job, "summary", "text", detailed()), "EFFICIENCY"))
        << "what the host does outside is not the GPU's work";
}

TEST(nccl, a_killed_process_is_not_complete_without_mpi_either) {
    auto ranks = gpu_training();
    ranks[2].state = format::State::running;
    const std::string text = show(job_of(ranks), "summary");

    EXPECT_TRUE(says(text, "1 did not reach exit")) << text;
    EXPECT_TRUE(says(text, "Rank 2: killed")) << text;
}

TEST(nccl, every_communicator_has_its_members_and_bytes) {
    const std::string text = show(job_of(gpu_training()), "nccl", "csv");

    EXPECT_TRUE(says(text, "default_pg,4,4,100,200,")) << text;
    EXPECT_TRUE(says(text, "tensor,2,2,400,0,")) << text;
    EXPECT_TRUE(says(text, "ncclGroupEnd,50,200,4,")) << text;
}

TEST(nccl, a_job_of_mpi_alone_has_none_and_its_words_are_untouched) {
    const Job job = job_of(uneven_work());

    EXPECT_TRUE(says(show(job, "nccl"), "no NCCL calls"));
    EXPECT_TRUE(says(show(job, "summary"), "inside MPI"));
    EXPECT_FALSE(says(show(job, "summary"), "NCCL"));
}

TEST(nccl, gpus_of_one_process_are_members_of_their_own) {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = 2;
        spec.communicators.clear();
        for (std::uint32_t gpu = 0; gpu < 2; ++gpu)
            spec.communicators.push_back({.name = "all",
                                          .id = 77,
                                          .size = 4,
                                          .rank = 2 * rank + gpu,
                                          .how = format::origin_made,
                                          .handle = 100 + gpu});
        CallSpec reduce = collective("ncclAllReduce", {{.calls = 5, .bytes = 50, .time_ns = 500, .communicator = 1},
                                                       {.calls = 5, .bytes = 50, .time_ns = 500, .communicator = 2}});
        reduce.family = format::Family::nccl;
        spec.calls = {reduce};
        ranks.push_back(spec);
    }
    const Job job = job_of(ranks);

    ASSERT_EQ(job.comms.size(), 1u);
    EXPECT_EQ(job.comms[0].members, 2u);
    EXPECT_EQ(job.comms[0].seats, 4u);
    EXPECT_FALSE(says(show(job, "comms"), "DIFFER"));
}

TEST(nccl, a_rank_that_did_not_enqueue_is_named_although_nobody_is_inside_a_call) {
    auto ranks = gpu_training();
    for (ProfileSpec& rank : ranks) {
        rank.state = format::State::running;
        rank.threads[0].last_call = "ncclAllReduce";
        rank.threads[0].in_call_for_ns = 600'000'000'000;
        rank.elapsed_ns = 700'000'000'000;
    }
    ranks[3].calls[0].cells[0].calls = 99;
    const std::string text = show(job_of(ranks), "hang");

    EXPECT_TRUE(
        says(text, "Ranks 0-2 have enqueued ncclAllReduce 100 times on default_pg, rank 3 99: their GPUs wait for it"))
        << text;
}

TEST(nccl, mpitrace_text_has_a_block_of_nccl_behind_that_of_mpi) {
    Job job = job_of(nccl_beside_mpi());
    job.kept_cells[0] = {
        {.call = number_of(job, "MPI_Allreduce"), .bin = 19, .calls = 1000, .bytes = 1000, .time_ns = 900'000'000},
        {.call = number_of(job, "ncclAllReduce"),
         .bin = 23,
         .calls = 500,
         .bytes = 5000,
         .time_ns = 10'000'000,
         .gpu_ns = 1'500'000'000}};
    const report::Listing listing(job, *report::find_layout("mpitrace"));
    const std::string text = listing.text(0, report::JobPart::never).value();

    EXPECT_TRUE(says(text, "NCCL Routine                       #calls     avg. bytes      host(sec)       gpu(sec)\n"))
        << text;
    EXPECT_TRUE(says(text, "ncclAllReduce                         500           10.0          0.010          1.500\n"))
        << text;
    EXPECT_TRUE(says(text, "total NCCL time on the GPU  = 1.500 seconds.")) << text;
    EXPECT_TRUE(says(text, "total communication time = 1.000 seconds.")) << "of MPI alone\n" << text;
}

// Two ranks whose NCCL is linked statically: it alone tells of its operations.
std::vector<ProfileSpec> static_nccl() {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = 2;
        spec.communicators = {{.name = "", .id = 77, .size = 2, .rank = rank, .how = format::origin_unknown}};
        CallSpec reduce = collective("ncclAllReduce", {{.calls = 30, .bytes = 30'000, .is_untimed = true}});
        reduce.family = format::Family::nccl;
        spec.calls = {collective("MPI_Allreduce", {{.calls = 10, .bytes = 80, .time_ns = 50'000}}), reduce};
        spec.nccl_operations = {{.call = "ncclAllReduce",
                                 .operations = 20,
                                 .bytes = 20'000,
                                 .algorithm = "RING",
                                 .protocol = "LL",
                                 .channels = 2,
                                 .flags = format::not_called_through_us},
                                {.call = "ncclAllReduce",
                                 .operations = 10,
                                 .bytes = 10'000,
                                 .algorithm = "TREE",
                                 .protocol = "LL128",
                                 .channels = 8,
                                 .flags = format::not_called_through_us}};
        ranks.push_back(spec);
    }
    return ranks;
}

TEST(nccl, what_nccl_chose_is_added_up_over_ranks) {
    const Job job = job_of(static_nccl());
    const std::string text = show(job, "nccl", "csv");

    EXPECT_TRUE(says(text, "ncclAllReduce,1024,1000,2,RING,LL,2,,20,20000,0.6666666667,40,40000,40")) << text;
    EXPECT_TRUE(says(text, "ncclAllReduce,1024,1000,2,TREE,LL128,8,,10,10000,0.3333333333,20,20000,20")) << text;
    EXPECT_TRUE(says(show(job, "nccl"), "WHAT NCCL CHOSE"));
    EXPECT_TRUE(says(show(job, "nccl"), "linked statically"));
    const std::string narrow = show(job, "nccl", "text", {}, 80);
    EXPECT_TRUE(says(narrow, "ncclAllReduce    1000 B          2  TREE       LL128            8  33.3%") &&
                !says(narrow, "…"))
        << narrow;
}

TEST(nccl, calls_that_only_nccl_told_of_have_no_time) {
    const Job job = job_of(static_nccl());
    const std::string calls = show(job, "calls", "csv", {.ranks = {}, .sort = {}, .by = "call", .top = {}});
    const auto at = calls.find("\nncclAllReduce,");
    const std::string line = calls.substr(at + 1, calls.find('\n', at + 1) - at - 1);

    // size, buffer, traffic, calls; then no time, shares, time of a call, smallest, percentiles, largest, bandwidths
    EXPECT_TRUE(says(line, "ncclAllReduce,,1000,,collective,30,,,,,,,,,,,,")) << line;
    EXPECT_FALSE(says(line, "nan")) << line;
    for (const char* section : {"summary", "calls", "comms", "nccl"}) {
        const std::string text = show(job, section);
        EXPECT_FALSE(says(text, "nan") || says(text, "inf ")) << text;
    }
    const auto shown = show(job, "comms", "csv", {.ranks = {}, .sort = {}, .by = "call", .top = {}});
    EXPECT_TRUE(says(shown, ",ncclAllReduce,1024,1000,30,,,,")) << shown;
}

TEST(nccl, shares_are_at_least_where_kernels_communicate_by_themselves) {
    auto ranks = gpu_training();
    EXPECT_FALSE(says(show(job_of(ranks), "summary"), "at least"));
    for (ProfileSpec& rank : ranks) rank.facts.push_back({format::FactKind::process, "moves_unseen", "DeepEP"});

    const std::string text = show(job_of(ranks), "summary");

    EXPECT_TRUE(says(text, fmt::format("DeepEP is loaded or used on {} ranks", ranks.size()))) << text;
    EXPECT_TRUE(says(text, "of the run is inside NCCL") && says(text, "at least ")) << text;
    EXPECT_FALSE(says(text, "No bottleneck:")) << text;
    CallSpec create = setup("ncclDevCommCreate", {{.calls = 1, .time_ns = 10}});
    create.family = format::Family::nccl;
    ranks = gpu_training();
    ranks[0].calls.push_back(create);
    EXPECT_TRUE(says(show(job_of(ranks), "summary"), "NCCL's device API is loaded or used on 1 rank"));
}

TEST(nccl, calls_that_were_fetched_are_said_to_pass_by) {
    auto ranks = gpu_training();
    EXPECT_FALSE(says(show(job_of(ranks), "summary"), "libmpiprof-dlsym.so"));
    ranks[1].facts.push_back({format::FactKind::process, "nccl_by_dlsym", "yes"});

    const std::string text = show(job_of(ranks), "summary");

    EXPECT_TRUE(says(text, "on 1 rank the program fetched NCCL's functions by dlsym")) << text;
    EXPECT_TRUE(says(text, "libmpiprof-dlsym.so")) << text;
}

TEST(nccl, a_users_own_plugin_is_why_no_algorithm_is_known) {
    auto ranks = gpu_training();
    EXPECT_FALSE(says(show(job_of(ranks), "nccl"), "another plugin"));
    for (ProfileSpec& rank : ranks)
        rank.facts.push_back({format::FactKind::environment, "NCCL_PROFILER_PLUGIN", "/opt/nccl/libinspector.so"});

    EXPECT_TRUE(says(show(job_of(ranks), "nccl"), "names another plugin"));
}

TEST(nccl, operations_of_a_damaged_file_are_shown_as_what_can_be) {
    auto ranks = static_nccl();
    ranks[0].nccl_operations[0].communicator = 999;
    ranks[0].nccl_operations[0].algorithm = "R\x1b[31m";
    const std::string text = show(job_of(ranks), "nccl", "csv");

    EXPECT_TRUE(says(text, "ncclAllReduce,1024,1000,,R?[31m,LL,2,")) << text;
}

}  // namespace
}  // namespace mpiprof::test
