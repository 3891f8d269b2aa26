// `mpiprof-report plot`: pictures whose numbers are those of the tables, whose text is text, and which say what they
// are.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "report/model/units.h"
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
    write("other", balanced_stencil());
    EXPECT_GE(marks_of(picture({"sizes", "run", "other"}), "run").size(), 2u) << "of several jobs a curve each";
}

TEST_F(plot, sizes_of_a_job_are_a_histogram_for_each_function) {
    write("run", balanced_stencil());
    const std::string svg = picture({"sizes", "run"});
    double drawn = 0, called = 0;
    const std::regex box("<title>(MPI_\\w+), [0-9.]+ \\w+: ([0-9,]+) calls</title>");
    for (std::sregex_iterator at(svg.begin(), svg.end(), box), end; at != end; ++at) {
        std::string count = (*at)[2];
        std::erase(count, ',');
        drawn += std::stod(count);
    }
    for (const auto& row : columns_of(run({"calls", "run", "--format", "csv"}).out, {"calls_total", "total_bytes"}))
        if (row[1] > 0) called += row[0];
    EXPECT_GT(called, 0);
    EXPECT_EQ(drawn, called) << svg;
    for (const char* name : {"MPI_Isend", "MPI_Irecv", "MPI_Allreduce"})
        EXPECT_NE(svg.find(std::string(">") + name + "</text>"), std::string::npos) << name;
    EXPECT_NE(run({"plot", "sizes", "run"}).out.find("MPI_Isend"), std::string::npos);
}

// The titles of boxes: what is pointed at, and its value.
std::vector<std::pair<std::string, double>> boxes_of(const std::string& svg) {
    std::vector<std::pair<std::string, double>> boxes;
    const std::regex box("<title>([^<]*): ([0-9.e+-]+)</title></rect>");
    for (std::sregex_iterator at(svg.begin(), svg.end(), box), end; at != end; ++at)
        boxes.emplace_back((*at)[1], std::stod((*at)[2]));
    return boxes;
}

TEST_F(plot, ranks_shows_the_times_of_the_table) {
    write("run", uneven_work());
    const std::string svg = picture({"ranks", "run"});
    const auto rows = columns_of(run({"ranks", "run", "--format", "csv"}).out, {"rank", "mpi_ns", "outside_ns"});
    ASSERT_EQ(rows.size(), 4u);
    for (const auto& row : rows)
        EXPECT_NE(
            svg.find(fmt::format("<title>rank {} on nid10001: outside MPI {}", row[0], report::human_time(row[2]))),
            std::string::npos)
            << row[0];
    EXPECT_NE(svg.find("4 ranks on 1 node</text>"), std::string::npos) << "of which run it is";

    const std::string of_two = picture({"ranks", "A=run", "B=run"});
    const auto inside = marks_of(of_two, "B: in MPI");
    ASSERT_EQ(inside.size(), 4u);
    for (const auto& row : rows) {
        const auto at = static_cast<std::size_t>(row[0]);
        EXPECT_NEAR(inside[at].second, row[1] / 1e9, 1e-5 * inside[at].second);
    }
    EXPECT_NE(of_two.find(">Rank</text>"), std::string::npos);
}

// The first table of csv that has these columns.
std::string table_with(const std::string& csv, const std::vector<std::string>& names) {
    std::size_t at = 0;
    for (std::istringstream in(csv); at < csv.size();) {
        std::string line;
        std::getline(in, line);
        const std::string fields = "," + line + ",";
        if (std::all_of(names.begin(), names.end(),
                        [&](const std::string& name) { return fields.find("," + name + ",") != std::string::npos; }))
            return csv.substr(at);
        at += line.size() + 1;
    }
    return "";
}

