// Tables as text, csv and json; hostile names; numbers as people read them; the exports.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "report/analysis/analysed.h"
#include "report/exports/export.h"
#include "report/merge/merge.h"
#include "report/model/units.h"
#include "report/model/visible.h"
#include "report/read/profile_reader.h"
#include "report/sections/section.h"
#include "report/views/fitting.h"
#include "report/views/pictures.h"
#include "report/views/view.h"
#include "tests/report/goldens.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using nlohmann::json;
using report::Job;

// ---- numbers ----

TEST(units, times_have_three_or_four_digits) {
    EXPECT_EQ(report::human_time(0), "0 s");
    EXPECT_EQ(report::human_time(84), "84 ns");
    EXPECT_EQ(report::human_time(999.6), "1.00 us");
    EXPECT_EQ(report::human_time(767e3), "767 us");
    EXPECT_EQ(report::human_time(999.96e3), "1.00 ms");
    EXPECT_EQ(report::human_time(18.64e6), "18.6 ms");
    EXPECT_EQ(report::human_time(5.6959e9), "5.696 s");
    EXPECT_EQ(report::human_time(15.548e9), "15.55 s");
    EXPECT_EQ(report::human_time(131.48e9), "131.5 s");
    EXPECT_EQ(report::human_time(86400e9), "24.00 h");
}

TEST(units, sizes_are_binary_and_rates_decimal) {
    EXPECT_EQ(report::human_bytes(8), "8 B");
    EXPECT_EQ(report::human_bytes(2.5), "2.5 B");
    EXPECT_EQ(report::human_bytes(1023), "1023 B");
    EXPECT_EQ(report::human_bytes(1024), "1 KiB");
    EXPECT_EQ(report::human_bytes(5642.8), "5.5 KiB");
    EXPECT_EQ(report::human_bytes(4719155.9), "4.5 MiB");
    EXPECT_EQ(report::human_bytes(3.0 * (1u << 30)), "3 GiB");
    EXPECT_EQ(report::human_bytes(0x1p64), "16 EiB");
    EXPECT_EQ(report::human_rate(253.1e6), "253 MB/s");
    EXPECT_EQ(report::human_rate(4.66e6), "4.7 MB/s");
    EXPECT_EQ(report::human_rate(12345.6e6), "12,346 MB/s");
}

TEST(units, counts_are_exact_until_ten_million) {
    EXPECT_EQ(report::human_count(7428), "7,428");
    EXPECT_EQ(report::human_count(9'999'999), "9,999,999");
    EXPECT_EQ(report::human_count(23'400'000), "23.40 M");
    EXPECT_EQ(report::human_count(1.5), "1.5");
    EXPECT_EQ(report::human_count(0), "0");
    EXPECT_EQ(report::human_share(0.366), "36.6%");
    EXPECT_EQ(report::human_share(1), "100%");
    EXPECT_EQ(report::human_share(0.0001), "<0.1%");
    EXPECT_EQ(report::human_share(0), "0.0%");
}

// ---- pictures ----

TEST(pictures, bars_are_drawn_in_eighths) {
    EXPECT_EQ(report::bar(1, 4, true), "████");
    EXPECT_EQ(report::bar(0.5, 3, true), "█▌");
    EXPECT_EQ(report::bar(0, 4, true), "");
    EXPECT_EQ(report::bar(2, 4, true), "████");
    EXPECT_EQ(report::bar(0.5, 4, false), "##");
}

TEST(pictures, a_sparkline_keeps_an_outlier_among_many_ranks) {
    std::vector<double> values(1000, 1.0);
    values[500] = 2.0;
    const std::string line = report::sparkline(values, report::range_of(values), 10, true);
    EXPECT_EQ(report::display_width(line), 10);
    EXPECT_NE(line.find("█"), std::string::npos);
}

TEST(pictures, noise_stays_low) {
    const std::vector<double> values{100, 100.1, 99.9};
    EXPECT_EQ(report::sparkline(values, report::range_of(values), 10, true), "▁▁▁");
}

