// The texts, those of diff before those of scaling.
#include "report/compare/compared_rules.h"

#include <array>

namespace mpiprof::report {
namespace {

constexpr std::string_view interval =
    "The median of the changes of all pairs of runs, one of each side, and its interval (Hodges and Lehmann; docs/metrics.md).";

constexpr std::array rules{
    ComparedRule{"slower", "B is significantly slower than A.", interval,
                 "The parts of the time, the calls and the sites below show where."},
    ComparedRule{"faster", "B is significantly faster than A.", interval,
                 "The parts of the time, the calls and the sites below show where."},
    ComparedRule{"none-seen", "No significant difference: the change is within the noise of the runs.", interval,
                 "More runs of each side, A and B in turn, narrow the interval."},
    ComparedRule{"one-run", "One run per side: a change cannot be separated from noise.",
                 "The run-to-run variation is not known.",
                 "mpiprof-report diff A1 A2 A3 A4 A5 --against B1 B2 B3 B4 B5. Counts and sizes need one run only."},
    ComparedRule{"too-few", "Too few runs for a significant result.", "No ordering of these few runs is rarer than 5%.",
                 "Five runs per side, A and B in turn."},
    ComparedRule{"not-in-turns", "One side ran before the other: a drift of the machine looks like a change.",
                 "When each run began.", "Run A B B A A B ..., so that a drift affects both."},
    ComparedRule{"mixed-sizes", "The runs of a side have different numbers of ranks: they are not repeats.",
                 "The size of MPI_COMM_WORLD of each run.", "mpiprof-report scaling compares numbers of ranks."},
    ComparedRule{"no-time", "The requested time is not known for one side.",
                 "No run of that side reached its end, or none marks iterations or such a region.",
                 "mpiprof-report check lists ranks without MPI_Finalize; --time selects another time."},
    ComparedRule{"caution", "The runs differ in more than the change under test.",
                 "Program, number of ranks, and whether both are the same run.",
                 "DIFFERENCES IN SETUP has settings, environment, libraries and code."},
    ComparedRule{"plateau", "Scaling levels off here: one more adds little.",
                 "The marginal speedup per added unit falls below --worth (0.25).",
                 "TIME PER RANK and SCALING LOSS BY CALL say why; sizes that were not measured are not judged."},
};

}  // namespace

std::span<const ComparedRule> compared_rules() { return rules; }

}  // namespace mpiprof::report
