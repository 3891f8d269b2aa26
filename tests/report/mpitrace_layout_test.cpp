// The mpitrace layouts: profiles in, the text that mpitrace users know out.
#include <gtest/gtest.h>

#include "report/layouts/layout.h"
#include "tests/report/seed003_profiles.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Job;
using report::JobPart;

std::string listing(const Job& job, std::uint32_t rank, const char* layout = "mpitrace",
                    JobPart part = JobPart::with_rank_0) {
    const auto text = report::Listing(job, *report::find_layout(layout)).text(rank, part);
    return text ? *text : "problem: " + text.error().line();
}

bool contains(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
    return n;
}

TEST(mpitrace_layout, cpu_listing_of_seed_003_comes_out_identical) {
    const Job job = job_of(seed003_cpu());

    EXPECT_EQ(listing(job, 0), read_file(golden("seed003_cpu.txt")));
}

TEST(mpitrace_layout, gpu_listing_of_seed_003_comes_out_identical) {
    const Job job = job_of(seed003_gpu());

    EXPECT_EQ(listing(job, 0), read_file(golden("seed003_gpu.txt")));
}

TEST(mpitrace_layout, listing_is_the_same_from_a_tick_counter_and_with_cells_of_many_sites_and_threads) {
    auto specs = seed003_cpu();
    for (ProfileSpec& spec : specs) {
        spec.clock = format::ClockKind::tsc;
        spec.ticks_per_us = 2495;
        for (CallSpec& call : spec.calls) {
            if (call.cells.empty() || call.cells[0].calls < 2) continue;
            CellSpec& first = call.cells[0];
            CellSpec part = first;
            part.calls = 1;
            part.bytes = first.bytes / first.calls;
            part.time_ns = first.time_ns / first.calls;
            part.thread = 2;
            part.communicator = 0;
            first.calls -= part.calls;
            first.bytes -= part.bytes;
            first.time_ns -= part.time_ns;
            call.cells.push_back(part);
        }
    }

    const Job job = job_of(specs);

    EXPECT_EQ(listing(job, 0), read_file(golden("seed003_cpu.txt")));
}

TEST(mpitrace_layout, newest_layout_says_mib_and_cpu_and_gathers_the_job_at_the_end) {
    const Job job = job_of(seed003_cpu());

    EXPECT_EQ(listing(job, 0, "mpitrace-2025"), read_file(golden("seed003_cpu_2025.txt")));
}

TEST(mpitrace_layout, only_the_text_of_rank_0_has_the_table_of_all_ranks) {
    const Job job = job_of(seed003_cpu());

    const std::string text = listing(job, 3);

    EXPECT_TRUE(contains(text, "Data for MPI rank 3 of 16:\n"));
    EXPECT_TRUE(contains(text, "MPI task 3 of 16 had the maximum communication time.\n"));
    EXPECT_TRUE(contains(text, "Rank 7 reported the largest elapsed time : 15.55 sec\n"));
    EXPECT_FALSE(contains(text, "taskid"));
    EXPECT_TRUE(contains(listing(job, 3, "mpitrace", JobPart::always), "taskid"));
}

TEST(mpitrace_layout, without_the_job_part_nothing_depends_on_other_ranks) {
    const Job all = job_of(seed003_cpu());
    const Job alone = job_of({seed003_cpu()[0]});

    for (const char* layout : {"mpitrace", "mpitrace-2025"})
        EXPECT_EQ(listing(all, 0, layout, JobPart::never), listing(alone, 0, layout, JobPart::never));
    EXPECT_FALSE(contains(listing(all, 0, "mpitrace", JobPart::never), "reported the largest"));
    EXPECT_FALSE(contains(listing(all, 0, "mpitrace", JobPart::never), "MPI task"));
}

