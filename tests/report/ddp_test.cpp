// The texts of PyTorch's DDP benchmark: the tables and the comparison that its README prints, from profiles whose
// iterations took as long as those; and the file that its diff.py reads.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/report/goldens.h"
#include "tests/report/run_reporter.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t batch = 32;

// Seconds to three digits and examples a second, as printed.
struct Printed {
    unsigned percent = 50;
    double seconds = 0;
    std::uint64_t rate = 0;
    double change = 0;
};

// A time in us that is printed so: of those that are, the middle, or another `part` of them.
double us_of(const Printed& printed, double part = 0.5) {
    const double low =
        std::max(printed.seconds - 0.0005, static_cast<double>(batch) / static_cast<double>(printed.rate + 1));
    const double high =
        std::min(printed.seconds + 0.0005, static_cast<double>(batch) / static_cast<double>(printed.rate));
    EXPECT_LT(low, high) << printed.seconds << " s and " << printed.rate << "/s";
    return (low + part * (high - low)) * 1e6;
}

// A hundred iterations of one rank with these percentiles: so many of each that every percentile falls within its own.
std::vector<std::uint64_t> iterations_of(const std::vector<double>& p50_p75_p90_p95_us) {
    constexpr int count[] = {62, 20, 10, 8};
    std::vector<std::uint64_t> ns;
    for (std::size_t i = 0; i < 4; ++i)
        ns.insert(ns.end(), count[i], static_cast<std::uint64_t>(std::llround(p50_p75_p90_p95_us[i])) * 1000);
    return ns;
}

struct Line {
    std::string model;
    unsigned gpus = 0;
    bool is_without_ddp = false;
    std::vector<Printed> printed;
};

// The lines of a table or of a comparison.
std::vector<Line> lines_of(const fs::path& golden) {
    const std::regex heading("Benchmark: (.*) with batch size 32"), row("^ *(\\d+) GPUs(?: -- +(.+?))?:  p(.*)$"),
        cell("p(\\d\\d): +([\\d.]+)s +(\\d+)/s(?: +([-+][\\d.]+)%)?");
    std::vector<Line> lines;
    std::ifstream in(golden);
    std::string model;
    for (std::string text; std::getline(in, text);) {
        std::smatch match;
        if (std::regex_match(text, match, heading)) model = match[1];
        if (!std::regex_match(text, match, row)) continue;
        Line line{.model = model,
                  .gpus = static_cast<unsigned>(std::stoul(match[1])),
                  .is_without_ddp = match[2] == "no ddp",
                  .printed = {}};
        for (std::sregex_iterator at(text.begin(), text.end(), cell), end; at != end; ++at)
            line.printed.push_back({static_cast<unsigned>(std::stoul((*at)[1])), std::stod((*at)[2]),
                                    std::stoull((*at)[3]), (*at)[4].matched ? std::stod((*at)[4]) : 0});
        lines.push_back(std::move(line));
    }
    return lines;
}

// Sixteen ranks on two nodes; in each region of marks as many of them as it has GPUs.
class Job {
  public:
    explicit Job(const std::string& name) {
        for (std::uint32_t rank = 0; rank < 16; ++rank) {
            ProfileSpec& spec = ranks_.emplace_back();
            spec.rank = rank;
            spec.size = 16;
            spec.host = fmt::format("dgx{}", rank / 8);
            spec.launch = name;
            spec.elapsed_ns = 3'600'000'000'000;
            spec.calls = {collective("MPI_Allreduce", {{.calls = 1, .bytes = 8, .time_ns = 1000}})};
        }
    }
    void label(const std::string& key, const std::string& value) {
        for (ProfileSpec& spec : ranks_) spec.labels.emplace_back(key, value);
    }
    void add(const std::string& model, const std::string& row, unsigned gpus, const std::vector<double>& us) {
        for (std::uint32_t rank = 0; rank < gpus; ++rank) {
            std::vector<RegionSpec>& regions = ranks_[rank].regions;
            const auto number_of = [&](const std::string& name, std::uint32_t parent) {
                for (std::uint32_t i = 0; i < regions.size(); ++i)
                    if (regions[i].name == name && regions[i].parent == parent) return i + 1;
                regions.push_back({.name = name, .durations_ns = {1'000'000}, .parent = parent});
                return static_cast<std::uint32_t>(regions.size());
            };
            const std::uint32_t within = number_of(row, number_of(model, 0));
            RegionSpec marks{
                .name = "iteration", .durations_ns = iterations_of(us), .is_iteration = true, .parent = within};
            marks.items = batch * marks.durations_ns.size();
            marks.has_single_times = true;
            regions.push_back(std::move(marks));
        }
    }
    void write(const fs::path& directory) const {
        fs::create_directories(directory);
        for (const ProfileSpec& spec : ranks_) write_profile(directory, spec);
    }

