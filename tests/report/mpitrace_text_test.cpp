// Reading genuine mpitrace text: old runs become Profiles, rounded to ms, and come out again as they went in.
#include "report/read/mpitrace_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <sstream>

#include "libmpiprof/format/mpitrace_layout.h"
#include "report/layouts/layout.h"
#include "tests/report/mpitrace_texts.h"
#include "tests/report/seed003_profiles.h"
#include "tests/report/shown.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

TEST(mpitrace_text, both_listings_of_seed_003_are_read_and_come_out_identical) {
    for (const char* name : {"seed003_cpu.txt", "seed003_gpu.txt"}) {
        const std::string text = read_file(golden(name));

        EXPECT_EQ(read_and_render(text), text);
    }
}

TEST(mpitrace_text, newest_layout_is_read_and_comes_out_identical) {
    const std::string text = read_file(golden("seed003_cpu_2025.txt"));

    EXPECT_EQ(read_and_render(text, "mpitrace-2025"), text);
}

TEST(mpitrace_text, processors_of_the_newest_layout_are_kept) {
    std::string text = read_file(golden("seed003_cpu_2025.txt"));
    for (std::size_t at = text.find("     -1 "); at != std::string::npos; at = text.find("     -1 ", at))
        text.replace(at, 8, "     17 ");

    EXPECT_EQ(parse(text).rank_table.at(3).cpu, 17);
    EXPECT_EQ(read_and_render(text, "mpitrace-2025"), text);
}

TEST(mpitrace_text, seed_003_has_the_numbers_that_it_shows) {
    const Profile profile = parse(read_file(golden("seed003_cpu.txt")));

    EXPECT_TRUE(profile.is_text);
    EXPECT_EQ(profile.rank, 0u);
    EXPECT_EQ(profile.size, 16u);
    EXPECT_EQ(profile.host, "thetagpu24");
    EXPECT_NEAR(static_cast<double>(profile.elapsed_ns), 15.548e9, 0.5e6);
    EXPECT_NEAR(static_cast<double>(profile.usage.user_ns), 131.483e9, 0.5e6);
    EXPECT_EQ(profile.usage.max_resident_bytes, 1655u << 20);
    EXPECT_EQ(profile.usage.switches(), 171601u);
    const auto sums = sums_of(profile);
    EXPECT_EQ(sums.at({"MPI_Allreduce", 2}).calls, 7428u);
    EXPECT_EQ(sums.at({"MPI_Allreduce", 2}).bytes, 7428u * 8);
    EXPECT_NEAR(static_cast<double>(sums.at({"MPI_Allreduce", 2}).time_ns), 5.696e9, 0.5e6);
    EXPECT_EQ(sums.at({"MPI_Gatherv", 0}).calls, 49u);
    ASSERT_EQ(profile.rank_table.size(), 16u);
    EXPECT_EQ(profile.rank_table[3].usage.switches(), 170879u);
    std::uint64_t total = 0;
    for (const auto& [key, sum] : sums) total += sum.time_ns;
    EXPECT_NEAR(static_cast<double>(total), 10.602e9, 0.5e6);
}

