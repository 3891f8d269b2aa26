// What people see: whole screens against goldens, at 80 columns, and the rules that hold for every one of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <ostream>
#include <sstream>

#include "report/analysis/analysed.h"
#include "report/sections/section.h"
#include "report/views/view.h"
#include "tests/report/all_stories.h"
#include "tests/report/goldens.h"
#include "tests/report/seed003_profiles.h"
#include "tests/report/shown.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
static void PrintTo(const Story& story, std::ostream* out) { *out << story.name; }  // the end of a test's name
namespace {

using report::Job;
using report::Question;
using report::Screen;

constexpr Screen utf8_screen{.width = 80, .has_utf8 = true};

std::string show(const Job& job, const std::string& section, Question question = {}, Screen screen = utf8_screen,
                 const char* view = "text") {
    setenv("TZ", "UTC", 1);
    tzset();
    return shown(job, section, question, view, screen);
}

// One test for each story.
class screens_of : public testing::TestWithParam<Story> {};

TEST_P(screens_of, story_are_as_reviewed) {
    const Job job = job_of(GetParam().ranks());
    for (const auto& section : report::sections()) {
        const std::string name(section.name);
        const std::string text = show(job, name, name == "summary" ? detailed() : report::Question{});
        expect_golden(std::string("screens/") + GetParam().name + "." + name + ".txt", text);
        expect_fits(text, 80);
    }
}

TEST_P(screens_of, story_fit_every_width_in_utf8_and_ascii) {
    const Job job = job_of(GetParam().ranks());
    for (const auto& section : report::sections())
        for (const unsigned width : {40u, 60u, 72u, 80u, 100u, 132u})
            for (const bool utf8 : {false, true}) {
                const std::string text =
                    show(job, std::string(section.name), detailed(), {.width = width, .has_utf8 = utf8});
                // Below 60 columns a table keeps its most important columns even where they need more.
                if (width >= 60) expect_fits(text, width);
                if (utf8) continue;
                for (const char c : text) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << text;
            }
}

INSTANTIATE_TEST_SUITE_P(every, screens_of, testing::ValuesIn(all_stories()),
                         [](const auto& story) { return std::string(story.param.name); });

TEST(screens, colour_changes_nothing_but_colour) {
    const Job job = job_of(uneven_work());
    const std::string plain = show(job, "summary");
    const std::string painted = show(job, "summary", {}, {.width = 80, .has_utf8 = true, .has_color = true});
    std::string stripped;
    for (std::size_t i = 0; i < painted.size(); ++i) {
        if (painted[i] == '\x1b')
            i = painted.find('m', i);
        else
            stripped += painted[i];
    }
    EXPECT_NE(painted, plain);
    EXPECT_EQ(stripped, plain);
}

TEST(screens, a_summary_without_details_and_one_in_ascii_are_as_reviewed) {
    expect_golden("screens/uneven_work.summary.plain.txt", show(job_of(uneven_work()), "summary"));
    expect_golden("screens/uneven_work.summary.ascii.txt", show(job_of(uneven_work()), "summary", {}, {.width = 80}));
}

TEST(screens, old_mpitrace_text_is_reported_and_marked_as_rounded) {
    const TemporaryDirectory directory;
    write_file(directory.path() / "mpi_profile.4711.0", read_file(golden("seed003_cpu.txt")));
    const std::string text = show(job_of(directory.path()), "summary");
    expect_golden("screens/mpitrace_text.summary.txt", text);
    expect_fits(text, 80);
    EXPECT_NE(text.find("rounded to 1 ms"), std::string::npos);
    EXPECT_NE(text.find("cores are busy per rank"), std::string::npos);
}

// ---- what a verdict may rest on ----

TEST(summary, mpi_on_a_background_thread_is_never_called_lost_time) {
    const std::string text = show(job_of(background_training()), "summary", detailed());
    EXPECT_NE(unwrapped(text).find("on a thread other than the main thread"), std::string::npos);
    EXPECT_NE(text.find("[overlap]"), std::string::npos);
    EXPECT_EQ(text.find("EFFICIENCY"), std::string::npos);  // they would take time outside MPI for compute time
    EXPECT_EQ(text.find("[imbalance]"), std::string::npos);
}

TEST(summary, imbalance_is_judged_on_time_outside_mpi) {
    const std::string text = unwrapped(show(job_of(seed003_cpu()), "summary"));
    EXPECT_NE(text.find("Ranks 0 and 2 spend up to 1.103 s more outside MPI"), std::string::npos);
    EXPECT_NE(text.find("load balance 77.7%"), std::string::npos);
}

TEST(summary, efficiencies_are_those_of_the_pop_model) {
    const std::string text = show(job_of(seed003_cpu()), "summary", {}, utf8_screen, "csv");
    EXPECT_NE(text.find("load_balance,0.7769"), std::string::npos);
    EXPECT_NE(text.find("communication,0.318"), std::string::npos);
    EXPECT_NE(text.find("parallel,0.247"), std::string::npos);
}

TEST(summary, a_call_in_hand_is_in_the_bar_and_in_the_table) {
    const Job job = job_of(one_never_arrived());
    const std::string text = unwrapped(show(job, "summary"));
    EXPECT_NE(text.find("79.9% of the run is inside MPI, mostly in calls that have not returned"), std::string::npos);
    EXPECT_NE(text.find("MPI_Barrier (unfinished) - 15 44.929 s 74.9%"), std::string::npos) << text;
    EXPECT_NE(text.find("MPI_Barrier - 656 3.000 s 5.0%"), std::string::npos) << text;
    EXPECT_NE(text.find("Which ranks wait for which: mpiprof-report hang. [unfinished]"), std::string::npos) << text;
    EXPECT_EQ(text.find("[waits]"), std::string::npos) << "most of the time is in calls that nobody can judge\n"
                                                       << text;

    const std::string calls = unwrapped(show(job, "calls"));
    EXPECT_NE(calls.find("MPI_Barrier (unfinished) - 15 44.929 s 74.9%"), std::string::npos) << calls;
    EXPECT_NE(calls.find("(unfinished): calls that have not returned"), std::string::npos) << calls;
    const std::string csv = show(job, "calls", {}, utf8_screen, "csv");
    EXPECT_NE(csv.find(",total_time_ns,unfinished,"), std::string::npos) << csv;
    EXPECT_NE(csv.find(",true,"), std::string::npos) << csv;
    EXPECT_EQ(csv.find("(unfinished)"), std::string::npos) << csv;
    EXPECT_NE(unwrapped(show(job, "sites")).find("calls that have not returned are not listed here"),
              std::string::npos);
}

TEST(summary, a_job_that_ended_well_speaks_of_no_unfinished_calls) {
    for (const char* section : {"summary", "calls", "sites", "comms"}) {
        const std::string text = unwrapped(show(job_of(uneven_work()), section));
        EXPECT_NE(text.find("TIME"), std::string::npos) << text;
        EXPECT_EQ(text.find("unfinished"), std::string::npos) << text;
        EXPECT_EQ(text.find("not returned"), std::string::npos) << text;
    }
}

// Rank 0 sends eight messages that rank 1 receives.
std::vector<ProfileSpec> one_way() {
    std::vector<ProfileSpec> job(2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        job[rank].rank = rank;
        job[rank].size = 2;
        const CellSpec eight{.calls = 8, .bytes = 8000, .time_ns = 80'000'000, .min_ns = 0, .site = 1};
        job[rank].modules = {{.path = "/home/user/app"}};
        job[rank].sites = {{{1, 0x1234}}};
        job[rank].calls = {rank == 0 ? sends("MPI_Send", {eight}) : receives("MPI_Recv", {eight})};
    }
    return job;
}

TEST(calls, of_some_ranks_only_are_counted_as_they_were_made) {
    const Job job = job_of(one_way());
    for (const char* section : {"summary", "calls"}) {
        const std::string text = unwrapped(show(job, section, detailed()));
        EXPECT_NE(text.find("MPI_Send 1000 B 8 40.000 ms 4.0%"), std::string::npos) << text;
        EXPECT_NE(text.find("CALLS: all ranks together; TIME: mean of 2 ranks"), std::string::npos) << text;
    }
    EXPECT_TRUE(says(unwrapped(show(job, "sites")), "MPI_Send 8 1000 B 40.000 ms 50.0%")) << show(job, "sites");
    EXPECT_NE(unwrapped(show(job, "sites")).find("CALLS: sum over 2 ranks; TIME: their mean"), std::string::npos);
    EXPECT_NE(unwrapped(show(job, "comms")).find("MPI_COMM_WORLD 1 2 16"), std::string::npos) << show(job, "comms");
}

TEST(calls, whose_shortest_took_no_time_have_a_shortest) {
    const Job job = job_of(one_way());
    const std::string csv = show(job, "calls", {}, utf8_screen, "csv");
    std::istringstream lines(csv);
    std::string heads, values;
    std::getline(lines, heads);
    std::getline(lines, values);
    const auto field = [](const std::string& line, std::size_t n) {
        std::istringstream fields(line);
        std::string text;
        for (std::size_t i = 0; i <= n; ++i) std::getline(fields, text, ',');
        return text;
    };
    std::size_t at = 0;
    while (field(heads, at) != "min_ns") ASSERT_LT(++at, 40u) << heads;
    EXPECT_EQ(field(values, at), "0") << csv;
}

TEST(calls, that_send_and_receive_say_so_of_their_size) {
    auto ranks = one_way();
    for (ProfileSpec& rank : ranks)
        rank.calls.push_back({.name = "MPI_Sendrecv",
                              .traffic = format::Traffic::exchange,
                              .cells = {{.calls = 5, .bytes = 10'000, .time_ns = 50'000'000, .site = 1}}});
    const Job job = job_of(ranks);
    for (const char* section : {"summary", "calls", "sites"}) {
        const std::string text = unwrapped(show(job, section));
        EXPECT_NE(text.find("AVG SIZE of MPI_Sendrecv: sent plus received"), std::string::npos) << text;
    }
    EXPECT_EQ(unwrapped(show(job_of(one_way()), "summary")).find("AVG SIZE of"), std::string::npos);
}

TEST(summary, a_balanced_job_gets_no_advice) {
    EXPECT_EQ(show(job_of(balanced_stencil()), "summary").find("FINDINGS"), std::string::npos);
}

TEST(summary, a_missing_rank_is_reported_not_fatal) {
    const std::string text = show(job_of(killed_in_receive()), "summary");
    EXPECT_NE(text.find("INCOMPLETE: 3 of 4 ranks, missing 2"), std::string::npos);
    EXPECT_NE(text.find("Rank 1: called MPI_Abort(3)"), std::string::npos);
}

TEST(summary, says_whether_mpi_calls_itself_cuda_aware) {
    std::vector<ProfileSpec> ranks = balanced_stencil();
    const auto summary_of = [&](const char* said) {
        for (ProfileSpec& rank : ranks) rank.facts = {{format::FactKind::process, "mpi_is_cuda_aware", said}};
        return show(job_of(ranks), "summary");
    };
    EXPECT_NE(summary_of("yes").find("Open MPI 4.1.4, CUDA-aware · "), std::string::npos);
    EXPECT_EQ(summary_of("no").find("CUDA"), std::string::npos) << "there are no GPUs";
    ranks[0].facts[0].value = "yes";
    EXPECT_EQ(show(job_of(ranks), "summary").find("CUDA"), std::string::npos) << "ranks differ";
    ranks[0].facts = {{format::FactKind::process, "mpi_is_cuda_aware", "no"},
                      {format::FactKind::node, "gpu_numa.0000:07:00.0", "0"}};
    EXPECT_NE(show(job_of(ranks), "summary").find("Open MPI 4.1.4, not CUDA-aware"), std::string::npos);
}

TEST(summary, ranks_have_what_the_kernel_counts_of_them) {
    std::vector<ProfileSpec> ranks = balanced_stencil();
    ranks[3].usage.major_faults = 7;
    ranks[3].usage.blocks_out = 2048;
    const Job job = job_of(ranks);
    EXPECT_NE(show(job, "ranks", {}, {.width = 200, .has_utf8 = true}).find("  1 MiB\n"), std::string::npos);
    EXPECT_NE(show(job, "ranks", {}, utf8_screen, "csv").find(",7,0,1048576,"), std::string::npos);
}

TEST(summary, shares_are_of_the_time_that_was_recorded) {
    std::vector<ProfileSpec> ranks = balanced_stencil();  // 456 ms of 10 s in MPI
    for (ProfileSpec& rank : ranks) {
        rank.paused_ns = 9'000'000'000;
        rank.settings = {{.name = "BEGIN_TIME", .value = "9"}, {.name = "END_TIME", .value = "never", .source = 0}};
    }
    const Job job = job_of(ranks);
    const std::string text = unwrapped(show(job, "summary", detailed()));
    EXPECT_NE(text.find("Init to Finalize 10.00 s · 1.000 s of it recorded"), std::string::npos) << text;
    EXPECT_NE(text.find("46.0% of the recorded time is inside MPI"), std::string::npos) << text;
    EXPECT_NE(text.find("bar and %WALL: recorded time, without pauses, Init to Finalize"), std::string::npos) << text;
    EXPECT_TRUE(says(text, "Recording was paused for 90.0% of the run (MPIPROF_BEGIN_TIME=9); that time")) << text;
    EXPECT_NE(show(job, "ranks").find(" 45.6%"), std::string::npos);
    EXPECT_NE(show(job, "calls").find(" 38.4%"), std::string::npos) << "MPI_Waitall";
}

TEST(summary, says_of_what_its_bar_is_and_of_what_its_other_shares_are) {
    const auto of = [](const std::vector<ProfileSpec>& ranks) {
        return unwrapped(show(job_of(ranks), "summary", detailed()));
    };
    EXPECT_TRUE(says(of(balanced_stencil()), "bar and %WALL: the run, Init to Finalize"));
    EXPECT_TRUE(says(of(killed_in_receive()), "bar and %WALL: the run, from MPI_Init on"))
        << "Finalize was not reached";
    EXPECT_TRUE(says(of(gpu_training()), "bar and %WALL: the run, from the first communicator on"));
}

TEST(summary, file_traffic_is_no_message) {
    const std::string text = show(job_of(file_writer()), "summary");
    EXPECT_NE(text.find("MPI-IO 40.0%"), std::string::npos);
    EXPECT_NE(show(job_of(file_writer()), "ranks").find(" 640 B"), std::string::npos);
}

TEST(summary, shares_of_the_run_add_up_to_all_of_it) {
    for (const Story& story : all_stories()) {
        const Job job = job_of(story.ranks());
        const auto tables = report::find_section("summary")->answer(job, {});
        ASSERT_TRUE(tables);
        double total = 0;
        for (const auto& table : *tables)
            if (const auto* bar = std::get_if<report::StackedBar>(&table.picture))
                for (const auto& segment : bar->segments) total += segment.share;
        EXPECT_NEAR(total, 1, 1e-9) << story.name;
    }
}

TEST(summary, other_launches_are_listed_with_how_to_see_them) {
    Job job = job_of(balanced_stencil());
    job.other_launches = {{.number = 2,
                           .launch = "pmix:1",
                           .job = "4710",
                           .command = "./old",
                           .started_at_ns = 1'700'000'000'000'000'000,
                           .files = 4,
                           .size = 4}};
    const std::string text = show(job, "summary");
    EXPECT_NE(text.find("OTHER LAUNCHES HERE"), std::string::npos);
    EXPECT_NE(text.find("--launch"), std::string::npos);
    EXPECT_NE(text.find("./old"), std::string::npos);
}

// ---- asking for something else ----

TEST(calls, one_rank_shows_its_own_counts) {
    const std::string text = show(job_of(uneven_work()), "calls", {.ranks = {2}, .sort = {}, .by = {}, .top = {}});
    EXPECT_NE(text.find("rank 2 of 4"), std::string::npos);
    EXPECT_NE(text.find(" 9.9"), std::string::npos);  // us a call: it never waits
    EXPECT_EQ(text.find("14.7 ms"), std::string::npos);
}

TEST(calls, sizes_of_a_call_are_added_up_on_request) {
    const std::string text =
        show(job_of(background_training()), "calls", {.ranks = {}, .sort = {}, .by = "call", .top = {}});
    EXPECT_NE(text.find("MPI_Allreduce"), std::string::npos);
    EXPECT_EQ(text.find("MPI_Allreduce"), text.rfind("MPI_Allreduce"));
    EXPECT_NE(text.find("  2,800 "), std::string::npos) << text;  // 600 + 100 calls on 4 ranks
}

TEST(calls, buffers_in_device_memory_are_told_apart) {
    const std::string text = show(job_of(device_buffers()), "calls");
    EXPECT_NE(text.find("device"), std::string::npos);
    EXPECT_NE(text.find("host"), std::string::npos);
}

TEST(sorting, is_by_any_column_and_an_unknown_one_names_those_there_are) {
    const Job job = job_of(slow_node());
    const std::string top = show(job, "ranks", {.ranks = {}, .sort = "mpi", .by = {}, .top = 1});
    EXPECT_NE(top.find("3.102 s"), std::string::npos);
    EXPECT_EQ(top.find("nid10006"), std::string::npos);
    const std::string problem = show(job, "ranks", {.ranks = {}, .sort = "colour", .by = {}, .top = {}});
    EXPECT_NE(problem.find("no such column; there is RANK, HOST"), std::string::npos);
}

TEST(summary, says_which_messages_wait_waits_for) {
    const std::string text = unwrapped(show(job_of(late_messages()), "summary"));
    EXPECT_NE(
        text.find("mostly for MPI_Irecv (64 KiB): 18.0% of the run. 40.0% of their time in flight was overlapped"),
        std::string::npos);
}

// Four requests and one Waitall: each has a quarter of its time, but was not overlapped with the other three.
TEST(summary, requests_of_one_waitall_did_not_overlap_each_other) {
    auto ranks = late_messages();
    for (ProfileSpec& rank : ranks) rank.calls[0].cells[0].inside_ns = rank.calls[0].cells[0].in_flight_ns;
    const std::string text = unwrapped(show(job_of(ranks), "summary"));
    EXPECT_NE(text.find("Almost none of their time in flight was overlapped"), std::string::npos) << text;
    EXPECT_TRUE(says(text, "of the run (the time of MPI_Waitall is split evenly among its requests).")) << text;
}

TEST(calls, of_a_sampled_call_are_all_counted) {
    EXPECT_NE(show(job_of(late_messages()), "calls").find("31,980"), std::string::npos);
    const std::string csv = show(job_of(late_messages()), "calls", {}, utf8_screen, "csv");
    EXPECT_NE(csv.find("waited_ns,overlap_share,requests"), std::string::npos);
    EXPECT_NE(csv.find(",1800000000,0.4,1000"), std::string::npos);
}

TEST(summary, a_slow_node_is_named) {
    const std::string text = unwrapped(show(job_of(slow_node()), "summary"));
    EXPECT_NE(text.find("All ranks of node nid10006 (40-47) spend up to"), std::string::npos);
    EXPECT_NE(text.find("[slow-node]"), std::string::npos);
}

TEST(summary, ranks_without_a_core_of_their_own_are_named) {
    EXPECT_NE(show(job_of(crowded_cores()), "summary").find("[crowded]"), std::string::npos);
    EXPECT_EQ(show(job_of(uneven_work()), "summary").find("[crowded]"), std::string::npos);
}

TEST(ranks, of_a_large_job_are_shown_by_node_and_at_both_ends) {
    const std::string text = show(job_of(slow_node()), "ranks");
    EXPECT_NE(text.find("SLOW: +"), std::string::npos);
    EXPECT_NE(text.find("the 5 ranks at each end; 86 more"), std::string::npos);
    EXPECT_EQ(show(job_of(slow_node()), "ranks", {}, utf8_screen, "csv").find("SLOW"), std::string::npos);
}

TEST(settings, say_where_each_is_from_and_which_ranks_differ) {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = 4;
        spec.settings = {{.name = "CLOCK", .value = "auto", .source = 0},
                         {.name = "COMPAT", .value = "mpitrace", .source = 1},
                         {.name = "DIR", .value = "/scratch", .source = 2},
                         {.name = "DEPTH", .value = rank == 2 ? "1" : "8", .source = rank == 2 ? 1u : 0u}};
        ranks.push_back(spec);
    }
    const std::string text = show(job_of(ranks), "settings");
    EXPECT_EQ(text,
              "  SETTING         VALUE     FROM                    RANKS\n"
              "  MPIPROF_COMPAT  mpitrace  environment             all\n"
              "  MPIPROF_DEPTH   8         default                 the other 3 ranks\n"
              "  MPIPROF_DEPTH   1         environment             2\n"
              "  MPIPROF_DIR     /scratch  a variable of mpitrace  all\n"
              "  MPIPROF_CLOCK   auto      default                 all\n"
              "  not all ranks saw the same variables: check that the launcher propagates them\n");
    const std::string csv = show(job_of(ranks), "settings", {}, utf8_screen, "csv");
    EXPECT_NE(csv.find("MPIPROF_DIR,/scratch,other_tool,all,4\n"), std::string::npos) << csv;
}

}  // namespace
}  // namespace mpiprof::test
