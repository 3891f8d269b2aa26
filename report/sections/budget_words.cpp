// One row for each part; that they are in the order of Part is checked when this is compiled.
#include "report/sections/budget_words.h"

#include <fmt/format.h>

#include <array>

namespace mpiprof::report {
namespace {

struct Words {
    Part part;
    std::string_view id, column;
    int drop;
    std::string_view line;  // "{}": the call or the libraries, see line_of()
};

constexpr std::array<Words, part_count> table{{
    {Part::before_init, "before_init_ns", "START", 1, "before {}"},
    {Part::init, "init_ns", "INIT", 2, "in {}"},
    {Part::profiler, "mpiprof_ns", "MPIPROF", 5, "mpiprof itself"},
    {Part::computing, "computing_ns", "COMPUTING", 0, "outside {}: computing and everything else"},
    {Part::blocked, "blocked_ns", "BLOCKED", 0, "off CPU outside {}: I/O, sleep, locks, GPU"},
    {Part::processor, "processor_ns", "RUNNABLE", 0, "runnable, without a CPU"},
    {Part::waiting, "waiting_ns", "WAITING", 0, "waiting for other ranks"},
    {Part::moving, "moving_ns", "MOVING", 0, "moving data"},
    {Part::waiting_or_moving, "waiting_or_moving_ns", "EITHER", 0, "waiting or moving (not separated)"},
    {Part::file, "file_ns", "FILES", 0, "MPI-IO"},
    {Part::other, "other_ns", "OTHER", 4, "other calls"},
    {Part::unreturned, "unreturned_ns", "IN CALL", 0, "in calls that have not returned"},
    {Part::paused, "paused_ns", "PAUSED", 0, "recording paused"},
    {Part::finalize, "finalize_ns", "FINALIZE", 3, "in {}"},
}};

consteval bool is_in_order() {
    for (std::size_t i = 0; i < part_count; ++i)
        if (static_cast<std::size_t>(table[i].part) != i) return false;
    return true;
}
static_assert(is_in_order());

const Words& words_of(Part part) { return table[static_cast<std::size_t>(part)]; }

}  // namespace

std::string_view id_of(Part part) { return words_of(part).id; }
std::string_view column_of(Part part) { return words_of(part).column; }

int drop_of(Part part) { return words_of(part).drop; }

std::string line_of(Part part, const Vocabulary& words) {
    const std::string_view named = part == Part::computing || part == Part::blocked ? words.library
                                   : part == Part::finalize                         ? words.finalize
                                                                                    : words.init;
    return fmt::format(fmt::runtime(words_of(part).line), named);
}

}  // namespace mpiprof::report
