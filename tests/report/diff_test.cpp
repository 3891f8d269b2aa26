// `mpiprof-report diff`: what differs is said first, one time is tested, and what cannot be told is not.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/report/goldens.h"
#include "tests/report/run_reporter.h"
#include "tests/report/shown.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;
using Change = std::function<void(ProfileSpec&)>;

class diff : public testing::Test {
  protected:
    Ran run(std::vector<std::string> words) {
        words.insert(words.begin(), "diff");
        return run_reporter(directory_.path(), std::move(words));
    }
    void write(const std::string& name, std::vector<ProfileSpec> ranks, const Change& change = {}) {
        fs::create_directories(directory_.path() / name);
        for (ProfileSpec& spec : ranks) {
            spec.launch += name;
            if (change) change(spec);
            write_profile(directory_.path() / name, spec);
        }
    }
    // The `order`-th run of all, of so many seconds.
    void write_run(const std::string& name, int order, double seconds) {
        write(name, uneven_work(), [&](ProfileSpec& spec) {
            spec.start_realtime_ns += static_cast<std::uint64_t>(order) * 60'000'000'000;
            spec.elapsed_ns = static_cast<std::uint64_t>(seconds * 1e9) - spec.init_ns - spec.before_init_ns;
        });
    }
    // So many runs a side; `in_turns`: A B A B ..., else all of A first. B takes `change` times as long.
    std::vector<std::string> write_sides(int runs, double change, bool in_turns = true) {
        std::vector<std::string> words, behind{"--against"};
        for (int i = 0; i < runs; ++i) {
            const double noise = 1 + 0.004 * ((i * 7) % 5);
            write_run(fmt::format("old{}", i), in_turns ? 2 * i : i, 20 * noise);
            write_run(fmt::format("new{}", i), in_turns ? 2 * i + 1 : runs + i,
                      20 * change * (1.016 - 0.004 * ((i * 3) % 5)));
            words.push_back(fmt::format("old{}", i));
            behind.push_back(fmt::format("new{}", i));
        }
        words.insert(words.end(), behind.begin(), behind.end());
        return words;
    }

    const fs::path& path() { return directory_.path(); }

  private:
    TemporaryDirectory directory_;
};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.begin(), more.begin(), more.end());
    return words;
}

// Fewer, larger messages, another setting and another library.
void tuned(ProfileSpec& spec) {
    spec.mpi_library = "Open MPI v5.0.1";
    spec.facts.push_back({format::FactKind::environment, "OMPI_MCA_btl", "self,vader"});
    for (CallSpec& call : spec.calls)
        for (CellSpec& cell : call.cells) {
            if (cell.calls < 2 || cell.bytes == 0) continue;
            cell.calls /= 2;
            cell.time_ns = cell.time_ns * 3 / 4;
        }
}

