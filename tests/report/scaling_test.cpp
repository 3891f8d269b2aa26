// `mpiprof-report scaling`: the tables that people already have, what it makes of jobs, and of words that are none.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/report/goldens.h"
#include "tests/report/run_reporter.h"
#include "tests/report/shown.h"
#include "tests/report/stories.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;

// The times of "Benchmarking Parallel Programs": PyTorch DDP on K80 and on RTX 2080Ti.
const std::vector<std::string> k80{"1=226", "2=134", "3=95", "4=76"};
const std::vector<std::string> rtx{"1=171", "2=108", "3=79", "4=64", "5=57", "6=52", "7=51", "8=49", "9=49", "10=49"};

class scaling : public testing::Test {
  protected:
    Ran run(std::vector<std::string> words, const std::vector<std::string>& more = {}) {
        words.insert(words.begin(), "scaling");
        words.insert(words.end(), more.begin(), more.end());
        return run_reporter(directory_.path(), std::move(words));
    }
    // A job of so many ranks that took so long.
    void write(const std::string& name, std::uint32_t ranks, double seconds, std::uint64_t started_s = 1'700'000'000,
               const std::function<void(ProfileSpec&)>& change = {}) {
        fs::create_directories(directory_.path() / name);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            ProfileSpec spec = uneven_work().front();
            spec.rank = rank;
            spec.size = ranks;
            spec.job = fmt::format("{}", started_s);
            spec.launch = fmt::format("pmix:{}.{}", name, started_s);
            spec.start_realtime_ns = started_s * 1'000'000'000;
            spec.elapsed_ns = static_cast<std::uint64_t>(seconds * 1e9) - spec.init_ns - spec.before_init_ns;
            if (change) change(spec);
            write_profile(directory_.path() / name, spec);
        }
    }
    const fs::path& path() { return directory_.path(); }

  private:
    TemporaryDirectory directory_;
};

TEST_F(scaling, tables_of_a_benchmark_of_two_gpus_come_out_as_they_were_published) {
    const Ran ran = run({"--unit", "gpu", "--format", "markdown"}, rtx);
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.out.find("|N|Time (s)|Speedup|Relative SU|\n"
                           "|---|---|---|---|\n"
                           "|1|171|1.00|1.00|\n"
                           "|2|108|1.58|1.26|\n"
                           "|3|79|2.16|1.39|\n"
                           "|4|64|2.67|1.50|\n"
                           "|5|57|3.00|1.67|\n"
                           "|6|52|3.29|1.82|\n"
                           "|7|51|3.35|2.09|\n"
                           "|8|49|3.49|2.29|\n"
                           "|9|49|3.49|2.58|\n"
                           "|10|49|3.49|2.87|\n"),
              std::string::npos)
        << ran.out;
    // 2 x 134 / 226 is 1.186; the page says 1.18, its times having been rounded afterwards.
    EXPECT_NE(run({"--unit", "gpu", "--format", "markdown"}, k80)
                  .out.find("|1|226|1.00|1.00|\n|2|134|1.69|1.19|\n|3|95|2.38|1.26|\n|4|76|2.97|1.35|\n"),
              std::string::npos);
}

TEST_F(scaling, screens_and_data_of_both_benchmarks) {
    expect_golden("screens/scaling_rtx.txt", run({"--unit", "gpu"}, rtx).out);
    expect_golden("screens/scaling_k80.txt", run({"--unit", "gpu"}, k80).out);
    expect_golden("screens/scaling_rtx.csv", run({"--unit", "gpu", "--format", "csv"}, rtx).out);
    std::vector<std::string> both;
    for (const std::string& pair : k80) both.push_back("K80=" + pair);
    for (const std::string& pair : rtx) both.push_back("RTX=" + pair);
    const Ran ran = run({"--unit", "gpu"}, both);
    expect_golden("screens/scaling_of_two_series.txt", ran.out);
    expect_golden("screens/scaling_of_two_series.md", run({"--unit", "gpu", "--format", "markdown"}, both).out);
    expect_fits(ran.out, 80);
}

