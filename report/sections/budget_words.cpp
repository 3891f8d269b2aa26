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
    {Part::before_init, "before_init", "START", 1, "before {}"},
    {Part::init, "init", "INIT", 2, "in {}"},
    {Part::profiler, "mpiprof", "MPIPROF", 5, "mpiprof itself"},
    {Part::computing, "computing", "COMPUTING", 0, "outside {}: computing and everything else"},
    {Part::blocked, "blocked", "BLOCKED", 0, "off CPU outside {}: I/O, sleep, locks, GPU"},
    {Part::processor, "processor", "RUNNABLE", 0, "runnable, without a CPU"},
    {Part::waiting, "waiting", "WAITING", 0, "waiting for other ranks"},
    {Part::moving, "moving", "MOVING", 0, "moving data"},
    {Part::waiting_or_moving, "waiting_or_moving", "EITHER", 0, "waiting or moving (not separated)"},
    {Part::file, "file", "FILES", 0, "MPI-IO"},
    {Part::other, "other", "OTHER", 4, "other calls"},
    {Part::unreturned, "unreturned", "IN CALL", 0, "in calls that have not returned"},
    {Part::paused, "paused", "PAUSED", 0, "recording paused"},
    {Part::finalize, "finalize", "FINALIZE", 3, "in {}"},
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