  private:
    std::vector<ProfileSpec> ranks_;
};

std::string row_name(unsigned gpus) { return fmt::format("{} GPU{}", gpus, gpus == 1 ? "" : "s"); }

class ddp : public testing::Test {
  protected:
    std::string run(std::vector<std::string> words) {
        const Ran ran = run_reporter(directory_.path(), std::move(words));
        EXPECT_EQ(ran.code, 0) << ran.err;
        return ran.out;
    }
    int code_of(std::vector<std::string> words) { return run_reporter(directory_.path(), std::move(words)).code; }
    std::string said_of(std::vector<std::string> words) {
        return run_reporter(directory_.path(), std::move(words)).err;
    }
    const fs::path& path() const { return directory_.path(); }

    // The jobs of the comparison: the times of the second one are printed, those of the first follow from the changes.
    void write_compared() {
        Job base("base"), test("test");
        for (Job* job : {&base, &test}) {
            job->label("cuda_version", "10.0");
            job->label("pytorch_version", "1.4.0a0+05140f0");
            job->label("distributed_backend", "nccl");
            job->label("bucket_size", job == &base ? "25" : "1");
        }
        std::string model;
        for (const Line& line : lines_of(golden("seed002_diff.txt"))) {
            if (line.model != model)
                for (Job* job : {&base, &test}) job->add(line.model, "no ddp", 1, {97e3, 97e3, 97e3, 97e3});
            model = line.model;
            std::vector<double> before, now;
            for (const Printed& printed : line.printed) {
                // Apart, so that the times before are in order as well: a percentile is never below a lower one.
                now.push_back(us_of(printed, printed.percent == 75 ? 0.1 : 0.9));
                before.push_back(now.back() / (1 - printed.change / 100));
            }
            base.add(model, row_name(line.gpus), line.gpus, {before[0], before[0], before[0], before[1]});
            test.add(model, row_name(line.gpus), line.gpus, {now[0], now[0], now[0], now[1]});
        }
        base.write(path() / "base");
        test.write(path() / "test");
    }

  private:
    TemporaryDirectory directory_;
};

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST_F(ddp, one_job_of_four_models_gives_the_benchmarks_tables) {
    Job job("sweep");
    for (const Line& line : lines_of(golden("seed002_table.txt"))) {
        std::vector<double> us;
        for (const Printed& printed : line.printed) us.push_back(us_of(printed));
        job.add(line.model, line.is_without_ddp ? "no ddp" : row_name(line.gpus), line.gpus, us);
    }
    job.write(path() / "sweep");
    EXPECT_EQ(run({"text", "--layout", "ddp", "sweep"}), text_of(golden("seed002_table.txt")));
}

TEST_F(ddp, several_jobs_give_the_same_tables) {
    std::vector<std::string> words{"text", "--layout", "ddp", "-q"};
    for (const Line& line : lines_of(golden("seed002_table.txt"))) {
        std::vector<double> us;
        for (const Printed& printed : line.printed) us.push_back(us_of(printed));
        const std::string name = fmt::format("{}.{}{}", line.model, line.gpus, line.is_without_ddp ? ".no_ddp" : "");
        Job job(name);
        job.add(line.model, line.is_without_ddp ? "no ddp" : row_name(line.gpus), line.gpus, us);
        job.write(path() / name);
        words.push_back(name);
    }
    EXPECT_EQ(run(words), text_of(golden("seed002_table.txt")));
}