// 8 ranks around a ring, each of which sends a little more than the one before.
std::vector<ProfileSpec> ring() {
    std::vector<ProfileSpec> ranks = balanced_stencil();
    const auto size = static_cast<std::uint32_t>(ranks.size());
    const auto sent = [](std::uint32_t by) {
        return FlowSpec{.messages = 10, .bytes = 1000 * (by + 1), .time_ns = 100};
    };
    for (std::uint32_t r = 0; r < size; ++r)
        ranks[r].peers = {{.rank = (r + 1) % size, .sent = sent(r)},
                          {.rank = (r + size - 1) % size, .received = sent((r + size - 1) % size)}};
    return ranks;
}

TEST_F(plot, matrix_shows_the_bytes_of_the_pairs) {
    write("run", ring());
    const std::vector<std::string> names{"from", "to", "messages", "bytes"};
    const auto pairs = columns_of(table_with(run({"peers", "run", "--format", "csv"}).out, names), names);
    std::size_t found = 0;
    const auto boxes = boxes_of(picture({"matrix", "run"}));
    for (const auto& row : pairs)
        for (const auto& [name, bytes] : boxes)
            found += name == fmt::format("{:g}, {:g}", row[0], row[1]) && bytes == row[3];
    EXPECT_EQ(found, boxes.size());
    EXPECT_EQ(found, 8u);
    EXPECT_EQ(run({"plot", "matrix", "run", "run"}).code, 2) << "one job a picture";

    const std::string border = "stroke-dasharray=\"2 2\"", two = picture({"matrix", "run"});
    ASSERT_NE(two.find(border), std::string::npos) << "where the second node begins";
    EXPECT_NE(two.find(border, two.find(border) + 1), std::string::npos) << "along both axes";
    auto on_one_node = ring();
    for (ProfileSpec& rank : on_one_node) rank.host = "a";
    write("one", on_one_node);
    EXPECT_EQ(picture({"matrix", "one"}).find(border), std::string::npos);
}

TEST_F(plot, diff_shows_the_times_of_the_calls) {
    write("a", uneven_work());
    write("b", balanced_stencil());
    const std::string svg = picture({"diff", "a", "b"});
    const std::vector<std::string> names{"call", "size_bytes", "a_ns", "b_ns"};
    const std::string csv = run({"diff", "a", "b", "--format", "csv"}).out;
    const auto rows = columns_of(table_with(csv, names), names);
    const auto boxes = boxes_of(svg);
    ASSERT_GE(boxes.size(), 4u) << svg;
    std::size_t found = 0;
    for (const auto& [name, seconds] : boxes)
        for (const auto& row : rows)
            if (seconds == 0 || std::abs(row[2] / 1e9 / seconds - 1) < 1e-4 ||
                std::abs(row[3] / 1e9 / seconds - 1) < 1e-4) {
                ++found;
                break;
            }
    EXPECT_EQ(found, boxes.size()) << csv << svg;
}

TEST_F(plot, two_machines_are_compared_from_one_base) {
    const std::string svg = picture(with({"scaling", "--unit", "gpu", "--show", "performance"}, both));
    const auto k80 = marks_of(svg, "K80"), rtx = marks_of(svg, "RTX");
    ASSERT_EQ(rtx.size(), 10u);
    EXPECT_EQ(k80[0].second, 1);
    EXPECT_NEAR(rtx[0].second, 226.0 / 171, 1e-4) << "the latter is 30% faster on one";
    EXPECT_NE(svg.find("Times as fast as K80 at N = 1"), std::string::npos);
    EXPECT_EQ(marks_of(picture(with({"scaling", "--show", "time"}, both)), "K80")[3].second, 76);
}

TEST_F(plot, without_a_file_it_is_drawn_on_the_terminal) {
    const Ran ran = run(with({"plot", "scaling", "--unit", "gpu"}, both));
    EXPECT_EQ(ran.code, 0) << ran.err;
    expect_fits(ran.out, 80);
    expect_golden("screens/plot_of_two_series.txt", ran.out);
    write("run", ring());
    write("other", uneven_work());
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"ranks", "run"}, {"matrix", "run"}, {"sizes", "run"}, {"diff", "run", "other"}}) {
        const Ran drawn = run(with({"plot"}, words));
        EXPECT_EQ(drawn.code, 0) << words[0] << drawn.err;
        expect_fits(drawn.out, 80);
        EXPECT_GT(std::count(drawn.out.begin(), drawn.out.end(), '\n'), 4) << words[0];
    }
}

