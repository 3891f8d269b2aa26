// Texts of mpitrace that are not whole, or have numbers that cannot be read: nothing is made up.
#include <gtest/gtest.h>

#include "tests/report/mpitrace_texts.h"
#include "tests/report/seed003_profiles.h"
#include "tests/report/shown.h"

namespace mpiprof::test {
namespace {

// ---- numbers that cannot be read ----

std::string complaint_about(std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    const auto profile = report::read_mpitrace(bytes_of(text), "mpi_profile.1.0");
    return profile ? "" : profile.error().line();
}

TEST(mpitrace_text, a_number_that_cannot_be_read_is_an_error_with_its_line) {
    const std::string text = read_file(golden("seed003_cpu.txt"));

    EXPECT_EQ(complaint_about(text, "          0.018\n", "          0,018\n"),
              "mpi_profile.1.0: line 8: the number 0,018 cannot be read, it has a decimal comma; fix the "
              "line, or leave the file out");
    for (const char* number : {"0,018", "*****", "nan", "-nan", "inf", "0.18D-01", "1.8e-2", "1,000.018", "-0.018"})
        EXPECT_NE(complaint_about(text, "          0.018\n", "  " + std::string(number) + "\n").find(number),
                  std::string::npos)
            << number;
    // In each part of the text.
    EXPECT_NE(complaint_about(text, "= 15.548 seconds", "= 15,548 seconds").find("line 16: "), std::string::npos);
    EXPECT_NE(complaint_about(text, "      0.000\n                               1           8.0",
                              "      0,000\n                               1           8.0")
                  .find("0,000"),
              std::string::npos);
    EXPECT_NE(complaint_about(text, "171601", "171,601").find("171,601"), std::string::npos);
    EXPECT_NE(complaint_about(text, "10.602 sec for", "****** sec for").find("******"), std::string::npos);
    EXPECT_NE(complaint_about(text, "rank 0 of 16:", "rank 0 of 1,016:").find("1,016"), std::string::npos);
}

TEST(mpitrace_text, a_difference_of_clocks_that_is_not_quite_nothing_is_nothing) {
    std::string text = read_file(golden("seed003_cpu.txt"));
    const std::string from = "MPI_Comm_rank                           5            0.0          0.000";
    const std::string to = "MPI_Comm_rank                           5            0.0         -0.000";
    text.replace(text.find(from), from.size(), to);
    EXPECT_EQ(sums_of(parse(text)).at({"MPI_Comm_rank", 0}).time_ns, 0u);
}

// ---- texts that are not whole ----

TEST(mpitrace_text, of_a_list_of_sizes_that_was_cut_the_rest_has_the_bytes_of_its_routine) {
    std::string text = read_file(golden("seed003_cpu.txt"));
    const std::string line = "                             236     4719155.9          4.400\n";
    text.replace(text.find(line), line.size(), "");
    const Profile profile = parse(text);
    std::uint64_t bytes = 0, calls = 0;
    for (const auto& [key, sum] : sums_of(profile))
        if (key.first == "MPI_Allreduce") bytes += sum.bytes, calls += sum.calls;
    EXPECT_EQ(calls, 8161u);
    EXPECT_NEAR(static_cast<double>(bytes), 8161 * 138800.2, 8161 * 0.05);
    ASSERT_EQ(profile.notes.size(), 1u);
    EXPECT_NE(profile.notes[0].find("lack calls of MPI_Allreduce"), std::string::npos) << profile.notes[0];
}

TEST(mpitrace_text, of_a_list_that_was_cut_no_time_is_given_to_the_lines_that_are_left) {
    std::string text = read_file(golden("seed003_cpu.txt"));
    const std::string line = "                               3     4718592.0          0.017\n";
    text.replace(text.find(line), line.size(), "");
    for (const auto& [key, sum] : sums_of(parse(text)))
        if (key.first == "MPI_Bcast" && key.second < 16) EXPECT_EQ(sum.time_ns, 0u) << "bin " << key.second;
}

TEST(mpitrace_text, a_last_line_without_an_end_is_left_out_and_said) {
    const std::string text = read_file(golden("seed003_cpu.txt"));
    const std::string whole = "MPI_Allreduce                        8161       138800.2         10.575";
    const Profile profile = parse(text.substr(0, text.find(whole) + whole.size() - 5));  // "1" of 10.575
    for (const auto& call : profile.calls) EXPECT_NE(call.name, "MPI_Allreduce");
    EXPECT_TRUE(std::any_of(profile.notes.begin(), profile.notes.end(), [](const std::string& note) {
        return note.find("its last line has no end") != std::string::npos;
    }));
}

TEST(mpitrace_text, ranks_of_equal_time_are_given_no_nanoseconds) {
    std::string text = read_file(golden("seed003_gpu.txt"));
    text.resize(text.find("     0     thetagpu19"));
    const auto claim = [&](const std::string& from, const std::string& to) {
        text.replace(text.find(from), from.size(), to);
    };
    claim("3.601 sec for task 2", "0.000 sec for task 6");
    claim("5.462 sec for task 6", "0.000 sec for task 5");
    claim("8.355 sec for task 7", "0.000 sec for task 4");
    for (int rank = 1; rank < 8; ++rank)
        text += "     " + std::to_string(rank) +
                "     thetagpu19       0.00       17.73       14.67        2.89     4230.73       61734\n";
    for (const auto& line : parse(text).rank_table) EXPECT_EQ(line.mpi_ns, 0u) << line.rank;
}

// The text of rank 0 with the first lines of its table.
Job job_of_table(std::size_t lines, const std::function<void(std::string&)>& change = {}) {
    std::string text = read_file(golden("seed003_cpu.txt"));
    std::size_t end = text.find("taskid");
    for (std::size_t line = 0; line <= lines; ++line) end = text.find('\n', end) + 1;
    text.resize(end);
    if (change) change(text);
    const TemporaryDirectory directory;
    write_file(directory.path() / "mpi_profile.4711.0", text);
    return job_of(directory.path());
}

TEST(mpitrace_text, of_a_table_that_was_cut_the_lines_that_are_left_are_not_the_job) {
    const std::string shown = unwrapped(test::shown(job_of_table(4), "summary", detailed()));
    EXPECT_NE(shown.find("16 ranks, 4 of them on 1 node (thetagpu24)"), std::string::npos) << shown;
    EXPECT_NE(shown.find("1 of 16 ranks; 3 are in the table of ranks, nothing is known about 12"), std::string::npos)
        << shown;
    EXPECT_NE(shown.find("OVER 4 OF 16 RANKS"), std::string::npos) << shown;
    EXPECT_NE(shown.find("cores are busy per rank that is known"), std::string::npos) << shown;
    for (const char* said : {"EFFICIENCY", "slow-rank", "imbalance", "load balance", "no rank is slower"})
        EXPECT_EQ(shown.find(said), std::string::npos) << said << "\n" << shown;
}

TEST(mpitrace_text, without_a_table_no_node_is_counted) {
    const std::string shown = unwrapped(test::shown(
        job_of_table(0,
                     [](std::string& text) {
                         text.replace(text.find("131.483"), 7, "  1.483");  // so that no thread may run beside
                     }),
        "summary"));
    EXPECT_NE(shown.find("From the text of rank 0 only: Communication-bound: 68.2% of the run is in MPI"),
              std::string::npos)
        << shown;
    EXPECT_NE(shown.find("16 ranks Init to Finalize"), std::string::npos) << shown;
    EXPECT_EQ(shown.find(" on 1 node"), std::string::npos) << shown;
    EXPECT_EQ(shown.find("no rank is slower"), std::string::npos) << shown;
}

TEST(mpitrace_text, of_a_text_without_totals_no_share_is_said) {
    std::string text = read_file(golden("seed003_cpu.txt"));
    text.resize(text.find("total communication time"));
    const TemporaryDirectory directory;
    write_file(directory.path() / "mpi_profile.4711.0", text);
    const std::string shown = unwrapped(test::shown(job_of(directory.path()), "summary"));
    EXPECT_NE(shown.find("The run time is not known"), std::string::npos) << shown;
    EXPECT_NE(shown.find("10.60 s inside MPI; the length of the run is not known"), std::string::npos) << shown;
    for (const char* said : {"No bottleneck", "%WALL 0", "No time in MPI", "Init to Finalize 0", "100% of"})
        EXPECT_EQ(shown.find(said), std::string::npos) << said << "\n" << shown;
    EXPECT_EQ(shown.find(" 0.0% "), std::string::npos) << shown;
}

TEST(mpitrace_text, without_hosts_in_its_table_no_node_is_counted) {
    const Job job = job_of_table(16, [](std::string& text) {
        for (const std::string word : {"       hostname", "     thetagpu24"})
            for (std::size_t at; (at = text.find(word)) != std::string::npos;) text.erase(at, word.size());
    });
    ASSERT_EQ(job.ranks.size(), 16u);
    EXPECT_EQ(job.named_nodes(), 0u);
    const std::string shown = unwrapped(test::shown(job, "summary"));
    EXPECT_EQ(shown.find(" on 1 node"), std::string::npos) << shown;
    EXPECT_NE(shown.find("load balance"), std::string::npos) << "times are known of all\n" << shown;
}

TEST(mpitrace_text, a_line_of_the_table_whose_columns_are_not_those_of_its_heading_is_said) {
    const Job job = job_of_table(16, [](std::string& text) {
        const auto row = text.find("     5     thetagpu24");
        text.replace(row, 21, "     5               ");
    });
    EXPECT_EQ(job.find(5), nullptr);
    ASSERT_EQ(job.notes.size(), 1u);
}

TEST(mpitrace_text, what_a_table_does_not_tell_of_a_rank_is_no_0) {
    std::istringstream csv(shown(job_of_table(4), "ranks", {}, "csv"));
    int lines = 0;
    for (std::string line; std::getline(csv, line);) {
        if (line.find(",missing,") == std::string::npos) continue;
        EXPECT_EQ(line.find(",0,"), std::string::npos) << line;
        ++lines;
    }
    EXPECT_EQ(lines, 3);
}

// The kind of traffic is told from the name alone; it is the one that the recorder's table gives to the function.

}  // namespace
}  // namespace mpiprof::test