TEST(mpitrace_layout, routines_are_in_mpitraces_order_and_those_it_does_not_know_follow) {
    ProfileSpec spec;
    const std::vector<CellSpec> once{{.calls = 1, .bytes = 8, .time_ns = 1000}};
    spec.calls = {file_access("MPI_File_iread_all", once),
                  file_access("MPI_File_write", once),
                  file_access("MPI_File_close", once),
                  collective("MPI_Allreduce_init", once),
                  counted("MPI_Type_size", 3),
                  sends("MPI_Send", once),
                  completion("MPI_Waitall", once),
                  sync("MPI_Comm_split", once),
                  counted("MPI_Comm_rank", 1)};

    const std::string text = listing(job_of({spec}), 0);

    std::size_t last = 0;
    for (const char* name : {"MPI_Comm_rank", "MPI_Send", "MPI_Waitall", "MPI_Allreduce_init", "MPI_Comm_split",
                             "MPI_Type_size", "MPI_File_close", "MPI_File_write", "MPI_File_iread_all"}) {
        const auto at = text.find(std::string("\n") + name + " ");
        ASSERT_NE(at, std::string::npos) << name;
        EXPECT_GT(at, last) << name;
        last = at;
    }
}

TEST(mpitrace_layout, file_time_is_told_apart_from_communication) {
    ProfileSpec reads;
    reads.size = 2;
    reads.calls = {sends("MPI_Send", {{.calls = 2, .bytes = 16, .time_ns = 3'000'000'000}}),
                   file_access("MPI_File_read", {{.calls = 4, .bytes = 4096, .time_ns = 2'500'000'000}})};
    ProfileSpec idle = reads;
    idle.rank = 1;
    idle.calls = {sends("MPI_Send", {{.calls = 2, .bytes = 16, .time_ns = 1'000'000'000}})};
    const Job job = job_of({reads, idle});

    EXPECT_TRUE(contains(listing(job, 0), "total communication time = 3.000 seconds.\n"));
    EXPECT_TRUE(contains(listing(job, 0), "MBytes.\n\ntotal MPI-IO time = 2.500 seconds.\n\nRank"));
    EXPECT_TRUE(contains(listing(job, 0),
                         "  minimum MPI-IO time = 0.000 seconds\n"
                         "  average MPI-IO time = 1.250 seconds\n"
                         "  maximum MPI-IO time = 2.500 seconds\n"));
    EXPECT_FALSE(contains(listing(job, 1), "MPI-IO"));
}

TEST(mpitrace_layout, host_column_grows_with_the_longest_name_without_its_domain) {
    ProfileSpec one;
    one.size = 2;
    one.host = "login-node-with-a-long-name.cluster.example.org";
    ProfileSpec two = one;
    two.rank = 1;
    two.host = "nid00102";
    const Job job = job_of({one, two});

    EXPECT_TRUE(contains(listing(job, 0), "taskid                    hostname     comm(s)"));
    EXPECT_TRUE(contains(listing(job, 0), "     0 login-node-with-a-long-name       0.00"));
    EXPECT_TRUE(contains(listing(job, 0), "     1                    nid00102       0.00"));
    EXPECT_TRUE(contains(listing(job, 0, "mpitrace-2025"), "     0   login-node-with-a-long-name     -1       0.00"));
    EXPECT_FALSE(contains(listing(job, 0), "example.org"));
}

TEST(mpitrace_layout, a_job_of_one_is_minimum_maximum_and_median) {
    EXPECT_EQ(count(listing(job_of({ProfileSpec{}}), 0), "MPI task 0 of 1 had the "), 3u);
}

TEST(mpitrace_layout, above_32_ranks_there_is_a_histogram_of_communication_times) {
    std::vector<ProfileSpec> specs;
    for (std::uint32_t rank = 0; rank < 33; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = 33;
        const std::uint64_t time_ns = rank < 30 ? 1'000'000'000 : 2'400'000'000;
        spec.calls = {sync("MPI_Barrier", {{.calls = 1, .time_ns = time_ns}})};
        specs.push_back(spec);
    }

    const std::string text = listing(job_of(specs), 0);

    EXPECT_TRUE(contains(text,
                         "\n\nHistogram of times spent in MPI\n    time-bin    #ranks\n"
                         "       1.000        30\n       1.100         0\n"));
    EXPECT_TRUE(contains(text, "       2.400         3\n\n\nMPI timing summary"));
    specs.pop_back();
    for (ProfileSpec& spec : specs) spec.size = 32;
    EXPECT_FALSE(contains(listing(job_of(specs), 0), "Histogram"));
}

TEST(mpitrace_layout, calls_that_only_failed_are_no_row) {
    ProfileSpec spec;
    spec.calls = {sends("MPI_Send", {{.calls = 0, .errors = 3}}), sends("MPI_Ssend", {{.calls = 1, .bytes = 8}})};

    const std::string text = listing(job_of({spec}), 0);

    EXPECT_FALSE(contains(text, "MPI_Send "));
    EXPECT_TRUE(contains(text, "MPI_Ssend "));
}

TEST(mpitrace_layout, paused_recording_is_said_as_mpitrace_says_it) {
    ProfileSpec spec;
    spec.elapsed_ns = 10'000'000'000;
    spec.paused_ns = 4'000'000'000;

    const std::string text = listing(job_of({spec}), 0);

    EXPECT_TRUE(contains(text, "Times and statistics from MPI_Pcontrol(1) to MPI_Pcontrol(0).\n"));
    EXPECT_TRUE(
        contains(text, "total elapsed time       = 10.000 seconds.\nexclusive elapsed time   = 6.000 seconds.\n"));
}

TEST(mpitrace_layout, missing_rank_is_said_below_and_the_rest_is_shown) {
    auto specs = seed003_cpu();
    specs.erase(specs.begin() + 3);

    const std::string text = listing(job_of(specs), 0);

    EXPECT_TRUE(contains(text, "mpiprof: the profiles of 15 of 16 ranks were read"));
    EXPECT_TRUE(contains(text, "     4     thetagpu24      11.84"));
}

TEST(mpitrace_layout, table_is_in_the_text_of_the_lowest_rank_there_is) {
    auto specs = seed003_cpu();
    specs.erase(specs.begin());

    EXPECT_TRUE(contains(listing(job_of(specs), 1), "taskid"));
}

TEST(mpitrace_layout, a_rank_without_a_profile_is_a_problem_with_its_number) {
    const Job job = job_of({seed003_cpu()[0]});

    const std::string text = listing(job, 7);

    EXPECT_TRUE(contains(text, "rank 7")) << text;
    EXPECT_TRUE(contains(text, "1 of 16")) << text;
}

TEST(mpitrace_layout, nccl_calls_are_no_mpi_routines) {
    ProfileSpec spec;
    spec.calls = {collective("ncclAllReduce", {{.calls = 4, .bytes = 64, .time_ns = 500'000'000}})};
    spec.calls[0].family = format::Family::nccl;
    const std::string text = listing(job_of({spec}), 0);

    EXPECT_FALSE(contains(text.substr(0, text.find("NCCL")), "nccl"));
    EXPECT_TRUE(contains(text, "total communication time = 0.000 seconds.")) << text;
    EXPECT_TRUE(contains(text, "total NCCL time on the host = 0.500 seconds.")) << text;
}

TEST(mpitrace_layout, a_message_of_3_gib_has_its_size) {
    ProfileSpec spec;
    spec.calls = {sends("MPI_Send", {{.calls = 1, .bytes = std::uint64_t{3} << 30, .time_ns = 1'500'000'000}})};

    EXPECT_TRUE(contains(listing(job_of({spec}), 0),
                         "MPI_Send                                1    3221225472.0          1.500\n"));
}

}  // namespace
}  // namespace mpiprof::test