TEST_F(plot, runs_that_are_waited_for_are_waited_for) {
    auto ranks = uneven_work();
    ranks.pop_back();
    write("run", ranks);
    const Ran ran = run({"plot", "ranks", "run", "--wait", "0.6"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.err.find("waiting up to"), std::string::npos) << ran.err;
}

TEST_F(plot, names_from_outside_cannot_break_the_picture) {
    const std::string svg = picture({"scaling", "<b>&\"\x1b=1=2", "<b>&\"\x1b=2=1"});
    EXPECT_EQ(svg.find("<b>"), std::string::npos);
    EXPECT_NE(svg.find("&lt;b&gt;&amp;&quot;\\x1b</text>"), std::string::npos) << svg;
}

TEST_F(plot, what_cannot_be_written_is_said) {
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

TEST_F(plot, its_kind_and_its_options_stand_in_any_order_and_a_missing_kind_is_told) {
    write("run", uneven_work());
    EXPECT_EQ(run({"plot", "-o", "p.SVG", "ranks", "run"}).code, 0);
    EXPECT_TRUE(read_file(path() / "p.SVG").starts_with("<svg"));
    const Ran none = run({"plot", "run"});
    EXPECT_EQ(none.code, 2);
    EXPECT_NE(none.err.find("plot draws scaling, bandwidth, sizes, ranks, matrix, time, diff"), std::string::npos)
        << none.err;
    EXPECT_NE(run({"plot", "--help"}).out.find("KIND one of scaling, bandwidth"), std::string::npos);
    const Ran csv = run({"plot", "ranks", "run", "--format", "csv"});
    EXPECT_EQ(csv.code, 2);
    EXPECT_NE(csv.err.find("has no --format"), std::string::npos) << csv.err;
}

TEST_F(plot, a_dozen_curves_with_long_names_are_told_apart) {
    std::vector<std::string> words{"scaling"};
    const std::string common(60, 'x');
    for (int i = 0; i < 12; ++i)
        for (int n : {1, 2}) words.push_back(fmt::format("run-{}-{:02}={}={}", common, i, n, 100 * (i + 1) / n));
    const std::string svg = picture(words);
    const std::regex line("<polyline[^>]*>"), legend(">(run-x+\u2026x*-[0-9][0-9])<");
    std::set<std::string> looks, names;
    const std::regex look("stroke=\"[^\"]*\"|stroke-dasharray=\"[^\"]*\"");
    for (std::sregex_iterator at(svg.begin(), svg.end(), line), end; at != end; ++at) {
        const std::string text = at->str();
        std::string seen;
        for (std::sregex_iterator part(text.begin(), text.end(), look); part != end; ++part) seen += part->str();
        looks.insert(seen);
    }
    for (std::sregex_iterator at(svg.begin(), svg.end(), legend), end; at != end; ++at) names.insert((*at)[1]);
    EXPECT_EQ(looks.size(), 12u);
    EXPECT_EQ(names.size(), 12u) << svg.substr(0, 3000);
}

TEST(chart, one_point_and_equal_points_are_drawn) {
    for (const auto kind :
         {report::ChartAxis::Kind::linear, report::ChartAxis::Kind::bytes, report::ChartAxis::Kind::decades}) {
        const report::Chart chart{
            .title = "t", .x = {kind, "x"}, .y = {kind, "y"}, .curves = {{.name = "", .points = {{8, 3}}}}};
        const std::string svg = report::svg_of(chart);
        EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
        EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
    }
}

}  // namespace
}  // namespace mpiprof::test
