// What stands below a verdict: the line of the source, and the next step.
#include <gtest/gtest.h>

#include <memory>

#include "report/analysis/finding.h"
#include "report/model/given_names.h"
#include "report/sections/rule_words.h"
#include "tests/report/shown.h"
#include "tests/report/stories.h"
#include "tests/report/verdict_jobs.h"

namespace mpiprof::test {
namespace {

// All calls of `job` come from one line of a script, but for those of the first function, of which other lines have
// some.
std::vector<ProfileSpec> with_lines(std::vector<ProfileSpec> job, bool is_spread = false) {
    for (ProfileSpec& rank : job) {
        rank.modules = {{.path = "/home/u/solver.py", .base = 0, .end = 0, .function = "step"}};
        rank.sites.clear();
        for (std::uint64_t line = 101; line < 111; ++line) rank.sites.push_back({{1, line}});
        for (CallSpec& call : rank.calls)
            for (CellSpec& cell : call.cells) cell.site = 1;
        if (!is_spread) continue;
        for (CallSpec& call : rank.calls) {
            const std::vector<CellSpec> cells = call.cells;
            call.cells.clear();
            for (CellSpec cell : cells)
                for (cell.site = 1; cell.site <= 10; ++cell.site) call.cells.push_back(cell);
        }
    }
    return job;
}

TEST(where, line_at_which_others_wait_for_a_slow_rank_stands_below_the_verdict) {
    const std::string text = shown(job_of(with_lines(uneven_work())), "summary", {}, "text", {.width = 200});
    EXPECT_TRUE(
        says(text, "where: ranks wait in MPI_Allreduce at solver.py:101 step, 97.2% of all waiting (an estimate)"))
        << text;
    EXPECT_TRUE(
        says(text,
             "next: mpiprof-report ranks --sort outside; mpiprof-report time. Is it more work, or a slower processor?"))
        << text;
}

TEST(where, no_line_is_named_where_waiting_is_spread_over_many) {
    const std::string text = shown(job_of(with_lines(uneven_work(), true)), "summary", {}, "text", {.width = 200});
    EXPECT_TRUE(says(text, "[slow-rank]")) << text;
    EXPECT_FALSE(says(text, "where:")) << text;
}

// As the compiler leaves an inlined function: another address at each of its callers.
TEST(where, a_line_in_several_places_of_a_program_is_one) {
    const auto job_with = [](unsigned second_line) {
        std::vector<ProfileSpec> ranks = uneven_work();
        for (ProfileSpec& rank : ranks) {
            rank.modules = {{.path = "/home/u/solver"}};
            rank.sites = {{{1, 0x1000}}, {{1, 0x2000}}};
            for (CallSpec& call : rank.calls) {
                const std::vector<CellSpec> cells = call.cells;
                call.cells.clear();
                for (CellSpec cell : cells)
                    for (cell.site = 1; cell.site <= 2; ++cell.site) call.cells.push_back(cell);
            }
        }
        Job job = job_of(ranks);
        const auto names = std::make_shared<report::GivenNames>();
        for (std::vector<report::Module>* modules : {&job.modules, &job.sites.modules})
            for (report::Module& module : *modules) {
                names->add(module.path, module.build_id, 0x1000, {{{"swap", "halo.c", 7}}, ""});
                names->add(module.path, module.build_id, 0x2000, {{{"swap", "halo.c", second_line}}, ""});
                module.names = names;
            }
        return shown(job, "summary", {}, "text", {.width = 300});
    };
    const std::string same = job_with(7), others = job_with(8);
    EXPECT_TRUE(says(same, "where: ranks wait in MPI_Allreduce at halo.c:7 swap, 97.2% of all waiting")) << same;
    EXPECT_FALSE(says(same, "; MPI_Allreduce at")) << same;
    EXPECT_TRUE(says(others, "swap, 48.6% of all waiting (an estimate); MPI_Allreduce at")) << others;
}

TEST(where, data_have_the_line_and_the_next_step) {
    const std::string text = shown(job_of(with_lines(uneven_work())), "summary", {}, "csv");
    for (const char* row : {"site_call,MPI_Allreduce\n", "site_function,step\n", "site_line,101\n", "site_share,0.97",
                            "site_share_is_of,waiting\n", "next,"})
        EXPECT_TRUE(says(text, row)) << row << text;
}

}  // namespace
}  // namespace mpiprof::test
