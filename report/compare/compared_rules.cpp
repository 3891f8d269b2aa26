// The texts, those of diff before those of scaling.
#include "report/compare/compared_rules.h"

#include <array>

namespace mpiprof::report {
namespace {

constexpr std::string_view interval =
    "The median of the changes of all pairs of runs, one of each side, and its interval (Hodges and Lehmann; docs/metrics.md).";

constexpr std::array rules{
    ComparedRule{"slower", "B takes longer than A, and that is no noise.", interval,
                 "The parts of the time, the calls and the sites below it say where."},
    ComparedRule{"faster", "B takes less time than A, and that is no noise.", interval,
                 "The parts of the time, the calls and the sites below it say where."},
    ComparedRule{"none-seen", "The runs may be equally fast: the change is within their noise.", interval,
                 "More runs on each side, A and B in turns, make the interval narrower."},
    ComparedRule{
        "one-run", "One run a side does not tell a change from noise.", "Nothing is known of how runs differ.",
        "mpiprof-report diff A1 A2 A3 A4 A5 --against B1 B2 B3 B4 B5. Counts and sizes are facts from one run on."},
    ComparedRule{"too-few", "So few runs cannot tell: chance alone may order them so.",
                 "No order of these runs is as rare as 5%.", "Five runs a side, A and B in turns."},
    ComparedRule{"not-in-turns", "One side ran before the other, so drift of the machine looks like a change.",
                 "When each run began.", "Run A B B A A B ..., so that whatever drifts meets both."},
    ComparedRule{"mixed-sizes", "The runs of a side have different numbers of ranks, so they are no repeats.",
                 "The size of MPI_COMM_WORLD of each run.", "mpiprof-report scaling compares numbers of ranks."},
    ComparedRule{"no-time", "The time that was asked for is not known of a side.",
                 "No run of that side reached its end, or none has marked iterations or such a region.",
                 "mpiprof-report check names ranks without MPI_Finalize; --time chooses another time."},
    ComparedRule{"caution", "The two sides differ in more than what is compared.",
                 "Program, number of ranks, and whether both are the same run.",
                 "WHAT DIFFERS has settings, environment, libraries and code."},
    ComparedRule{
        "plateau", "From this number on, one more adds little.",
        "The gain of each unit since the line before, in parts of what one alone does, falls below --worth (0.25).",
        "WHERE THE TIME OF A RANK GOES and WHAT STOPS SCALING say why; nothing is said of what was not measured."},
};

}  // namespace

std::span<const ComparedRule> compared_rules() { return rules; }

}  // namespace mpiprof::report
