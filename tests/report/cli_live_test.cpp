// mpiprof-report on jobs that run: watch, --wait, and writes that are not visible yet.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <sstream>
#include <thread>

#include "tests/report/cli.h"
#include "tests/report/living_rank.h"
#include "tests/report/shown.h"
#include "tests/report/stories.h"

namespace mpiprof::test {
namespace {

TEST_F(cli, watch_shows_a_running_job_until_it_ends) {
    LivingRank rank;
    write({rank.profile()});
    std::thread end([&] {
        usleep(1'500'000);
        rank.end();
    });
    const Ran ran = run({"watch", "--interval", "0.3"});
    end.join();
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_GE(std::count(ran.out.begin(), ran.out.end(), '\n'), 3) << ran.out;
    EXPECT_NE(ran.out.find("; 1 running; "), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find(" now)"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("job 4711 has ended: 1 ended without MPI_Finalize; "), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find('\x1b'), std::string::npos) << "not a terminal: lines are appended";
}

TEST_F(cli, without_proof_is_refused_where_it_means_nothing) {
    write(balanced_stencil());
    const std::pair<std::vector<std::string>, const char*> refused[] = {
        {{"hang", "--until-stuck", "10m", "--without-proof", "2h"}, "--run"},
        {{"hang", "--without-proof", "2h", "--run", "true"}, "--until-stuck"},
        {{"hang", "--until-stuck", "10m", "--run", "true", "--without-proof", "9m"},
         "--without-proof: is shorter than --until-stuck"}};
    for (const auto& [words, why] : refused) {
        const Ran ran = run(words);
        EXPECT_EQ(ran.code, 2);
        EXPECT_TRUE(says(ran.err, why)) << ran.err;
    }
}

TEST_F(cli, watch_changes_no_file) {
    write(balanced_stencil());
    const auto times = [&] {
        std::map<std::string, std::pair<fs::file_time_type, std::uintmax_t>> all;
        for (const auto& entry : fs::directory_iterator(path()))
            all[entry.path()] = {entry.last_write_time(), entry.file_size()};
        return all;
    };
    const auto before = times();
    const Ran ran = run({"watch"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(times(), before);
    EXPECT_TRUE(ran.out.starts_with("job 4711 has ended: 8 finalized; ")) << ran.out;
}

TEST_F(cli, watch_ends_at_an_interrupt) {
    LivingRank rank;
    write({rank.profile()});
    std::thread interrupt([] {
        usleep(1'000'000);
        // The reporter is the other child; it has no name of its own to be found by but its parent.
        const std::string children = read_file(fmt::format("/proc/{0}/task/{0}/children", getpid()));
        std::istringstream pids(children);
        for (pid_t pid = 0; pids >> pid;)
            if (read_file(fmt::format("/proc/{}/cmdline", pid)).find("watch") != std::string::npos) kill(pid, SIGINT);
    });
    const Ran ran = run({"watch", "--interval", "60"});
    interrupt.join();
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.out.find("1 running"), std::string::npos);
}

TEST_F(cli, wait_takes_until_the_last_rank_is_there) {
    auto ranks = balanced_stencil();
    const ProfileSpec last = ranks.back();
    ranks.pop_back();
    write(ranks);
    std::thread later([&] {
        usleep(800'000);
        write({last});
    });
    const Ran ran = run({"--wait", "20"});
    later.join();
    EXPECT_EQ(ran.code, 0);
    EXPECT_NE(ran.out.find("profile complete: 8 of 8 ranks"), std::string::npos) << ran.out;
    EXPECT_NE(ran.err.find("waiting up to 20 s"), std::string::npos) << ran.err;
    fs::remove(path() / "mpi_profile.4711.7");
    const Ran late = run({"--wait", "0.2"});
    EXPECT_NE(late.out.find("INCOMPLETE: 7 of 8"), std::string::npos) << "time is over: what there is";
    EXPECT_EQ(run({"--wait", "soon"}).code, 2);
}

TEST_F(cli, last_writes_that_are_not_visible_yet_are_named) {
    auto ranks = balanced_stencil();
    for (ProfileSpec& spec : ranks) spec.start_realtime_ns = now_ns() - spec.elapsed_ns - 3'000'000'000;
    ranks[5].state = format::State::running;
    ranks[5].elapsed_ns -= 8'000'000'000;
    ranks.pop_back();
    write(ranks);
    const Ran ran = run({});
    EXPECT_EQ(ran.code, 0);
    std::string text = ran.out;
    std::erase(text, '\n');
    EXPECT_NE(text.find("writes of 2 of 8 ranks may not be visible"), std::string::npos) << ran.out;
    EXPECT_NE(run({"calls"}).err.find("--wait 60"), std::string::npos);
    ranks[5] = ranks[4];
    ranks[5].rank = 5;
    write(ranks, "damaged");
    write_file(path() / "damaged" / "mpi_profile.4711.7", "mpiprof profile, format 1.");
    EXPECT_EQ(run({"damaged"}).out.find("--wait"), std::string::npos) << "waiting mends no damaged file";
}

}  // namespace
}  // namespace mpiprof::test
