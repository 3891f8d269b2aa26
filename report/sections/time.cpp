// time: when the ranks were inside MPI, from start to end: all of them over periods, and a map of rank x time. A rank
// that waits while others compute is seen here, and a program that changes its mind halfway.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/analysis/analysed.h"
#include "report/analysis/periods.h"
#include "report/analysis/verdict_moments.h"
#include "report/model/units.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t periods_on_screen = 12;
constexpr std::size_t periods_in_data = 60;  // and columns of the map
constexpr std::size_t lines_on_screen = 32;  // of the map; more ranks are put together

// Of the time that ranks lived and were recorded; several threads in MPI at once may make it more than 1.
Value known_share(const Period& period) { return period.is_recorded() ? Value(period.share()) : Value(); }

struct PeriodLine {
    const Period* period;
    double from_ns, to_ns;
};

Table periods_table(const Periods& periods, const Axis& axis, const Vocabulary& words) {
    using L = const PeriodLine&;
    const double width = axis.length() / static_cast<double>(periods.size());
    std::vector<PeriodLine> lines;
    for (std::size_t i = 0; i < periods.size(); ++i)
        lines.push_back({&periods[i], static_cast<double>(i) * width, static_cast<double>(i + 1) * width});
    const std::vector<Field<PeriodLine>> fields{
        {{.id = "from_ns", .title = "FROM", .unit = Unit::time, .same_unit = true}, [](L l) { return l.from_ns; }},
        {{.id = "to_ns", .title = "TO", .unit = Unit::time, .same_unit = true}, [](L l) { return l.to_ns; }},
        {{.id = "mpi_share", .title = "%WALL", .unit = Unit::share}, [](L l) { return known_share(*l.period); }},
        {bar(0, Draw::full_bar), [](L l) { return known_share(*l.period); }},
        {{.id = "bytes_per_second", .title = "MESSAGES", .unit = Unit::rate},
         [width](L l) {
             return !l.period->is_recorded() ? Value() : Value(width > 0 ? l.period->bytes / (width / 1e9) : 0.0);
         }},
        {in_data("mpi_ns", Unit::time), [](L l) { return l.period->time_ns; }},
        {in_data("message_bytes", Unit::bytes), [](L l) { return l.period->bytes; }},
        {in_data("not_recorded_ns", Unit::time), [](L l) { return l.period->off_ns; }},
    };
    Table table = table_of("periods", fields, lines);
    table.notes.push_back(
        Note::on("mpi_share", fmt::format("share of the time of all ranks that is inside {}; times are since {}",
                                          words.library, words.first_init)));
    return table;
}

struct MapLine {
    std::uint32_t first, last;  // ranks
    std::string host;
    double mpi_share;
    Series shares;
};

MapLine map_line(const std::vector<Lane>& lanes, const Axis& axis, const Job& job) {
    const Periods periods = periods_of(lanes, axis, periods_in_data);
    MapLine line{lanes.front().rank->rank, lanes.back().rank->rank, job.hosts[lanes.front().rank->host], 0, {}};
    Period all;
    for (const Period& period : periods) {
        line.shares.push_back(period.is_recorded() ? std::min(period.share(), 1.0) : not_known);
        all.time_ns += period.time_ns;
    }
    std::uint64_t recorded_ns = 0;
    for (const Lane& lane : lanes) recorded_ns += lane.rank->recorded_ns();
    all.lived_ns = static_cast<double>(recorded_ns);
    line.mpi_share = all.share();
    for (const Lane& lane : lanes)
        if (job.hosts[lane.rank->host] != line.host) line.host = {};
    return line;
}

Table map_table(const std::vector<Lane>& lanes, const Axis& axis, const Analysed& all, bool is_for_screen) {
    const Job& job = all.job;
    using L = const MapLine&;
    const std::size_t per_line = is_for_screen ? (lanes.size() + lines_on_screen - 1) / lines_on_screen : 1;
    std::vector<MapLine> lines;
    for (std::size_t i = 0; i < lanes.size(); i += per_line)
        lines.push_back(map_line({lanes.begin() + static_cast<std::ptrdiff_t>(i),
                                  lanes.begin() + static_cast<std::ptrdiff_t>(std::min(i + per_line, lanes.size()))},
                                 axis, job));
    const std::vector<Field<MapLine>> fields{
        {{.id = "ranks", .title = per_line > 1 ? "RANKS" : "RANK", .only_screen = true},
         [](L l) { return l.first == l.last ? fmt::format("{}", l.first) : fmt::format("{}-{}", l.first, l.last); }},
        {in_data("rank", Unit::rank), [](L l) { return std::uint64_t{l.first}; }},
        {{.id = "host", .title = "HOST", .drop = 2, .only_data = job.hosts.size() < 2}, [](L l) { return l.host; }},
        {{.id = "mpi_share", .title = "%WALL", .unit = Unit::share}, [](L l) { return l.mpi_share; }},
        {{.id = "share_by_period", .title = "FROM START TO END", .unit = Unit::share, .draw = Draw::heat},
         [](L l) { return l.shares; }},
    };
    Table table = table_of("ranks", fields, lines);
    table.title = "RANKS OVER TIME";
    for (const VerdictMoment& moment : verdict_moments(all, axis))
        table.notes.push_back(Note::mark("share_by_period", moment.at,
                                         fmt::format("the mark is when [{}] {}: {}", id_of(moment.rule),
                                                     moment.begins ? "begins" : "ends", human_clock(moment.time_ns))));
    table.notes.push_back(fmt::format("darker: more time inside {}; {} from left to right", vocabulary_of(job).library,
                                      human_time(axis.length())));
    if (const Figures& figures = all.figures(); figures.was_paused()) {
        const bool is_told = std::ranges::any_of(lanes, [](const Lane& lane) { return lane.pauses->width_ns > 0; });
        table.notes.push_back(fmt::format(
            "recording was paused for {} of the run: {}, and not included in a rank's %WALL",
            human_share(figures.paused_share), is_told ? "- where it was for nearly all of a period" : "blank here"));
    }
    return table;
}

}  // namespace

Result<std::vector<Table>> time(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    const std::vector<Lane> lanes = lanes_of(job, question.ranks);
    const Axis axis = axis_of(lanes);
    if (lanes.empty() || axis.length() <= 0) {
        Table none{.id = "periods", .title = {}, .columns = {}, .rows = {}, .notes = {}};
        none.notes.push_back(
            job.is_text ? "mpitrace's text does not say when its calls were made"
            : job.calls.empty()
                ? "no calls were recorded, so there is no timeline: see regions"
                : "these profiles do not say when their calls were made: an older libmpiprof wrote them, or no rank ended");
        return std::vector{none};
    }
    const std::size_t periods = question.is_for_screen ? periods_on_screen : periods_in_data;
    std::vector<Table> tables{periods_table(periods_of(lanes, axis, periods), axis, vocabulary_of(job)),
                              map_table(lanes, axis, all, question.is_for_screen)};
    if (job.activity_stride > 1)
        tables.back().notes.push_back(fmt::format("1 in {} ranks only (memory limit)", job.activity_stride));
    return tables;
}

}  // namespace mpiprof::report
