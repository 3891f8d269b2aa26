// regions: the parts of the program that it named itself (mpiprof.h, MPI_Pcontrol), and its iterations: how long each
// took, how much of that was MPI.
#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/model/units.h"
#include "report/sections/call_columns.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

// As if it were one call: its time, of the ranks that entered it.
struct Line : CallLine {
    const RegionRow* row = nullptr;
};

Line line_of(const RegionRow& row, std::uint64_t all_ns) {
    Line line;
    line.row = &row;
    line.time_ns = row.time_ns;
    line.ranks = row.ranks;
    line.wall_ns = static_cast<double>(all_ns);
    if (row.largest_ns != 0) line.largest_ns = row.largest_ns;
    line.largest_rank = row.largest_rank;
    return line;
}

// "solve/halo" on a screen is "  halo" below "solve".
std::string indented(const RegionRow& row) {
    if (row.path.empty()) return "(whole run)";
    const auto depth = static_cast<std::size_t>(std::count(row.path.begin(), row.path.end(), '/'));
    const auto slash = row.path.rfind('/');
    return std::string(2 * depth, ' ') + (slash == std::string::npos ? row.path : row.path.substr(slash + 1));
}

std::vector<Field<Line>> region_fields(const Vocabulary& words) {
    using L = const Line&;
    const auto mpi_share = [](L l) { return ratio(l.row->inner_mpi_ns, l.time_ns); };
    return side_by_side<Line>({
        {{.id = "name", .title = "REGION", .only_screen = true}, [](L l) { return indented(*l.row); }},
        {in_data("region"), [](L l) { return l.row->path; }},
        {{.id = "times", .title = "TIMES", .unit = Unit::count, .only_screen = true},
         [](L l) { return l.row->path.empty() ? Value() : ratio(l.row->entered, l.row->ranks); }},
        {in_data("entered", Unit::count), [](L l) { return l.row->path.empty() ? Value() : Value(l.row->entered); }},
        columns::time(),
        columns::wall_share(),
        {{.id = "mpi_ns", .title = std::string(words.in_library), .unit = Unit::time, .same_unit = true},
         [](L l) { return l.mean(l.row->inner_mpi_ns); }},
        {{.id = "mpi_share", .title = std::string(words.share), .unit = Unit::share}, mpi_share},
        {bar(4, Draw::full_bar), mpi_share},
        {{.id = "p50_ns", .title = "MEDIAN", .unit = Unit::time, .drop = 2}, [](L l) { return known(l.row->p50_ns); }},
        {{.id = "p95_ns", .title = "P95", .unit = Unit::time, .drop = 3}, [](L l) { return known(l.row->p95_ns); }},
        columns::largest(1),
        {in_data("ranks", Unit::count), [](L l) { return std::uint64_t{l.row->ranks}; }},
        {in_data("own_mpi_ns", Unit::time), [](L l) { return l.row->mpi_ns; }},
        {in_data("own_calls", Unit::count), [](L l) { return l.row->calls; }},
        {in_data("own_message_bytes", Unit::bytes), [](L l) { return l.row->message_bytes; }},
        {in_data("items", Unit::count), [](L l) { return l.row->items; }},
    });
}

std::vector<Field<Line>> iteration_fields() {
    using L = const Line&;
    std::vector<Field<Line>> fields{
        {{.id = "region", .title = "WITHIN"},
         [](L l) {
             const auto slash = l.row->path.rfind('/');
             return slash == std::string::npos ? std::string("(whole run)") : l.row->path.substr(0, slash);
         }},
        {{.id = "iterations", .title = "ITERATIONS", .unit = Unit::count}, [](L l) { return l.mean(l.row->entered); }},
    };
    const struct {
        std::string_view name;
        std::optional<double> RegionRow::*value;
    } percentiles[] = {{"p50", &RegionRow::p50_ns},
                       {"p75", &RegionRow::p75_ns},
                       {"p90", &RegionRow::p90_ns},
                       {"p95", &RegionRow::p95_ns}};
    for (const auto& p : percentiles) {
        std::string title(p.name);
        title[0] = 'P';
        fields.push_back({{.id = std::string(p.name) + "_ns", .title = title, .unit = Unit::time, .same_unit = true},
                          [p](L l) { return known(l.row->*p.value); }});
    }
    // Of one rank, at its median iteration; times the ranks that is the job's.
    fields.push_back({{.id = "items_per_second", .title = "ITEMS/S", .unit = Unit::count}, [](L l) {
                          if (l.row->items == 0 || l.row->entered == 0 || !l.row->p50_ns) return Value();
                          const double per_iteration =
                              static_cast<double>(l.row->items) / static_cast<double>(l.row->entered);
                          return Value(per_iteration / (*l.row->p50_ns / 1e9));
                      }});
    return fields;
}

// What percentiles are made of where that is not every single time.
std::string note_on_percentiles(const std::vector<Line>& lines) {
    std::uint32_t stride = 1;
    bool is_coarse = false;
    for (const Line& line : lines) {
        if (line.row->has_exact_percentiles) stride = std::max(stride, line.row->stride);
        is_coarse |= !line.row->has_exact_percentiles && line.row->p50_ns;
    }
    std::string text;
    if (stride > 1)
        text = fmt::format("for a rank with more than 4,096 iterations, percentiles are over every {}",
                           stride == 2 ? "second one" : fmt::format("{}th", stride));
    if (is_coarse)
        text +=
            fmt::format("{}percentiles are within 5% where individual times are not kept", text.empty() ? "" : "; ");
    return text;
}

}  // namespace

Result<std::vector<Table>> regions(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    const Vocabulary& words = vocabulary_of(job);
    std::uint64_t all_ns = 0;
    for (const Rank& rank : job.ranks) all_ns += rank.elapsed_ns;
    std::vector<Line> named, iterations;
    for (const RegionRow& row : job.regions) (row.is_iteration ? iterations : named).push_back(line_of(row, all_ns));
    std::vector<Table> tables;
    Table table = table_of("regions", region_fields(words), named);
    if (named.size() <= 1) {
        table.notes.push_back("the program names no regions; a program can name them with mpiprof.h (docs/regions.md)");
    } else {
        if (auto ok = sort_rows(table, question); !ok) return tl::make_unexpected(ok.error());
        if (question.top) keep_top(table, *question.top);
        table.notes.push_back(fmt::format(
            "TIMES entered, TIME and {}: mean of the ranks that entered it; inner regions included", words.in_library));
    }
    tables.push_back(std::move(table));
    if (!iterations.empty()) {
        Table marks = table_of("iterations", iteration_fields(), iterations);
        marks.title = "ITERATIONS";
        marks.notes.push_back("ITERATIONS and ITEMS/S are per rank");
        if (const std::string note = note_on_percentiles(iterations); !note.empty()) marks.notes.push_back(note);
        tables.push_back(std::move(marks));
    }
    return tables;
}

}  // namespace mpiprof::report
