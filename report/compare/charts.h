// Runs as charts: what `mpiprof-report plot` draws. Numbers are those of the tables.
#pragma once

#include <string>
#include <vector>

#include "report/analysis/analysed.h"
#include "report/compare/difference.h"
#include "report/compare/run.h"
#include "report/compare/scaling_tables.h"
#include "report/compare/transfers.h"
#include "report/plots/bars.h"
#include "report/plots/chart.h"
#include "report/plots/heat_map.h"
#include "report/plots/histograms.h"
#include "report/plots/strip.h"

namespace mpiprof::report {

// What is drawn over N: the speedup of each series with the light diagonal of perfect scaling, its time, or how many
// times as fast each is as the first series at its smallest N, so that machines are compared.
enum class ScalingCurve : std::uint8_t { speedup, time, performance };
Chart scaling_chart(const ScalingReport& report, ScalingCurve curve = ScalingCurve::speedup);

// Bytes over time of single calls, by their size: of the function that moved most bytes in that run, or of `call`.
Chart bandwidth_chart(const std::vector<Run>& runs, const std::string& call);

// The same of messages, from when both sides were there, where jobs have traces; a curve for each kind of buffers.
Chart bandwidth_chart(const std::vector<TransferRun>& runs);

// How many calls that carry messages have which size: of several runs all calls, of one each function with most time.
Chart sizes_chart(const std::vector<Run>& runs);
Histograms sizes_histograms(const Run& run);

// Time inside MPI and outside, rank by rank, of a job; added to what is there of others.
void add_ranks(Chart& chart, const Job& job, const std::string& label);
// Of one job: each rank a bar of its parts.
Strip ranks_strip(const Job& job);

// Bytes from each rank to each other; where there are many, of neighbouring ranks together.
HeatMap matrix_map(const Job& job);

// The share of the time that is spent inside MPI: of each rank over time, and of all ranks as a curve.
HeatMap time_map(const Analysed& all);
void add_time(Chart& chart, const Job& job, const std::string& label);

// The times of those calls of which two sides differ most.
Bars difference_bars(const Side& a, const Side& b, const RunDifference& difference);

}  // namespace mpiprof::report