TEST_F(diff, what_explains_comes_first_then_times_and_what_they_are_made_of) {
    write("before", balanced_stencil());
    write("after", balanced_stencil(), tuned);
    const Ran ran = run({"before", "after"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    expect_golden("screens/diff_of_a_tuned_stencil.txt", ran.out);
    expect_fits(ran.out, 80);
    const auto settings = ran.out.find("OMPI_MCA_btl"), counts = ran.out.find("COUNTS THAT DIFFER"),
               times = ran.out.find("TIME A"), calls = ran.out.find("CALLS BY SIZE");
    ASSERT_NE(settings, std::string::npos);
    EXPECT_LT(settings, counts);
    EXPECT_LT(counts, times);
    EXPECT_LT(times, calls);
    EXPECT_NE(ran.out.find("Open MPI v5.0.1"), std::string::npos);
    EXPECT_NE(unwrapped(ran.out).find("One run each: significance cannot be assessed."), std::string::npos);
    expect_golden("screens/diff_of_a_tuned_stencil.md", run({"before", "after", "--format", "markdown"}).out);
    EXPECT_NE(run({"before", "after", "--format", "csv"}).out.find("# facts\nkind,name,a,b\n"), std::string::npos);
}

TEST_F(diff, labels_head_the_columns) {
    write("before", balanced_stencil());
    write("after", balanced_stencil(), tuned);
    const Ran ran = run({"bucket 25=before", "bucket 1=after"});
    EXPECT_NE(ran.out.find("bucket 25"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find("before:"), std::string::npos) << ran.out;
}

// The heads of columns, of A and B.
std::pair<std::string, std::string> heads(const std::string& json) {
    const auto head = nlohmann::json::parse(json)["head"];
    return {head["a"], head["b"]};
}

TEST_F(diff, sides_of_repeats_are_named_by_what_their_names_begin_with) {
    for (const char* name : {"tuned-9", "tuned-10", "plain_1", "plain_12", "x1", "y2", "x3", "run1", "run2"})
        write(name, uneven_work());
    using Names = std::pair<std::string, std::string>;
    const auto names = [&](std::vector<std::string> words) {
        return heads(run(with(words, {"--format", "json"})).out);
    };
    EXPECT_EQ(names({"plain_1", "plain_12", "--against", "tuned-9", "tuned-10"}), Names("plain", "tuned"));
    EXPECT_EQ(names({"plain_1", "--against", "tuned-9", "tuned-10"}), Names("plain_1", "tuned"));
    EXPECT_EQ(names({"base=x1", "base=y2", "--against", "tuned-9", "tuned-10"}), Names("base", "tuned"));
    EXPECT_EQ(names({"x1", "x3", "--against", "tuned-9", "tuned-10"}), Names("A", "tuned"))
        << "one letter says nothing";
    EXPECT_EQ(names({"run1", "--against", "run2"}), Names("run1", "run2"));
    const std::string text = run({"x1", "run1", "--against", "y2", "run2"}).out;
    EXPECT_NE(text.find("A: 4 ranks on 1 node, 2 runs (x1, run1)\n"), std::string::npos) << text;
    EXPECT_NE(text.find("B takes as long as A"), std::string::npos) << text;
}

TEST_F(diff, sides_of_repeats_are_named_by_the_labels_that_tell_them_apart) {
    const auto sized = [](const char* size, const char* seed) {
        return [=](ProfileSpec& spec) { spec.labels = {{"bucket", size}, {"model", "vgg"}, {"seed", seed}}; };
    };
    write("run1", uneven_work(), sized("25", "1"));
    write("run2", uneven_work(), sized("1", "1"));
    write("run3", uneven_work(), sized("25", "2"));
    write("run4", uneven_work(), sized("1", "2"));
    const auto [a, b] = heads(run({"run1", "run3", "--against", "run2", "run4", "--format", "json"}).out);
    EXPECT_EQ(a, "bucket=25");
    EXPECT_EQ(b, "bucket=1");
    EXPECT_EQ(heads(run({"run1", "run2", "--format", "json"}).out).first, "run1") << "a name is a name";
}

TEST_F(diff, labels_are_no_settings_besides) {
    const auto labelled = [](const char* size) {
        return [size](ProfileSpec& spec) {
            spec.labels = {{"bucket_size", size}};
            spec.settings.push_back({"LABELS", "bucket_size=" + std::string(size)});
        };
    };
    write("before", balanced_stencil(), labelled("25"));
    write("after", balanced_stencil(), labelled("1"));
    const auto facts = nlohmann::json::parse(run({"before", "after", "--format", "json"}).out)["facts"];
    ASSERT_EQ(facts.size(), 1u) << facts;
    EXPECT_EQ(facts[0]["kind"], "label");
    EXPECT_EQ(facts[0]["name"], "bucket_size");
}

TEST_F(diff, a_job_and_itself_do_not_differ) {
    write("run", balanced_stencil());
    const Ran ran = run({"run", "run"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const std::string text = unwrapped(ran.out);
    EXPECT_NE(text.find("Both sides are the same run"), std::string::npos) << text;
    EXPECT_NE(text.find("run (B) takes as long as run (A)"), std::string::npos);
    EXPECT_NE(text.find("code: no difference"), std::string::npos);
    EXPECT_NE(text.find("equal, function by function"), std::string::npos);
    EXPECT_EQ(run({"run", "run", "--fail-on", "5%"}).code, 4) << "one run each tells nothing";
    EXPECT_EQ(run({"run", "run", "--fail-on-point", "5%"}).code, 0);
}

TEST_F(diff, different_programs_sizes_killed_jobs_and_missing_ranks_are_said) {
    write("stencil", balanced_stencil());
    write("other", uneven_work(), [](ProfileSpec& spec) { spec.executable = "/opt/cg"; });
    EXPECT_NE(unwrapped(run({"stencil", "other"}).out).find("These are different programs, "), std::string::npos);
    EXPECT_NE(unwrapped(run({"stencil", "other"}).out).find("8 ranks against 4 ranks"), std::string::npos);

    write("killed", killed_in_receive());
    write("whole", killed_in_receive(), [](ProfileSpec& spec) { spec.state = format::State::finalized; });
    const Ran killed = run({"whole", "killed"});
    EXPECT_EQ(killed.code, 0) << killed.err;
    EXPECT_NE(unwrapped(killed.out).find("killed did not reach MPI_Finalize"), std::string::npos) << killed.out;
    EXPECT_NE(unwrapped(killed.out).find("killed has no run that reached its end with a wall time of the process"),
              std::string::npos);
    EXPECT_NE(unwrapped(killed.out).find("killed: 3 of 4 ranks have a profile"), std::string::npos);
    EXPECT_EQ(run({"whole", "killed", "--fail-on", "5%"}).code, 4);
    EXPECT_EQ(run({"whole", "killed", "--fail-on-point", "5%"}).code, 4);
}

std::size_t times_said(const std::string& text, const std::string& sentence) {
    std::size_t times = 0;
    for (auto at = text.find(sentence); at != std::string::npos; at = text.find(sentence, at + 1)) ++times;
    return times;
}

TEST_F(diff, a_killed_job_with_itself_is_warned_of_once) {
    write("killed", killed_in_receive());
    const Ran ran = run({"killed", "killed"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const std::string text = unwrapped(ran.out);
    EXPECT_NE(text.find("Both sides are the same run"), std::string::npos) << text;
    EXPECT_EQ(times_said(text, "killed did not reach MPI_Finalize"), 1u) << text;
    EXPECT_EQ(times_said(text, "killed: 3 of 4 ranks have a profile"), 1u) << text;
    EXPECT_NE(text.find("equal, function by function"), std::string::npos) << text;
}

TEST_F(diff, counts_that_differ_by_missing_ranks_are_no_facts) {
    write("whole", balanced_stencil());
    std::vector<ProfileSpec> ranks = balanced_stencil();
    ranks.erase(ranks.begin() + 2, ranks.begin() + 5);
    write("holes", ranks);
    const std::string text = unwrapped(run({"whole", "holes"}).out);
    EXPECT_NE(text.find("ranks with a profile all 5 of 8"), std::string::npos) << text;
    EXPECT_NE(text.find("MPI_Isend 32,000 20,000"), std::string::npos) << text;
    EXPECT_EQ(text.find("counts have no noise"), std::string::npos) << text;
    EXPECT_NE(text.find("of the ranks with a profile, up to their end: that alone may explain the difference"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("holes takes as long as whole"), std::string::npos) << "times are those of a rank: " << text;
    EXPECT_EQ(run({"whole", "holes", "--strict"}).code, 1);
}

TEST_F(diff, mpitraces_text_is_compared_as_far_as_it_tells) {
    for (const char* name : {"cpu", "gpu"}) {
        fs::create_directories(path() / name);
        write_file(path() / name / "mpi_profile.1.0", read_file(golden(fmt::format("seed003_{}.txt", name))));
    }
    const Ran ran = run({"cpu", "gpu"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const std::string text = unwrapped(ran.out);
    EXPECT_NE(text.find("MPI_Allreduce 8,161 11,658"), std::string::npos) << text;
    EXPECT_NE(text.find("16 ranks against 8 ranks"), std::string::npos);
    EXPECT_EQ(text.find("same run"), std::string::npos);
    EXPECT_EQ(text.find("different programs"), std::string::npos);
    EXPECT_EQ(run({"cpu", "gpu", "--strict"}).code, 1) << "one rank of many";
}

TEST_F(diff, whatever_two_jobs_are_they_fit_a_screen) {
    write("stencil", balanced_stencil());
    const std::pair<const char*, std::vector<ProfileSpec>> others[] = {
        {"gpu", gpu_training_with_cupti()}, {"both", nccl_beside_mpi()},   {"device", device_buffers()},
        {"errors", errors_and_drops()},     {"files", file_writer()},      {"hung", one_never_arrived()},
        {"threads", background_training()}, {"requests", late_messages()}, {"nodes", slow_node()}};
    for (const auto& [name, ranks] : others) {
        write(name, ranks);
        for (const Ran& ran : {run({"stencil", name}), run({name, "stencil"}), run({name, name})}) {
            EXPECT_EQ(ran.code, 0) << name << ran.err;
            expect_fits(ran.out, 80);
        }
        EXPECT_EQ(run({"stencil", name, "--format", "json"}).code, 0);
        EXPECT_EQ(run({"stencil", name, "--format", "markdown", "--top", "3"}).code, 0);
    }
}

TEST_F(diff, a_serial_run_beside_one_with_mpi_is_spoken_of_in_mpis_words) {
    write("serial", {ProfileSpec{}}, [](ProfileSpec& spec) {
        spec.mpi_family = format::MpiFamily::none;
        spec.mpi_library = "";
    });
    write("parallel", uneven_work());
    for (const Ran& ran : {run({"serial", "parallel"}), run({"parallel", "serial"})}) {
        EXPECT_NE(ran.out.find("  in MPI_Init  "), std::string::npos) << ran.out;
        EXPECT_NE(ran.out.find("outside MPI: computing and everything else  "), std::string::npos) << ran.out;
    }
}

TEST_F(diff, one_rank_and_many_are_compared_by_rank) {
    std::vector<ProfileSpec> many;
    for (std::uint32_t rank = 0; rank < 10'000; ++rank) {
        many.push_back(uneven_work().front());
        many.back().rank = rank;
        many.back().size = 10'000;
    }
    ProfileSpec one = uneven_work().front();
    one.size = 1;
    write("one", {one});
    write("many", many);
    const Ran ran = run({"one", "many"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(unwrapped(ran.out).find("1 rank against 10,000 ranks"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("mpiprof-report scaling"), std::string::npos);
    expect_fits(ran.out, 80);
}

TEST_F(diff, a_change_is_certain_where_repeats_that_took_turns_show_it) {
    const std::vector<std::string> slower = write_sides(5, 1.1);
    const Ran ran = run(slower);
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(unwrapped(ran.out).find("new is slower than old by 10."), std::string::npos) << ran.out;
    EXPECT_NE(unwrapped(ran.out).find("with 95% confidence +"), std::string::npos);
    const Ran gate = run(with(slower, {"--fail-on", "5%"}));
    EXPECT_EQ(gate.code, 1);
    EXPECT_NE(gate.err.find("--fail-on 5%: "), std::string::npos) << gate.err;
    EXPECT_EQ(run(with(slower, {"--fail-on", "20%"})).code, 0);
    EXPECT_EQ(run(with(slower, {"--fail-on", "10%"})).code, 4) << "the interval holds it";
    EXPECT_EQ(run(with(slower, {"--fail-on-point", "5%"})).code, 1);
    EXPECT_EQ(run(with(slower, {"--fail-on-point", "15"})).code, 0);
    EXPECT_NE(run(with(slower, {"--format", "csv"})).out.find(",ratio,ratio_low,ratio_high"), std::string::npos);
}

TEST_F(diff, no_change_is_called_none_and_passes) {
    const std::vector<std::string> same = write_sides(5, 1.0);
    EXPECT_NE(unwrapped(run(same).out).find("not significant"), std::string::npos) << run(same).out;
    EXPECT_EQ(run(with(same, {"--fail-on", "5%"})).code, 0);
}

TEST_F(diff, order_and_change_cannot_be_told_apart_where_one_side_came_first) {
    const std::vector<std::string> blocks = write_sides(5, 1.1, false);
    const Ran ran = run(with(blocks, {"--fail-on", "5%"}));
    EXPECT_EQ(ran.code, 4);
    EXPECT_NE(unwrapped(ran.out).find("did not take turns: the change cannot be separated from a drift over time"),
              std::string::npos)
        << ran.out;
    EXPECT_NE(ran.err.find("inconclusive"), std::string::npos) << ran.err;
}

TEST_F(diff, three_runs_a_side_are_too_few) {
    const std::vector<std::string> few = write_sides(3, 1.5);
    EXPECT_NE(unwrapped(run(few).out).find("3 and 3 runs: too few to assess significance"), std::string::npos)
        << run(few).out;
    EXPECT_EQ(run(with(few, {"--fail-on", "5%"})).code, 4);
}

TEST_F(diff, runs_of_different_sizes_on_a_side_are_no_repeats) {
    const auto write_size = [&](const std::string& name, unsigned size) {
        std::vector<ProfileSpec> ranks = uneven_work();
        ranks.resize(size);
        write(name, ranks, [size](ProfileSpec& spec) { spec.size = size; });
    };
    for (const char* name : {"old2", "new2"}) write_size(name, 2);
    for (const char* name : {"old4", "new4"}) write_size(name, 4);
    const std::string mixed = "the runs of a side have different sizes, so they are not repeats";
    const Ran ran = run({"old2", "old4", "--against", "new2", "new4", "--fail-on", "5%"});
    EXPECT_EQ(ran.code, 4) << ran.err;
    EXPECT_NE(unwrapped(ran.out).find(mixed), std::string::npos) << ran.out;
    EXPECT_NE(unwrapped(ran.out).find("2 to 4 ranks"), std::string::npos) << ran.out;
    EXPECT_EQ(unwrapped(run({"old4", "--against", "new4"}).out).find(mixed), std::string::npos);
}

TEST_F(diff, marked_iterations_are_what_is_tested) {
    const auto marked = [](std::uint64_t step_ns) {
        return [step_ns](ProfileSpec& spec) {
            spec.regions = {
                {.name = "step", .durations_ns = std::vector<std::uint64_t>(10, step_ns), .is_iteration = true}};
        };
    };
    write("before", uneven_work(), marked(20'000'000));
    write("after", uneven_work(), marked(25'000'000));
    const Ran ran = run({"before", "after"});
    EXPECT_NE(unwrapped(ran.out).find("mean time of an iteration: after is slower than before by 25.0%"),
              std::string::npos)
        << ran.out;
    EXPECT_NE(unwrapped(run({"before", "after", "--time", "process"}).out)
                  .find("wall time of the process: after takes as long as before"),
              std::string::npos);
    const std::string markdown = run({"before", "after", "--format", "markdown"}).out;
    EXPECT_NE(markdown.find("|MEDIAN A|MEDIAN B|P95 A|P95 B|\n"), std::string::npos) << markdown;
}

TEST_F(diff, words_that_are_no_two_sides_are_told_so) {
    write("run", uneven_work());
    EXPECT_EQ(run({}).code, 2);
    EXPECT_EQ(run({"run"}).code, 2);
    EXPECT_EQ(run({"run", "run", "run"}).code, 2);
    EXPECT_EQ(run({"run", "nowhere"}).code, 3);
    EXPECT_EQ(run({"run", "4=2.5"}).code, 2);
    EXPECT_EQ(run({"run", "run", "--fail-on", "much"}).code, 2);
}

}  // namespace
}  // namespace mpiprof::test