TEST_F(ddp, diff_of_two_jobs_is_the_benchmarks_comparison) {
    write_compared();
    EXPECT_EQ(run({"diff", "--layout", "ddp", "base", "test"}), text_of(golden("seed002_diff.txt")));
}

TEST_F(ddp, diff_fails_where_it_became_slower_than_is_allowed) {
    for (const auto& [name, us] : {std::pair{"quick", 1e5}, {"slow", 1.2e5}}) {
        Job job(name);
        job.add("resnet50", "2 GPUs", 2, {us, us, us, us});
        job.write(path() / name);
    }
    EXPECT_EQ(code_of({"diff", "--layout", "ddp", "--fail-on-point", "5%", "slow", "quick"}), 0);
    EXPECT_EQ(code_of({"diff", "--layout", "ddp", "--fail-on-point", "5%", "quick", "slow"}), 1);
    EXPECT_EQ(code_of({"diff", "--layout", "ddp", "--fail-on", "5%", "quick", "slow"}), 4) << "one run each";
}

TEST_F(ddp, diff_has_one_text_alone) {
    write_compared();
    EXPECT_EQ(code_of({"diff", "--layout", "ddp", "--format", "csv", "base", "test"}), 2);
}

TEST_F(ddp, diff_of_jobs_with_nothing_in_common_says_so) {
    write_compared();
    Job job("other");
    job.add("vgg", "2 GPUs", 2, {1e5, 1e5, 1e5, 1e5});
    job.write(path() / "other");
    EXPECT_NE(said_of({"diff", "--layout", "ddp", "base", "other"}).find("nothing to compare"), std::string::npos);
}

// Linear between the two neighbours in order, as numpy has it.
double percentile_of(std::vector<double> values, double percent) {
    std::sort(values.begin(), values.end());
    const double at = percent / 100 * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const double above = values[std::min(below + 1, values.size() - 1)];
    return values[below] + (at - static_cast<double>(below)) * (above - values[below]);
}

// The comparison of two of the benchmark's files, by what the files hold and no more.
std::string compared(const nlohmann::json& base, const nlohmann::json& test) {
    std::string text;
    for (std::size_t i = 0; i < base["benchmark_results"].size(); ++i) {
        const auto &a = base["benchmark_results"][i], &b = test["benchmark_results"][i];
        const double batch_size = a["batch_size"];
        text += fmt::format("\nBenchmark: {} with batch size {}\n\n{}", std::string(a["model"]), batch_size,
                            std::string(10, ' '));
        for (int percent = 0; percent < 2; ++percent) text += "        sec/iter    ex/sec      diff";
        text += "\n";
        for (std::size_t row = 1; row < a["result"].size(); ++row) {
            text += fmt::format("{:4} GPUs:", a["result"][row]["ranks"].size());
            for (const int percent : {75, 95}) {
                const double before = percentile_of(a["result"][row]["measurements"], percent),
                             now = percentile_of(b["result"][row]["measurements"], percent);
                text += fmt::format("  p{:02}: {:8.3f}s {:7}/s {:+8.1f}%", percent, now,
                                    static_cast<long>(batch_size / now), -100 * ((now - before) / before));
            }
            text += "\n";
        }
    }
    return text + "\n";
}

TEST_F(ddp, diff_is_what_follows_from_the_files_of_both) {
    write_compared();
    const auto file_of = [&](const char* name) {
        return nlohmann::json::parse(run({"export", "-f", "ddp-json", name}));
    };
    const std::string text = run({"diff", "--layout", "ddp", "base", "test"});
    EXPECT_EQ(text.substr(text.find("\nBenchmark:")), compared(file_of("base"), file_of("test")));
}

