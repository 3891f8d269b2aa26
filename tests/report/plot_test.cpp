// `mpiprof-report plot`: pictures whose numbers are those of the tables, whose text is text, and which say what they
// are.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

#include "report/plots/chart.h"
#include "tests/report/goldens.h"
#include "tests/report/run_reporter.h"
#include "tests/report/stories.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;

class plot : public testing::Test {
  protected:
    Ran run(std::vector<std::string> words) { return run_reporter(directory_.path(), std::move(words)); }
    std::string picture(std::vector<std::string> words, const std::string& file = "p.svg") {
        words.insert(words.begin(), "plot");
        words.insert(words.end(), {"-o", file});
        const Ran ran = run(words);
        EXPECT_EQ(ran.code, 0) << ran.err;
        return ran.code == 0 ? read_file(path() / file) : "";
    }
    void write(const std::string& name, const std::vector<ProfileSpec>& ranks) {
        fs::create_directories(path() / name);
        for (const ProfileSpec& rank : ranks) write_profile(path() / name, rank);
    }
    const fs::path& path() { return directory_.path(); }

  private:
    TemporaryDirectory directory_;
};

// What the marks of a curve say: x and y.
std::vector<std::pair<double, double>> marks_of(const std::string& svg, const std::string& name) {
    std::vector<std::pair<double, double>> marks;
    const std::regex mark("<title>" + name + (name.empty() ? "" : " at") + " ([0-9.e+-]+): ([0-9.e+-]+)</title>");
    for (std::sregex_iterator at(svg.begin(), svg.end(), mark), end; at != end; ++at)
        marks.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
    return marks;
}

// Columns of csv by name.
std::vector<std::vector<double>> columns_of(const std::string& csv, const std::vector<std::string>& names) {
    std::istringstream in(csv);
    std::string line;
    std::vector<std::string> heads;
    std::vector<std::vector<double>> rows;
    const auto split = [](const std::string& text) {
        std::vector<std::string> fields;
        std::istringstream fields_in(text);
        for (std::string field; std::getline(fields_in, field, ',');) fields.push_back(field);
        return fields;
    };
    while (std::getline(in, line) && !(line.empty() && !rows.empty())) {
        if (line.starts_with('#')) continue;
        const auto fields = split(line);
        if (heads.empty()) {
            heads = fields;
            continue;
        }
        std::vector<double>& row = rows.emplace_back();
        for (const std::string& name : names) {
            const auto i = static_cast<std::size_t>(std::find(heads.begin(), heads.end(), name) - heads.begin());
            row.push_back(i < fields.size() ? std::strtod(fields[i].c_str(), nullptr) : NAN);
        }
    }
    return rows;
}

const std::vector<std::string> both{"K80=1=226", "K80=2=134", "K80=3=95", "K80=4=76", "RTX=1=171",
                                    "RTX=2=108", "RTX=3=79",  "RTX=4=64", "RTX=5=57", "RTX=6=52",
                                    "RTX=7=51",  "RTX=8=49",  "RTX=9=49", "RTX=10=49"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST_F(plot, scaling_shows_the_numbers_of_the_table_and_perfect_scaling) {
    const std::string svg = picture(with({"scaling", "--unit", "gpu"}, both));
    const std::string csv = run(with({"scaling", "--format", "csv"}, both)).out;
    const auto table = columns_of(csv, {"n", "speedup"});
    std::vector<std::pair<double, double>> expected;
    for (const auto& row : table) expected.emplace_back(row[0], row[1]);
    auto drawn = marks_of(svg, "K80");
    const auto rtx = marks_of(svg, "RTX");
    ASSERT_EQ(drawn.size(), 4u);
    drawn.insert(drawn.end(), rtx.begin(), rtx.end());
    ASSERT_EQ(drawn.size(), expected.size());
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        EXPECT_EQ(drawn[i].first, expected[i].first);
        EXPECT_NEAR(drawn[i].second, expected[i].second, 1e-4);
    }
    for (const char* text :
         {">perfect scaling</text>", ">N (GPUs)</text>", ">Speedup</text>", ">K80</text>", ">10</text>"})
        EXPECT_NE(svg.find(text), std::string::npos) << text;
    expect_golden("screens/plot_of_two_series.svg", svg);
}

