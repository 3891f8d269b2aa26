// regions: the parts of the program that it named itself (mpiprof.h, MPI_Pcontrol), and its iterations: how long each
// took, how much of that was MPI.
#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/model/units.h"
#include "report/sections/ratio.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

struct Line {
    const RegionRow* row = nullptr;
    std::uint64_t all_ns = 0;  // elapsed time of all ranks

    double mean_ns() const { return row->ranks ? static_cast<double>(row->time_ns) / row->ranks : 0; }
};

// "solve/halo" on a screen is "  halo" below "solve".
std::string indented(const RegionRow& row) {
    if (row.path.empty()) return "(whole run)";
    const auto depth = static_cast<std::size_t>(std::count(row.path.begin(), row.path.end(), '/'));
    const auto slash = row.path.rfind('/');
    return std::string(2 * depth, ' ') + (slash == std::string::npos ? row.path : row.path.substr(slash + 1));
}

std::vector<Field<Line>> region_fields(const Vocabulary& words) {
    using L = const Line&;
    return {
        {{.id = "name", .title = "REGION", .only_screen = true}, [](L l) { return indented(*l.row); }},
        {{.id = "region", .title = {}, .only_data = true}, [](L l) { return l.row->path; }},
        {{.id = "times", .title = "TIMES", .unit = Unit::count, .only_screen = true},
         [](L l) {
             return l.row->path.empty() || l.row->ranks == 0
                        ? Value()
                        : Value(static_cast<double>(l.row->entered) / l.row->ranks);
         }},
        {{.id = "entered", .title = {}, .unit = Unit::count, .only_data = true},
         [](L l) { return l.row->path.empty() ? Value() : Value(l.row->entered); }},
        {{.id = "time_ns", .title = "TIME", .unit = Unit::time, .same_unit = true}, [](L l) { return l.mean_ns(); }},
        {{.id = "wall_share", .title = "%WALL", .unit = Unit::share},
         [](L l) { return ratio(static_cast<double>(l.row->time_ns), static_cast<double>(l.all_ns)); }},
        {{.id = "mpi_ns", .title = std::string(words.in_library), .unit = Unit::time, .same_unit = true},
         [](L l) { return l.row->ranks ? static_cast<double>(l.row->inner_mpi_ns) / l.row->ranks : 0.0; }},
        {{.id = "mpi_share", .title = std::string(words.share), .unit = Unit::share},
         [](L l) { return ratio(static_cast<double>(l.row->inner_mpi_ns), static_cast<double>(l.row->time_ns)); }},
        {{.id = "bar", .title = {}, .unit = Unit::share, .draw = Draw::full_bar, .drop = 4, .only_screen = true},
         [](L l) { return ratio(static_cast<double>(l.row->inner_mpi_ns), static_cast<double>(l.row->time_ns)); }},
        {{.id = "p50_ns", .title = "MEDIAN", .unit = Unit::time, .drop = 2}, [](L l) { return known(l.row->p50_ns); }},
        {{.id = "p95_ns", .title = "P95", .unit = Unit::time, .drop = 3}, [](L l) { return known(l.row->p95_ns); }},
        {{.id = "largest_ns", .title = "MOST", .unit = Unit::time, .drop = 1, .same_unit = true},
         [](L l) { return known(l.row->largest_ns); }},
        {{.id = "largest_rank", .title = "RANK", .unit = Unit::rank, .drop = 1},
         [](L l) { return l.row->largest_ns ? Value(std::uint64_t{l.row->largest_rank}) : Value(); }},
        {{.id = "ranks", .title = {}, .unit = Unit::count, .only_data = true},
         [](L l) { return std::uint64_t{l.row->ranks}; }},
        {{.id = "own_mpi_ns", .title = {}, .unit = Unit::time, .only_data = true}, [](L l) { return l.row->mpi_ns; }},
        {{.id = "own_calls", .title = {}, .unit = Unit::count, .only_data = true}, [](L l) { return l.row->calls; }},
        {{.id = "own_message_bytes", .title = {}, .unit = Unit::bytes, .only_data = true},
         [](L l) { return l.row->message_bytes; }},
        {{.id = "items", .title = {}, .unit = Unit::count, .only_data = true}, [](L l) { return l.row->items; }},
    };
}

std::vector<Field<Line>> iteration_fields() {
    using L = const Line&;
    std::vector<Field<Line>> fields{
        {{.id = "region", .title = "WITHIN"},
         [](L l) {
             const auto slash = l.row->path.rfind('/');
             return slash == std::string::npos ? std::string("(whole run)") : l.row->path.substr(0, slash);
         }},
        {{.id = "iterations", .title = "ITERATIONS", .unit = Unit::count},
         [](L l) { return l.row->ranks ? static_cast<double>(l.row->entered) / l.row->ranks : 0.0; }},
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
    for (const RegionRow& row : job.regions) (row.is_iteration ? iterations : named).push_back({&row, all_ns});
    std::vector<Table> tables;
    Table table = table_of("regions", region_fields(words), named);
    if (named.size() <= 1) {
        table.notes.push_back("the program names no regions; a program can name them with mpiprof.h (docs/regions.md)");
    } else {
        if (!question.sort.empty())
            if (auto ok = sort_rows(table, question.sort); !ok) return tl::make_unexpected(ok.error());
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