TEST(pictures, a_heat_map_shades_from_nothing_to_the_largest) {
    const std::vector<double> values{0, 1, 30, 60, 100};
    EXPECT_EQ(report::heat(values, {0, 100, false}, 10, true), " ░▒▓█");
    EXPECT_EQ(report::heat(values, {0, 100, false}, 10, false), " .+x#");
    const std::vector<double> powers{0, 1, 10, 100, 1000};
    EXPECT_EQ(report::heat(powers, {1, 1000, true}, 10, true), " ░▒▓█");
    EXPECT_EQ(report::heat(std::vector<double>{0, 7}, {7, 7, true}, 10, true), " █");
}

TEST(pictures, a_heat_map_tells_what_is_not_known_from_nothing) {
    EXPECT_EQ(report::heat(std::vector<double>{0, report::not_known, 1}, {0, 1, false}, 10, true), " -█");
    EXPECT_EQ(report::heat(std::vector<double>{report::not_known, 0, report::not_known, report::not_known},
                           {0, 1, false}, 2, false),
              " -");
}

TEST(pictures, a_heat_map_keeps_what_is_hot_when_it_is_narrow) {
    std::vector<double> values(100, 0.0);
    values[55] = 1;
    EXPECT_EQ(report::heat(values, {0, 1, false}, 10, true), "     █    ");
}

TEST(pictures, each_segment_of_the_summary_has_a_glyph_of_its_own) {
    const auto tables = report::find_section("summary")->answer(job_of(killed_in_receive()), {});
    ASSERT_TRUE(tables);
    const auto bar = std::find_if(tables->begin(), tables->end(), [](const auto& t) { return t.id == "shares"; });
    ASSERT_NE(bar, tables->end());
    const std::size_t segments = std::get<report::StackedBar>(bar->picture).segments.size();
    for (const bool utf8 : {false, true}) {
        std::set<std::string_view> glyphs;
        for (std::size_t i = 0; i < segments; ++i) glyphs.insert(report::stacked_glyph(i, utf8));
        EXPECT_EQ(glyphs.size(), segments);
    }
}

TEST(pictures, segments_fill_the_bar_and_small_ones_are_seen) {
    for (const std::vector<double>& shares :
         std::vector<std::vector<double>>{{0.9, 0.05, 0.03, 0.02}, {0.333, 0.333, 0.334}, {1.0}, {0.985, 0.015}}) {
        const auto widths = report::stacked_widths(shares, 40);
        std::size_t total = 0;
        for (const std::size_t width : widths) {
            EXPECT_GE(width, 1);
            total += width;
        }
        EXPECT_EQ(total, 40);
    }
}

// ---- names from outside ----

const std::string hostile =
    "\x1b[31mred\x1b[0m\n\r\tEvil\x07 \xff\xfe \xe2\x80\xae"
    "abc \xc2\x9b"
    "31m, \"quoted\"; =1+1 </script>";

TEST(hostile_names, show_their_control_characters) {
    EXPECT_EQ(report::visible("a\x1b[31mb", true), "a\\x1b[31mb");
    EXPECT_EQ(report::visible("a\nb", true), "a\\nb");
    EXPECT_EQ(report::visible("\xff", true), "\\xff");
    EXPECT_EQ(report::visible("\xe2\x80\xae", true), "\\u202e");
    EXPECT_EQ(report::visible("\xc3\xa9t\xc3\xa9", true), "\xc3\xa9t\xc3\xa9");
    EXPECT_EQ(report::visible("\xc3\xa9", false), "\\xe9");
    EXPECT_EQ(report::visible("\xc0\xaf", true), "\\xc0\\xaf");           // overlong
    EXPECT_EQ(report::visible("\xed\xa0\x80", true), "\\xed\\xa0\\x80");  // a surrogate
}

