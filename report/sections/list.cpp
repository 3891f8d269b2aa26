// The list of sections: a new one is a file beside this and a line here.
#include <algorithm>
#include <array>

#include "report/sections/sections.h"

namespace mpiprof::report {
namespace {

constexpr std::array<std::string_view, 2> calls_by{"size", "call"};
constexpr std::array<std::string_view, 2> ranks_by{"rank", "node"};
constexpr std::array<std::string_view, 2> comms_by{"communicator", "call"};
constexpr std::array<std::string_view, 5> sites_by{"stack", "line", "function", "file", "call"};
constexpr std::array<std::string_view, 2> placement_by{"rank", "group"};

constexpr std::array all{
    Section{"summary", "what ran, where the MPI time went, how even the ranks are", {}, false, summary},
    Section{"calls", "every call by message size: counts, bytes, times, percentiles", calls_by, true, calls},
    Section{"sites", "from where in the program MPI is called: file, line, function and its callers", sites_by, true,
            sites, true, true},
    Section{"ranks", "every rank or node: time in and outside MPI, memory, CPU", ranks_by, true, ranks},
    Section{"regions",
            "the parts and iterations that the program names: time, share of MPI, percentiles",
            {},
            true,
            regions,
            false},
    Section{"time", "when each rank was inside MPI, from start to end", {}, false, time, true},
    Section{"hang", "where each rank stands, since when, and who waits for whom", {}, false, hang, true},
    Section{"comms", "every communicator: how it was made, its calls, bytes and time", comms_by, true, comms},
    Section{"nccl", "every communicator of NCCL: calls, bytes and host time, and the groups", {}, true, nccl, false},
    Section{"peers", "who sends how much to whom: a map, nodes, the largest pairs, better placements", {}, true, peers},
    Section{"placement", "cores, devices and memory of every rank, and what is wrong with them", placement_by, true,
            placement, true, false, true},
    Section{"settings", "the settings of mpiprof in force, and where each is from", {}, false, settings},
};

}  // namespace

std::span<const Section> sections() { return all; }

const Section* find_section(std::string_view name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Section& s) { return s.name == name; });
    return found == all.end() ? nullptr : found;
}

}  // namespace mpiprof::report
