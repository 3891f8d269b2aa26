// What differs between two sets of runs: what explains it first, then one time that is tested, then everything that
// attributes it. Runs in, values out; difference_tables puts them into words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/compare/run.h"
#include "report/statistics/statistics.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {

// What else of a job two runs are compared by: from where it called, who talked to whom. Scaling does without;
// run_detail.cpp finds it.

// Calls from one function, or from one place where functions are not known: lines move when a program is changed.
struct RunSite {
    std::string call;
    std::string place;
    std::uint64_t calls = 0;
    std::uint64_t time_ns = 0;
};

struct RunPair {
    std::uint32_t from = 0, to = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

struct RunDetail {
    std::string source;               // the same of the same launch in the same place
    std::string program;              // the name of its file
    std::vector<RunSite> sites;       // by call, place
    std::vector<RunPair> pairs;       // by from, to; the largest, where there are very many
    std::uint64_t pair_bytes = 0;     // of all
    std::uint64_t between_nodes = 0;  // of these
};

RunDetail detail_of(const Job& job, Symbols& symbols);

struct ComparedRun {
    Run run;
    RunDetail detail;
};

struct Side {
    std::string name;
    bool is_named = true;           // else it is A or B, for want of a name
    std::vector<ComparedRun> runs;  // never empty

    std::pair<std::uint32_t, std::uint32_t> fewest_and_most_ranks() const;
    bool has_mixed_sizes() const { return fewest_and_most_ranks().first != fewest_and_most_ranks().second; }
};

// The same of both sides: medians over their runs. Empty: that side has none of it.
struct Both {
    std::optional<double> a, b;

    double of_a() const { return a.value_or(0); }
    double of_b() const { return b.value_or(0); }
    // Relative to A; empty where A has none.
    std::optional<double> change() const { return a && *a > 0 && b ? std::optional(*b / *a - 1) : std::nullopt; }
    double difference() const { return of_b() - of_a(); }
};

struct DifferingFact {
    RunFact::Kind kind = RunFact::Kind::program;
    std::string name;
    std::string a, b;  // empty: not known, or not there
};

// How often a function was called, and with how many bytes, where that differs. A side whose runs disagree among
// themselves has a range.
struct CountRange {
    std::uint64_t least = 0, most = 0;

    bool varies() const { return least != most; }
    bool operator==(const CountRange&) const = default;
};
struct DifferingCount {
    std::string call;
    CountRange calls_a, calls_b, bytes_a, bytes_b;
};

// The one time that is tested.
enum class TimeVerdict : std::uint8_t {
    slower,        // B, for certain
    faster,        //
    none_seen,     // the interval holds "no change"
    one_run,       // of one side or both: nothing is known of noise
    too_few,       // no order of so few runs is rare enough
    not_in_turns,  // one side ran before the other: order and change cannot be told apart
    mixed_sizes,   // the runs of a side are of different numbers of ranks: no repeats
    no_time,       // a side has no run that ended as it should, or no such time
};
struct TestedTime {
    TimeChoice time;
    std::vector<double> a, b;  // seconds of its whole runs
    RatioInterval ratio{};     // of b to a
    TimeVerdict verdict = TimeVerdict::no_time;

    bool has_ratio() const { return !a.empty() && !b.empty(); }
    bool is_certain() const {
        return verdict == TimeVerdict::slower || verdict == TimeVerdict::faster || verdict == TimeVerdict::none_seen;
    }
};

// What --fail-on says: whether B is slower than A by more than the share, for certain.
enum class Gate : std::uint8_t { passed, failed, cannot_tell };
Gate gate_of(const TestedTime& tested, double share);

struct DifferingPart {
    Part part = Part::computing;
    Both ns;  // of a rank
};
struct DifferingCall {
    std::string call;
    std::uint8_t bin = 0;
    Buffer buffer = Buffer::host;
    Both calls, size, ns, rate, gpu_ns, gpu_rate;  // calls of all ranks, time of a rank, bytes/s of one call
};
struct DifferingSite {
    std::string call, place;
    Both calls, ns;  // calls of all ranks, time of a rank
};
struct DifferingPair {
    std::uint32_t from = 0, to = 0;
    Both messages, bytes;
};
struct DifferingRegion {
    std::string path;
    bool is_iteration = false;
    Both times, ns, mpi_ns, p50_ns, p95_ns;  // of a rank; of iterations the mean of one
};

struct RunDifference {
    std::vector<DifferingFact> facts;
    std::vector<DifferingCount> counts;
    TestedTime tested;
    double run_ns = 0;  // of A, its process: what parts of the change are parts of
    std::vector<DifferingPart> parts;
    std::vector<DifferingCall> calls;  // by how far their times lie apart
    std::vector<DifferingSite> sites;  // the same
    std::vector<DifferingPair> pairs;  // by how far their bytes lie apart; none where sizes differ
    Both bytes_between_nodes, bytes_of_pairs;
    std::vector<DifferingRegion> regions;
    // What makes some of it meaningless, or harder to read.
    bool is_same_run = false;
    bool are_other_programs = false;
    bool are_other_sizes = false;
    bool has_counts_that_vary = false;
};

// `time`: what is tested; empty: iterations where both sides mark them, else the time of the process.
RunDifference difference_of(const Side& a, const Side& b, const std::optional<TimeChoice>& time);

}  // namespace mpiprof::report