TEST_F(ddp, the_file_has_the_benchmarks_keys) {
    write_compared();
    const auto file = nlohmann::json::parse(run({"export", "-f", "ddp-json", "base"}));
    EXPECT_EQ(file["bucket_size"], 25);
    EXPECT_EQ(file["cuda_version"], "10.0");
    EXPECT_EQ(file["distributed_backend"], "nccl");
    EXPECT_EQ(file["pytorch_version"], "1.4.0a0+05140f0");
    ASSERT_EQ(file["benchmark_results"].size(), 4u);
    const auto& resnet50 = file["benchmark_results"][0];
    EXPECT_EQ(resnet50["model"], "resnet50");
    EXPECT_EQ(resnet50["batch_size"], 32);
    ASSERT_EQ(resnet50["result"].size(), 6u);
    EXPECT_EQ(resnet50["result"][5]["ranks"].size(), 16u);
    EXPECT_EQ(resnet50["result"][5]["measurements"].size(), 1600u);
    EXPECT_EQ(resnet50["result"][0]["measurements"][0], 0.097);
}

TEST_F(ddp, the_file_of_a_job_without_a_serial_run_loses_no_row_to_those_who_skip_the_first) {
    Job job("only two");
    job.add("resnet50", "2 GPUs", 2, {1e5, 1e5, 1e5, 1e5});
    job.write(path() / "two");
    const auto result =
        nlohmann::json::parse(run({"export", "-f", "ddp-json", "two"}))["benchmark_results"][0]["result"];
    ASSERT_EQ(result.size(), 2u);
    EXPECT_TRUE(result[0]["measurements"].empty());
    EXPECT_EQ(result[1]["ranks"], nlohmann::json({0, 1}));
    EXPECT_NE(run({"diff", "--layout", "ddp", "two", "two"}).find("   2 GPUs:  p75:    0.100s     320/s     -0.0%"),
              std::string::npos);
}

TEST_F(ddp, marks_outside_all_regions_are_of_the_model_that_the_label_says) {
    ProfileSpec spec;
    spec.mpi_family = format::MpiFamily::none;
    spec.mpi_library = "";
    spec.labels = {{"model", "resnet50"}};
    spec.regions = {{.name = "iteration",
                     .durations_ns = iterations_of({97e3, 97e3, 97e3, 97e3}),
                     .is_iteration = true,
                     .items = 3200,
                     .has_single_times = true}};
    fs::create_directories(path() / "serial");
    write_profile(path() / "serial", spec);
    const std::string text = run({"text", "--layout", "ddp", "serial"});
    EXPECT_TRUE(text.starts_with("Benchmark: resnet50 with batch size 32\n")) << text;
    EXPECT_NE(text.find("   1 GPUs --   no ddp:  p50:  0.097s     329/s"), std::string::npos) << text;
}

TEST_F(ddp, labels_explain_first_what_differs) {
    write_compared();
    const std::string text = run({"diff", "base", "test"});
    EXPECT_NE(text.find("label"), std::string::npos) << text;
    EXPECT_LT(text.find("bucket_size"), text.find("command")) << text;
    EXPECT_NE(run({"summary", "base"}).find("bucket_size=25"), std::string::npos);
}

TEST_F(ddp, ranks_that_disagree_about_a_label_are_said) {
    Job job("mixed");
    job.label("model", "resnet50");
    job.add("resnet50", "2 GPUs", 2, {1e5, 1e5, 1e5, 1e5});
    job.write(path() / "mixed");
    ProfileSpec odd;
    odd.rank = 3;
    odd.size = 16;
    odd.host = "dgx0";
    odd.launch = "mixed";
    odd.labels = {{"model", "vgg"}};
    fs::remove(path() / "mixed" / "mpi_profile.4711.3");
    write_profile(path() / "mixed", odd);
    EXPECT_NE(run({"summary", "mixed"}).find("model=resnet50 (vgg on 1 rank)"), std::string::npos)
        << run({"summary", "mixed"});
}

}  // namespace
}  // namespace mpiprof::test