TEST_F(plot, a_curve_is_told_apart_without_colours) {
    const std::string svg = picture(with({"scaling"}, both));
    EXPECT_NE(svg.find("stroke-dasharray"), std::string::npos);
    EXPECT_NE(svg.find("<circle"), std::string::npos);
    EXPECT_NE(svg.find("<polygon"), std::string::npos);
}

TEST_F(plot, bandwidth_is_that_of_the_calls) {
    write("run", balanced_stencil());
    const std::string svg = picture({"bandwidth", "run", "--call", "MPI_Isend"});
    const auto rows =
        columns_of(run({"calls", "run", "--format", "csv"}).out, {"avg_bytes", "total_bytes", "total_time_ns"});
    const auto marks = marks_of(svg, "run: MPI_Isend");
    ASSERT_EQ(marks.size(), 1u) << svg;
    bool is_there = false;
    for (const auto& row : rows)
        if (row[2] > 0 && std::abs(marks[0].second / (row[1] / row[2] * 1e3) - 1) < 1e-4) is_there = true;
    EXPECT_TRUE(is_there) << marks[0].second;
    EXPECT_NE(svg.find("KiB</text>"), std::string::npos) << "sizes are written as sizes";
    const std::string sizes = picture({"sizes", "run"});
    EXPECT_GE(marks_of(sizes, "run").size(), 2u);
}

TEST_F(plot, names_from_outside_cannot_break_the_picture) {
    const std::string svg = picture({"scaling", "<b>&\"\x1b=1=2", "<b>&\"\x1b=2=1"});
    EXPECT_EQ(svg.find("<b>"), std::string::npos);
    EXPECT_NE(svg.find("&lt;b&gt;&amp;&quot;\\x1b</text>"), std::string::npos) << svg;
}

TEST_F(plot, what_cannot_be_written_is_said) {
    EXPECT_EQ(run({"plot", "scaling", "1=2", "2=1"}).code, 2);
    EXPECT_EQ(run({"plot", "scaling", "1=2", "2=1", "-o", "p.gif"}).code, 2);
    EXPECT_EQ(run({"plot", "-o", "p.svg"}).code, 2);
    EXPECT_EQ(run({"plot", "sizes", "nowhere", "-o", "p.svg"}).code, 3);
    EXPECT_EQ(run({"plot", "scaling", "1=2", "2=1", "-o", "no/where/p.svg"}).code, 1);
    EXPECT_FALSE(fs::exists(path() / "p.svg"));
    // PNG and PDF either work or are refused in one line.
    for (const auto& [file, magic] : {std::pair("p.png", "\x89PNG"), {"p.pdf", "%PDF"}}) {
        const Ran ran = run({"plot", "scaling", "1=2", "2=1", "-o", file});
        if (ran.code == 0) {
            EXPECT_TRUE(read_file(path() / file).starts_with(magic)) << file;
            continue;
        }
        EXPECT_NE(ran.err.find("librsvg"), std::string::npos) << ran.err;
        EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
    }
}

TEST(chart, one_point_and_equal_points_are_drawn) {
    for (const auto kind : {report::Axis::Kind::linear, report::Axis::Kind::bytes, report::Axis::Kind::decades}) {
        const report::Chart chart{
            .title = "t", .x = {kind, "x"}, .y = {kind, "y"}, .curves = {{.name = "", .points = {{8, 3}}}}};
        const std::string svg = report::svg_of(chart);
        EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
        EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
    }
}

}  // namespace
}  // namespace mpiprof::test