TEST_F(scaling, says_how_many_to_ask_for_and_what_one_more_costs) {
    EXPECT_NE(run({"--unit", "gpu", "--width", "200"}, rtx)
                  .out.find("Scaling levels off at 6 GPUs: the 7th adds 0.06 of one and raises the SU from 1.82 to "
                            "2.09."),
              std::string::npos);
    EXPECT_NE(run({"--unit", "gpu", "--width", "200"}, k80)
                  .out.find("Still scaling at 4 GPUs, the largest size measured: the last one still adds 0.59 of one."),
              std::string::npos);
    EXPECT_NE(run({"--unit", "node", "--worth", "0.5", "--width", "200"}, rtx)
                  .out.find("Scaling levels off at 4 nodes: the 5th adds 0.33 of one"),
              std::string::npos);
}

TEST_F(scaling, repeats_are_used_by_their_median_and_their_spread_is_shown) {
    const Ran ran = run({"1=100", "1=104", "1=102", "2=50", "2=60", "--width", "120"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.out.find("1       102     3    3.9%     1.00"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("2        55     2   18.2%     1.85"), std::string::npos) << ran.out;
    const Ran markdown = run({"1=100", "1=104", "1=102", "2=50", "2=60", "--format", "markdown"});
    EXPECT_NE(markdown.out.find("|N|Time (s)|Spread|Speedup|Relative SU|\n"), std::string::npos) << markdown.out;
}

TEST_F(scaling, jobs_are_compared_by_the_time_of_their_processes) {
    write("n1", 1, 8.0);
    write("n2", 2, 4.4);
    write("n4", 4, 2.8);
    const Ran ran = run({"n4", "n1", "n2"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    expect_golden("screens/scaling_of_jobs.txt", ran.out);
    expect_fits(ran.out, 80);
    EXPECT_NE(run({"n1", "n2", "--time", "mpi"}).out.find("from MPI_Init to MPI_Finalize"), std::string::npos);
    const Ran none = run({"n1", "n2", "--time", "iteration"});
    EXPECT_EQ(none.code, 2);
    EXPECT_NE(none.err.find("n1: marks no iterations"), std::string::npos) << none.err;
    EXPECT_EQ(run({"n1", "n2", "--time", "region:solve"}).code, 2);
    EXPECT_EQ(run({"n1", "n2", "--time", "tomorrow"}).code, 2);
    const Ran gpu = run({"n1", "n2", "--unit", "gpu"});
    EXPECT_EQ(gpu.code, 2);
    EXPECT_NE(gpu.err.find("does not say how many GPUs it had"), std::string::npos) << gpu.err;
}

TEST_F(scaling, what_did_not_end_is_left_out_and_said) {
    write("n1", 1, 8.0);
    write("n2", 2, 4.0);
    write("n4", 4, 1.0, 1'700'000'000, [](ProfileSpec& spec) { spec.state = format::State::aborted; });
    const Ran ran = run({"n1", "n2", "n4"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_NE(ran.err.find("n4: did not reach MPI_Finalize"), std::string::npos) << ran.err;
    EXPECT_NE(ran.out.find("Still scaling at 2 ranks, the largest size measured"), std::string::npos) << ran.out;
    EXPECT_EQ(run({"n4"}).code, 3);
}

TEST_F(scaling, different_programs_are_refused_unless_each_is_a_series) {
    const auto program = [](const char* path) { return [path](ProfileSpec& spec) { spec.executable = path; }; };
    write("n1", 1, 8.0, 1'700'000'000, program("/home/a/solver"));
    write("n2", 2, 4.0, 1'700'000'000, program("/scratch/solver"));
    write("n4", 4, 2.0, 1'700'000'000, program("/home/a/mesher"));
    EXPECT_EQ(run({"n1", "n2"}).code, 0) << "the same program elsewhere";
    const Ran mixed = run({"n1", "n2", "n4"});
    EXPECT_EQ(mixed.code, 2);
    EXPECT_NE(mixed.err.find("these are different programs: mesher, solver"), std::string::npos) << mixed.err;
    EXPECT_EQ(run({"S=n1", "S=n2", "M=n4"}).code, 0);
}

TEST_F(scaling, each_launch_of_a_directory_is_a_run_where_that_is_asked_for) {
    write("jobs", 1, 8.0, 1'700'000'000);
    write("jobs", 2, 4.0, 1'700'000'100);
    write("jobs", 4, 2.0, 1'700'000'200);
    const Ran all = run({"jobs", "--all-launches"});
    EXPECT_NE(all.out.find("Still scaling at 4 ranks"), std::string::npos) << all.out;
    const Ran newest = run({"jobs"});
    EXPECT_NE(newest.out.find("Only 4 ranks were measured"), std::string::npos) << newest.out;
    EXPECT_NE(newest.err.find("--all-launches"), std::string::npos) << newest.err;
    const Ran named = run({"jobs:1700000000", "jobs:1700000100"});
    EXPECT_NE(named.out.find("Still scaling at 2 ranks"), std::string::npos) << named.out << named.err;
}

TEST_F(scaling, a_charge_for_several_resources_is_that_of_each_run) {
    const auto cores = [](const char* list) {
        return [list](ProfileSpec& spec) { spec.facts.push_back({format::FactKind::process, "cpus_allowed", list}); };
    };
    write("n1", 1, 8.0, 1'700'000'000, cores("0-3"));
    write("n2", 2, 4.0, 1'700'000'000, cores("0-3"));
    const Ran ran = run({"n1", "n2", "--su", "core=1,gpu=2", "--format", "csv"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    // Both had the same four cores: half the time is half the charge.
    EXPECT_NE(ran.out.find(",2,1,0.5,"), std::string::npos) << ran.out;
    EXPECT_NE(run({"n1", "n2", "--su", "core=1,gpu=2", "--width", "200"}).out.find("(cores + 2 x GPUs) x t"),
              std::string::npos);
    EXPECT_EQ(run({"1=2", "2=1", "--su", "core=1"}).code, 2);
    EXPECT_EQ(run({"n1", "n2", "--su", "flops=1"}).code, 2);
}

TEST_F(scaling, files_of_times_are_read_with_and_without_headings_and_as_it_writes_them) {
    write_file(path() / "bare.csv", std::string_view("# K80\n1,226\n2, 134\r\n\n"));
    write_file(path() / "named.csv", std::string_view("time (s),gpus,label\n226,1,K80\n134,2,K80\n171,1,RTX\n"));
    EXPECT_EQ(run({"bare.csv"}).out, run({"1=226", "2=134"}).out);
    EXPECT_EQ(run({"named.csv"}).out, run({"K80=1=226", "K80=2=134", "RTX=1=171"}).out);
    EXPECT_EQ(run({"K80=bare.csv"}).out, run({"K80=1=226", "K80=2=134"}).out);
    const std::string ours = run({"1=226", "2=134", "--format", "csv"}).out;
    write_file(path() / "ours.csv", ours);
    EXPECT_EQ(run({"ours.csv", "--format", "csv"}).out, ours);
    write_file(path() / "bad.csv", std::string_view("n,seconds\n1,226\n2,soon\n"));
    const Ran bad = run({"bad.csv"});
    EXPECT_EQ(bad.code, 2);
    EXPECT_NE(bad.err.find("bad.csv:3: is not N,SECONDS"), std::string::npos) << bad.err;
    write_file(path() / "empty.csv", std::string_view("n,seconds\n"));
    EXPECT_EQ(run({"empty.csv"}).code, 2);
}

TEST_F(scaling, words_that_are_no_runs_are_told_so) {
    EXPECT_EQ(run({}).code, 2);
    for (const char* word : {"0=5", "4=-1", "4=nan", "1.5=3", "4=", "=3", "4=1e999", "nowhere"}) {
        const Ran ran = run({"1=2", word});
        EXPECT_EQ(ran.code, 3) << word;
        EXPECT_NE(ran.err.find(fmt::format("{}: is no directory or file", word)), std::string::npos) << ran.err;
    }
}

// A program that marks so many iterations of so many items on each rank.
std::function<void(ProfileSpec&)> marking(std::uint64_t items, std::size_t iterations = 2) {
    return [=](ProfileSpec& spec) {
        spec.regions = {{.name = "iteration",
                         .durations_ns = std::vector<std::uint64_t>(iterations, 1'000'000),
                         .is_iteration = true,
                         .items = iterations * items}};
    };
}

TEST_F(scaling, work_that_grows_with_the_size_is_said) {
    write("one", 1, 10, 1, marking(32));
    write("two", 2, 10, 2, marking(32));
    write("half", 2, 6, 3, marking(16));
    EXPECT_NE(run({"one", "two"}).out.find("the run on N=2 handles 2.00 times the items of N=1: --weak"),
              std::string::npos)
        << run({"one", "two"}).out;
    EXPECT_NE(run({"one", "two"}).out.find("[caution]"), std::string::npos);
    EXPECT_EQ(run({"one", "half"}).out.find("[caution]"), std::string::npos);
    EXPECT_EQ(run({"--weak", "one", "two"}).out.find("[caution]"), std::string::npos);
    EXPECT_NE(run({"--weak", "one", "half"}).out.find("1.00 times the items of N=1, not 2.00 times"),
              std::string::npos);
}

TEST_F(scaling, fewer_iterations_of_more_items_are_the_same_work_unless_iterations_are_timed) {
    write("one", 1, 10, 1, marking(32, 4));
    write("two", 2, 6, 2, marking(32, 2));
    EXPECT_EQ(run({"one", "two"}).out.find("[caution]"), std::string::npos) << run({"one", "two"}).out;
    EXPECT_NE(run({"one", "two", "--time", "iteration"}).out.find("an iteration on N=2 handles 2.00 times the items"),
              std::string::npos);
}

TEST_F(scaling, runs_with_different_mpi_libraries_are_told) {
    write("one", 1, 10, 1);
    write("two", 2, 6, 2, [](ProfileSpec& spec) { spec.mpi_library = "Open MPI v5.0.1"; });
    const std::string text = unwrapped(run({"one", "two"}).out);
    EXPECT_NE(text.find("the runs differ in MPI (Open MPI v4.1.4, Open MPI v5.0.1), not only in size"),
              std::string::npos)
        << text;
}

TEST_F(scaling, what_else_the_runs_differ_in_is_said_and_is_in_the_data) {
    write("one", 1, 10, 1, [](ProfileSpec& spec) { spec.labels = {{"grid", "8,8"}, {"model", "a"}}; });
    write("two", 2, 6, 2, [](ProfileSpec& spec) { spec.labels = {{"grid", "8,8"}}; });
    EXPECT_NE(run({"one", "two"}).out.find("the runs differ in model (a, not said), not only in size"),
              std::string::npos)
        << run({"one", "two"}).out;
    const auto data = nlohmann::json::parse(run({"one", "two", "--format", "json"}).out);
    ASSERT_EQ(data["runs"].size(), 2u);
    EXPECT_EQ(data["runs"][0]["labels"], "grid=8%2C8,model=a");
    EXPECT_EQ(data["runs"][1]["run"], "two");
}

// On 2 ranks each is 8 s outside MPI and moves data for 1 s of 10; on 4 ranks 6 s of 10 and 2 s.
TEST_F(scaling, pops_efficiencies_are_told_by_size) {
    const auto spending = [](std::uint64_t mpi_s, std::uint64_t fastest_ms) {
        return [=](ProfileSpec& spec) {
            spec.elapsed_ns = 10'000'000'000;
            spec.calls = {collective("MPI_Allreduce", {{.calls = 100,
                                                        .bytes = std::uint64_t{1000} << 20,
                                                        .time_ns = mpi_s * 1'000'000'000,
                                                        .min_ns = fastest_ms * 1'000'000,
                                                        .max_ns = mpi_s * 20'000'000}})};
        };
    };
    write("two", 2, 10, 1, spending(2, 10));
    write("four", 4, 10, 2, spending(4, 20));
    const auto data = nlohmann::json::parse(run({"two", "four", "--format", "json"}).out)["efficiencies"];
    ASSERT_EQ(data.size(), 2u) << data;
    EXPECT_NEAR(data[0]["load_balance"], 1, 1e-6);
    EXPECT_NEAR(data[0]["communication"], 0.8, 1e-6);
    EXPECT_NEAR(data[0]["transfer"], 0.9, 1e-6);
    EXPECT_NEAR(data[0]["serialisation"], 0.8 / 0.9, 1e-6);
    EXPECT_NEAR(data[0]["computation"], 1, 1e-6);
    EXPECT_NEAR(data[1]["parallel"], 0.6, 1e-6);
    EXPECT_NEAR(data[1]["transfer"], 0.8, 1e-6);
    EXPECT_NEAR(data[1]["computation"], 16.0 / 24, 1e-6) << "all ranks together";
    EXPECT_NEAR(data[1]["global"], 0.6 * 16 / 24, 1e-6);
    const auto weak = nlohmann::json::parse(run({"two", "four", "--weak", "--format", "json"}).out)["efficiencies"];
    EXPECT_NEAR(weak[1]["computation"], 8.0 / 6, 1e-6) << "of a rank";
    EXPECT_NE(run({"two", "four"}).out.find("  N  BALANCE  COMM.  SERIAL.  TRANSFER  PARALLEL  COMPUTATION  GLOBAL\n"),
              std::string::npos);
}

TEST_F(scaling, data_of_two_series_has_one_table_of_each_kind) {
    write("one", 1, 10, 1);
    write("two", 2, 6, 2);
    write("four", 4, 4, 3);
    const std::string text = run({"a=one", "a=two", "b=one", "b=four", "--format", "json"}).out;
    const auto data = nlohmann::json::parse(text);
    for (const char* table : {"\"budget\"", "\"advice\"", "\"stops_scaling\""})
        EXPECT_EQ(text.find(table), text.rfind(table)) << table;
    ASSERT_EQ(data["budget"].size(), 4u);
    EXPECT_EQ(data["budget"][0]["series"], "a");
    EXPECT_EQ(data["budget"][3]["series"], "b");
    EXPECT_EQ(data["advice"].size(), 2u);
}

TEST_F(scaling, what_each_series_is_relative_to_is_said) {
    const std::string text = unwrapped(run({"a=1=10", "a=2=6", "b=3=5", "b=4=4"}).out);
    EXPECT_NE(text.find("a SPEEDUP: each series over its own smallest N; these differ"), std::string::npos) << text;
    EXPECT_NE(text.find("relative to 3 ranks, the smallest size measured"), std::string::npos) << text;
    EXPECT_EQ(text.find("a / b:"), std::string::npos) << "they have no N in common: " << text;
    EXPECT_NE(unwrapped(run({"a=1=10", "a=2=6", "b=1=5", "b=4=4"}).out).find("a / b: the time of a over that of b"),
              std::string::npos);
}

TEST_F(scaling, files_without_labels_are_series_of_their_own) {
    write_file(path() / "k80.csv", std::string_view("1,226\n2,134\n"));
    write_file(path() / "rtx.csv", std::string_view("1,171\n2,108\n"));
    EXPECT_EQ(run({"k80.csv", "rtx.csv"}).out, run({"k80=k80.csv", "rtx=rtx.csv"}).out);
    EXPECT_EQ(run({"k80=k80.csv", "rtx.csv"}).out, run({"k80=k80.csv", "rtx=rtx.csv"}).out);
}

}  // namespace
}  // namespace mpiprof::test