Job hostile_job(const TemporaryDirectory& directory) {
    auto ranks = errors_and_drops();
    for (auto& rank : ranks) {
        rank.command = hostile;
        rank.host = hostile;
        rank.mpi_library = hostile;
        rank.calls.push_back(collective("MPI_\x1b[2J\n\"x\",", {{.calls = 1, .bytes = 8, .time_ns = 5'000'000'000}}));
        write_file(directory.path() / ("mpi_profile.h." + std::to_string(rank.rank)), build(rank));
    }
    return job_of(directory.path());
}

TEST(hostile_names, never_reach_a_terminal_raw) {
    const TemporaryDirectory directory;
    const Job job = hostile_job(directory);
    for (const auto& section : report::sections()) {
        const auto tables = section.answer(job, {});
        ASSERT_TRUE(tables);
        for (const auto& view : report::views())
            for (const char c : view.show({section.name, *tables}, {.width = 80, .has_utf8 = true})) {
                const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                ASSERT_TRUE(!is_control || c == '\n') << view.name;
            }
    }
}

// Lines of a csv text as fields.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
    std::vector<std::vector<std::string>> lines(1, {""});
    bool is_quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"' && is_quoted && i + 1 < text.size() && text[i + 1] == '"')
            lines.back().back() += text[++i];
        else if (c == '"')
            is_quoted = !is_quoted;
        else if (c == ',' && !is_quoted)
            lines.back().emplace_back();
        else if (c == '\n' && !is_quoted)
            lines.push_back({""});
        else
            lines.back().back() += c;
    }
    lines.pop_back();
    return lines;
}

// ---- csv and json of sections ----

void expect_same_in_csv_and_json(std::string_view section, const report::Table& table) {
    const auto lines = parse_csv(report::find_view("csv")->show({section, {table}}, {}));
    const json parsed = json::parse(report::find_view("json")->show({section, {table}}, {}));
    EXPECT_EQ(parsed.at("schema"), report::section_schema);
    EXPECT_EQ(parsed.at("section"), section);
    const json& rows = parsed.at(table.id);
    ASSERT_EQ(rows.size() + 1, lines.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
        ASSERT_EQ(lines[row + 1].size(), lines[0].size());
        for (std::size_t column = 0; column < lines[0].size(); ++column) {
            const json& value = rows[row].at(lines[0][column]);
            const std::string& field = lines[row + 1][column];
            if (value.is_null()) {
                EXPECT_EQ(field, "");
            } else if (value.is_string()) {
                EXPECT_EQ(field, value.get<std::string>());
            } else if (value.is_boolean()) {
                EXPECT_EQ(field, value.get<bool>() ? "true" : "false");
            } else if (value.is_array()) {
                std::istringstream numbers(field);
                std::vector<double> all(std::istream_iterator<double>(numbers), {});
                EXPECT_EQ(all, value.get<std::vector<double>>());
            } else {
                EXPECT_NEAR(std::stod(field), value.get<double>(), 1e-6 * std::abs(value.get<double>()) + 0.51);
            }
        }
    }
}

TEST(views, notes_speak_of_the_columns_that_are_there) {
    report::Table table{.id = "t",
                        .title = {},
                        .columns = {{.id = "name", .title = "NAME"},
                                    {.id = "calls", .title = "CALLS", .unit = report::Unit::count},
                                    {.id = "most", .title = "MOST", .unit = report::Unit::count, .drop = 1}},
                        .rows = {},
                        .notes = {}};
    table.rows = {{std::string(30, 'n'), std::uint64_t{1}, std::uint64_t{2}}};
    table.notes = {report::Note{{"mean", "calls"}, {"the largest, which is; see there", "most"}, {"3 more: --top 4"}},
                   report::Note::on("most", "an estimate; of a kind"), "MOST: of no column"};
    const auto at = [&](unsigned width) {
        return report::find_view("text")->show({"t", {table}}, {.width = width, .has_utf8 = true});
    };
    const std::string narrow = at(40), wide = at(120);
    EXPECT_EQ(narrow.substr(narrow.rfind("  CALLS:")),
              "  CALLS: mean; 3 more: --top 4\n  MOST: of no column\n  hidden: MOST; --width 45\n");
    EXPECT_NE(wide.find("MOST: the largest, which is; see there; 3 more"), std::string::npos);
    EXPECT_NE(wide.find("MOST: an estimate; of a kind"), std::string::npos);
}

TEST(views, of_a_place_the_scopes_are_cut_first) {
    EXPECT_EQ(report::cut_place("    LAMMPS_NS::CommBrick::reverse_comm", 28, true), "    …CommBrick::reverse_comm");
    EXPECT_EQ(report::cut_place("    LAMMPS_NS::CommBrick::reverse_comm", 27, true), "    …reverse_comm");
    EXPECT_EQ(report::cut_place("comm.cpp:12 a::b<c::d>::e::reverse", 20, true), "comm.cpp:12 …reverse");
    EXPECT_EQ(report::cut_place("comm.cpp:12 a::b<c::d>::e::reverse", 26, false), "comm.cpp:12 ...e::reverse");
    EXPECT_EQ(report::cut_place("heat.f90:39 exchange", 14, true), "heat.f90:39 e…");
    EXPECT_EQ(report::cut_place("f(std::string, int)", 40, true), "f(std::string, int)");
    EXPECT_EQ(report::cut_place("a::operator<", 4, true), "…op…");
}

TEST(views, an_empty_table_is_its_note) {
    const report::Table table{
        .id = "t", .title = {}, .columns = {{.id = "name", .title = "NAME"}}, .rows = {}, .notes = {"nothing there"}};
    EXPECT_EQ(report::find_view("text")->show({"t", {table}}, {.width = 40}), "  nothing there\n");
}

TEST(views, csv_and_json_of_a_section_say_the_same_in_base_units) {
    const Job job = job_of(uneven_work());
    for (const auto& section : report::sections()) {
        const auto tables = section.answer(job, {.ranks = {}, .sort = {}, .by = {}, .top = {}, .is_for_screen = false});
        ASSERT_TRUE(tables);
        for (const auto& table : *tables)
            if (!std::holds_alternative<report::Headline>(table.picture))
                expect_same_in_csv_and_json(section.name, table);  // an object in json
    }
}

TEST(views, json_of_the_summary_is_made_for_programs) {
    const Job job = job_of(killed_in_receive());
    const auto tables = report::find_section("summary")->answer(job, {});
    ASSERT_TRUE(tables);
    const json parsed = json::parse(report::find_view("json")->show({"summary", *tables}, {}));
    EXPECT_EQ(parsed.at("job").at("ranks"), 4);
    EXPECT_EQ(parsed.at("job").at("profiles"), 3);
    EXPECT_EQ(parsed.at("job").at("complete"), false);
    EXPECT_EQ(parsed.at("job").at("unfinished"), 3);
    EXPECT_GT(parsed.at("findings").size(), 0);
    EXPECT_EQ(parsed.at("shares").size(), 10);  // always all of them
    EXPECT_EQ(parsed.at("shares").at(0).at("part"), "computing");
    const json& verdict = parsed.at("verdict");
    EXPECT_EQ(verdict.at("rule"), "unfinished");
    EXPECT_EQ(verdict.at("severity"), "serious");
    EXPECT_EQ(verdict.at("run_share"), 1);
    EXPECT_GT(verdict.at("cost_ns"), 0);
    EXPECT_TRUE(verdict.at("ranks").is_string());
}

// ---- exports ----

// What an export of the profiles in a directory writes.
std::string exported(const std::filesystem::path& directory, const char* format) {
    report::Progress progress;
    const auto found = report::find_profiles({directory.string()}, 1, progress);
    const auto job = report::merge(found.launches.front(), 1, progress);
    report::RankReader reader(found.launches.front());
    std::string text;
    report::find_export(format)->write(
        *job, [&](std::uint32_t rank) { return reader.profile(rank); }, [&](std::string_view part) { text += part; },
        [](const report::Problem& problem) { ADD_FAILURE() << problem.line(); });
    return text;
}

std::filesystem::path written(const TemporaryDirectory& directory, const std::vector<ProfileSpec>& ranks) {
    for (const ProfileSpec& rank : ranks) write_profile(directory.path(), rank);
    return directory.path();
}

TEST(export_csv, has_one_line_per_rank_call_size_and_buffer) {
    const TemporaryDirectory directory;
    const std::string text = exported(written(directory, device_buffers()), "csv");
    EXPECT_TRUE(text.starts_with("rank,call,bin_max_bytes,buffer,calls,bytes,time_ns,min_ns,max_ns"));
    EXPECT_NE(text.find("\n1,MPI_Send,4194304,device,100,419430400,200000000,1000000,4000000,0,send,timed,0,0,\n"),
              std::string::npos);
    EXPECT_NE(text.find("\n1,MPI_Send,4194304,host,100,419430400,80000000,700000,1000000,"), std::string::npos);
    expect_golden("exports/balanced_stencil.csv", [] {
        const TemporaryDirectory other;
        return exported(written(other, balanced_stencil()), "csv");
    }());
}

TEST(export_csv, adds_up_to_what_was_recorded) {
    const TemporaryDirectory directory;
    const auto lines = parse_csv(exported(written(directory, background_training()), "csv"));
    std::uint64_t calls = 0, background = 0;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        calls += std::stoull(lines[i][4]);
        background += std::stoull(lines[i][12]);
    }
    EXPECT_EQ(calls, 4 * (600 + 100 + 10));
    EXPECT_EQ(background, 4 * 700);
}

TEST(export_json, has_all_of_it) {
    const TemporaryDirectory directory;
    const json parsed = json::parse(exported(written(directory, killed_in_receive()), "json"));
    EXPECT_EQ(parsed.at("schema"), 1);
    EXPECT_EQ(parsed.at("size"), 4);
    ASSERT_EQ(parsed.at("ranks").size(), 3);
    const json& rank = parsed.at("ranks").at(2);
    EXPECT_EQ(rank.at("rank"), 3);
    EXPECT_EQ(rank.at("state"), "running");
    EXPECT_EQ(rank.at("in_call"), "MPI_Recv");
    EXPECT_EQ(rank.at("usage").at("user_ns"), 10'000'000'000);
    EXPECT_EQ(rank.at("cells").size(), 2);
    EXPECT_EQ(rank.at("histograms").size(), 2);
    std::uint64_t counted = 0;
    for (const json& bucket : rank.at("histograms").at(0).at("buckets")) counted += bucket.at(2).get<std::uint64_t>();
    EXPECT_EQ(counted, 30);
    EXPECT_EQ(parsed.at("rows").at(0).at("ranks"), 3);
}

TEST(export_json, has_communicators_places_and_settings_of_others) {
    ProfileSpec spec = uneven_work()[0];
    spec.size = 1;
    spec.facts = {{format::FactKind::process, "cpus_allowed", "0-3,8"},
                  {format::FactKind::node, "numa_cpus.node1", "8-15"},
                  {format::FactKind::environment, "UCX_TLS", "rc,\"sm"}};
    const TemporaryDirectory directory;
    const json parsed = json::parse(exported(written(directory, {spec}), "json"));
    EXPECT_EQ(parsed.at("comms").at(0).at("name"), "MPI_COMM_WORLD");
    EXPECT_EQ(parsed.at("comms").at(0).at("sums").size(), parsed.at("rows").size());
    const json& placement = parsed.at("placement");
    EXPECT_EQ(placement.at("ranks").at(0).at("cpus_allowed"), "0-3,8");
    EXPECT_EQ(placement.at("nodes").at(0).at("numa_nodes").at(0).at("cpus"), "8-15");
    EXPECT_EQ(placement.at("variables").at(0).at("values").at(0).at("value"), "rc,\"sm");
    EXPECT_EQ(parsed.at("ranks").at(0).at("facts").size(), 3);
}

TEST(export_json, of_hostile_names_is_still_json) {
    const TemporaryDirectory directory;
    hostile_job(directory);
    const json parsed = json::parse(exported(directory.path(), "json"));
    EXPECT_NE(parsed.at("command").get<std::string>().find("\x1b[31mred"),
              std::string::npos);  // escaped in the file, the same inside
    const auto lines = parse_csv(exported(directory.path(), "csv"));
    for (const auto& line : lines) EXPECT_EQ(line.size(), lines[0].size());
}

}  // namespace
}  // namespace mpiprof::test