TEST(mpitrace_text, what_the_layout_writes_is_read_back_to_the_millisecond) {
    std::mt19937_64 random(42);
    for (int round = 0; round < 20; ++round) {
        ProfileSpec spec;
        spec.elapsed_ns = random() % 100'000'000'000;
        spec.calls = {counted("MPI_Comm_rank", 1 + random() % 1000)};
        for (const char* name : {"MPI_Send", "MPI_Irecv", "MPI_Allreduce", "MPI_Alltoallv", "MPI_File_read"}) {
            const bool is_file = std::string_view(name).starts_with("MPI_File_");
            CallSpec call = is_file ? file_access(name, {}) : collective(name, {});
            for (std::uint64_t bin = 1; bin < 30; bin += 1 + random() % 6) {
                CellSpec cell{.calls = 1 + random() % 5000, .time_ns = random() % 3'000'000'000};
                cell.bytes = cell.calls * ((std::uint64_t{2} << bin) - random() % (std::uint64_t{1} << bin) / 2);
                call.cells.push_back(cell);
            }
            spec.calls.push_back(call);
        }
        const Job job = job_of({spec});

        for (const char* layout : {"mpitrace", "mpitrace-2025"}) {
            const std::string text = render(job, 0, layout);
            const Profile profile = parse(text);

            const auto sums = sums_of(profile);
            std::size_t bins = 0;
            for (const auto& sum : job.cells(0)) {
                const std::string& name = job.calls[sum.call].name;
                const auto found = sums.find({name, sum.bin});
                ASSERT_NE(found, sums.end()) << name << " bin " << int{sum.bin} << "\n" << text;
                EXPECT_EQ(found->second.calls, sum.calls);
                EXPECT_NEAR(static_cast<double>(found->second.time_ns), static_cast<double>(sum.time_ns), 1e6);
                EXPECT_NEAR(static_cast<double>(found->second.bytes) / static_cast<double>(sum.calls),
                            static_cast<double>(sum.bytes) / static_cast<double>(sum.calls), 0.1);
                ++bins;
            }
            EXPECT_EQ(bins, sums.size());
            EXPECT_NEAR(static_cast<double>(profile.elapsed_ns), static_cast<double>(spec.elapsed_ns), 1e6);
            EXPECT_EQ(read_and_render(text, layout), text);
        }
    }
}

// Ranks whose times agree in all printed digits still come out in the order that the text claims.
TEST(mpitrace_text, minimum_median_and_maximum_are_the_ranks_that_the_text_names) {
    std::string text = read_file(golden("seed003_gpu.txt"));
    const std::size_t table = text.find("     0     thetagpu19");
    text.resize(table);
    for (int rank = 0; rank < 8; ++rank)
        text += "     " + std::to_string(rank) +
                "     thetagpu19       5.52       17.73       14.67        2.89     4230.73       61734\n";
    const auto claim = [&](const std::string& from, const std::string& to) {
        text.replace(text.find(from), from.size(), to);
    };
    claim("3.601 sec for task 2", "5.519 sec for task 6");
    claim("5.462 sec for task 6", "5.519 sec for task 5");
    claim("8.355 sec for task 7", "5.519 sec for task 4");
    claim("17.84 sec", "17.73 sec");

    EXPECT_EQ(read_and_render(text), text);
}

TEST(mpitrace_text, layout_of_2013_is_read) {
    const Profile profile = parse(
        "Data for MPI rank 1 of 4:\n"
        "Times and statistics from MPI_Init() to MPI_Finalize().\n"
        "-----------------------------------------------------------------\n"
        "MPI Routine                  #calls     avg. bytes      time(sec)\n"
        "-----------------------------------------------------------------\n"
        "MPI_Send                        144         7448.0          0.002\n"
        "MPI_Allreduce                     2           12.0          0.520\n"
        "-----------------------------------------------------------------\n"
        "total communication time = 0.522 seconds.\n"
        "total elapsed time       = 1.397 seconds.\n"
        "user cpu time            = 1.137 seconds.\n"
        "system time              = 0.000 seconds.\n"
        "maximum memory size      = 1423168 KBytes.\n"
        "\n"
        "-----------------------------------------------------------------\n"
        "Message size distributions:\n"
        "\n"
        "MPI_Send                  #calls    avg. bytes      time(sec)\n"
        "                             144        7448.0          0.002\n"
        "\n"
        "MPI_Allreduce             #calls    avg. bytes      time(sec)\n"
        "                               1           8.0          0.020\n"
        "                               1          16.0          0.500\n"
        "\n"
        "-----------------------------------------------------------------\n"
        "\n"
        "Communication summary for all tasks:\n"
        "\n"
        "MPI tasks sorted by communication time:\n"
        "taskid      comm(s)  elapsed(s)     user(s)     size(KB)   switches\n"
        "     3        0.11        1.40        0.70       478620           3\n"
        "     1        0.52        1.40        1.14      1423168          10\n",
        "runs/mpi_profile.1");

    EXPECT_EQ(profile.rank, 1u);
    EXPECT_EQ(profile.usage.max_resident_bytes, std::uint64_t{1423168} * 1024);
    EXPECT_EQ(sums_of(profile).at({"MPI_Allreduce", 3}).bytes, 16u);
    ASSERT_EQ(profile.rank_table.size(), 2u);
    EXPECT_EQ(profile.rank_table[0].rank, 1u);
    EXPECT_EQ(profile.rank_table[1].usage.max_resident_bytes, std::uint64_t{478620} * 1024);
}

TEST(mpitrace_text, parts_printed_on_request_are_not_counted_twice) {
    std::string text = read_file(golden("seed003_gpu.txt"));
    const std::string extra =
        "Summary for on-node communication\n"
        "-----------------------------------------------------------------\n"
        "MPI_Bcast                               7          272.9          0.001\n"
        "-----------------------------------------------------------------\n"
        "On-node message size distributions:\n\n"
        "MPI_Bcast                 #calls    avg. bytes      time(sec)\n"
        "                               7           4.0          0.000\n\n"
        "   -----------------------------------------------------------------\n"
        "   Profile data by communicator size:\n"
        "   MPI_Bcast                               7          272.9          0.001\n"
        "-----------------------------------------------------------------\n"
        "Profile by call stack, traceback level = 0, number of stacks = 3\n"
        "   MPI_Bcast                          7           0.001\n";
    const std::string before = "-----------------------------------------------------------------\n\nCommunication";
    std::string with_extra = text;
    with_extra.insert(text.find(before), extra);

    EXPECT_EQ(read_and_render(with_extra), text);
}

// A routine that took less than half a millisecond on one rank and more on another is the same routine.
TEST(mpitrace_text, each_rank_keeps_its_communication_time_whatever_the_others_show) {
    const auto text = [](const char* rank, const char* time) {
        return std::string("Data for MPI rank ") + rank + " of 2:\n" + "MPI_Win_free  1  0.0  " + time + "\n" +
               "total communication time = " + time + " seconds.\ntotal elapsed time = 1.000 seconds.\n";
    };
    const TemporaryDirectory directory;
    write_file(directory.path() / "mpi_profile.4711.0", text("0", "0.000"));
    write_file(directory.path() / "mpi_profile.4711.1", text("1", "0.002"));

    const Job job = job_of(directory.path());

    EXPECT_EQ(job.find(1)->mpi_ns, 2'000'000u);
}

TEST(mpitrace_text, where_a_rank_ran_comes_from_the_table_of_rank_0) {
    const std::string rank_0 = read_file(golden("seed003_cpu.txt"));
    std::string rank_1 = rank_0.substr(0, rank_0.find("Communication summary"));
    rank_1.replace(0, rank_1.find('\n'), "Data for MPI rank 1 of 16:");
    const TemporaryDirectory directory;
    write_file(directory.path() / "mpi_profile.4711.0", rank_0);
    write_file(directory.path() / "mpi_profile.4711.1", rank_1);

    const Job job = job_of(directory.path());

    EXPECT_EQ(job.hosts.at(job.find(1)->host), "thetagpu24");
    EXPECT_EQ(job.find(1)->usage.switches(), 171001u);
    EXPECT_EQ(job.nodes.size(), 1u);
}

TEST(mpitrace_text, job_and_launch_come_from_the_name_of_the_file) {
    const std::string text = read_file(golden("seed003_gpu.txt"));

    EXPECT_EQ(parse(text, "/runs/mpi_profile.4711.0").job, "4711");
    EXPECT_EQ(parse(text, "/runs/mpi_profile.4711.0").launch, "mpitrace 4711");
    EXPECT_EQ(parse(text, "mpi_profile.4711.0619120102.0").job, "4711");
    EXPECT_NE(parse(text, "mpi_profile.4711.0619120102.0").launch, parse(text, "mpi_profile.4711.0").launch);
    EXPECT_EQ(parse(text, "listing").job, "");
}

TEST(mpitrace_text, a_job_of_text_says_that_it_is_rounded) {
    const TemporaryDirectory directory;
    write_file(directory.path() / "mpi_profile.4711.0", read_file(golden("seed003_cpu.txt")));

    const Job job = job_of(directory.path());

    EXPECT_TRUE(job.is_text);
    EXPECT_EQ(job.ranks.size(), 16u);
    EXPECT_EQ(job.profiles(), 1u);
    EXPECT_EQ(job.job, "4711");
}

TEST(mpitrace_text, dos_line_ends_make_no_difference) {
    const std::string text = read_file(golden("seed003_cpu.txt"));
    std::string dos;
    for (const char c : text) dos += c == '\n' ? std::string("\r\n") : std::string(1, c);

    EXPECT_EQ(read_and_render(dos), text);
}

TEST(mpitrace_text, other_files_are_not_taken_for_mpitrace) {
    const std::string text = read_file(golden("seed003_cpu.txt"));
    const Bytes binary = build({});

    EXPECT_TRUE(report::looks_like_mpitrace(bytes_of(text)));
    EXPECT_FALSE(report::looks_like_mpitrace(binary));
    EXPECT_FALSE(report::looks_like_mpitrace({}));
    EXPECT_FALSE(report::looks_like_mpitrace(bytes_of("see Data for MPI rank 0 of 16:\n")));
    EXPECT_FALSE(report::read_mpitrace(bytes_of("Data for MPI rank x of y:\n"), "f").has_value());
    EXPECT_FALSE(report::read_mpitrace(bytes_of("Data for MPI rank 4 of 4:\n"), "f").has_value());
}

TEST(mpitrace_text, every_prefix_is_safe_and_a_cut_file_is_said) {
    const std::string text = read_file(golden("seed003_cpu.txt"));
    for (std::size_t length = 0; length < text.size(); ++length) {
        const std::string prefix = text.substr(0, length);
        const auto profile = report::read_mpitrace(bytes_of(prefix), "mpi_profile.1.0");
        if (length < std::string("Data for MPI rank 0 of 16").size()) continue;
        ASSERT_TRUE(profile.has_value()) << length;
        if (length < text.find("total elapsed time       = 1")) {
            EXPECT_FALSE(profile->notes.empty()) << length;
        }
    }
}

TEST(mpitrace_text, damaged_bytes_and_hostile_numbers_are_safe) {
    const std::string text = read_file(golden("seed003_cpu.txt"));
    std::mt19937 random(7);
    const std::string nasty = "0123456789.-e \n=:MPI\xff\0";
    for (int round = 0; round < 3000; ++round) {
        std::string damaged = text;
        for (unsigned i = 0; i <= random() % 20; ++i)
            damaged[random() % damaged.size()] = nasty[random() % nasty.size()];
        const auto profile = report::read_mpitrace(bytes_of(damaged), "mpi_profile.1.0");
        if (!profile) continue;
        for (const auto& cell : profile->cells) {
            EXPECT_LT(cell.call, profile->calls.size());
            EXPECT_LT(cell.bin, report::size_bins);
        }
    }
    std::string huge = text;
    for (std::size_t at = huge.find(".000"); at != std::string::npos; at = huge.find(".000", at))
        huge.replace(at, 4, "99999999999.9");
    const auto of_huge = report::read_mpitrace(bytes_of(huge), "mpi_profile.1.0");
    EXPECT_FALSE(of_huge.has_value()) << "a number of 18 digits is none that can be read";
}

TEST(mpitrace_text, kinds_of_traffic_are_those_of_the_recorder) {
    using enum format::Traffic;
    std::map<std::string, format::Traffic> recorded;
#define MPI(name, lower, arity, treatment, traffic, ...) recorded["MPI_" #name] = traffic;
#define MPI_C MPI
#define MPI_SPECIAL MPI
#define MPI_PASSED(name, reason)
#include "libmpiprof/mpi/calls.def"
#undef MPI
#undef MPI_C
#undef MPI_SPECIAL
#undef MPI_PASSED

    int checked = 0;
    for (const char* name = format::mpitrace::routine_order; *name != '\0'; name += std::string_view(name).size() + 1) {
        const Profile profile = parse("Data for MPI rank 0 of 1:\n" + std::string(name) + " 1 1.0 1.000\n");
        ASSERT_EQ(profile.calls.size(), 1u) << name;
        ASSERT_TRUE(recorded.contains(name)) << name;
        if (format::mpitrace::is_file_routine(name)) {
            EXPECT_EQ(profile.calls[0].traffic, report::Traffic::file) << name;
        } else {
            EXPECT_EQ(static_cast<int>(profile.calls[0].traffic), static_cast<int>(recorded[name])) << name;
        }
        ++checked;
    }
    EXPECT_EQ(checked, format::mpitrace::routines);
}

}  // namespace
}  // namespace mpiprof::test
