// A launch as one file: whatever is asked of it has the answer that the directory gave, also of killed, running and
// missing ranks; and a file that is damaged is told so in a line.
#include <gtest/gtest.h>
#include <algorithm>
#include <chrono>
#include <thread>

#include "report/analysis/analysed.h"
#include "report/merge/merge.h"
#include "report/read/merged_writer.h"
#include "report/sections/section.h"
#include "report/views/view.h"
#include "tests/report/all_stories.h"
#include "tests/report/living_rank.h"
#include "tests/report/run_reporter.h"
#include "tests/report/seed003_profiles.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;
using report::Found;
using report::Job;

class merged : public testing::Test {
  protected:
    fs::path write(const std::vector<ProfileSpec>& ranks, const std::string& name = "job") {
        fs::create_directories(path() / name);
        for (const ProfileSpec& rank : ranks) write_profile(path() / name, rank);
        return path() / name;
    }
    // In process: the newest launch of `from` as a file.
    fs::path merge(const fs::path& from, const std::string& name = "one.mpiprof") {
        report::Progress progress;
        const Found found = report::find_profiles({from.string()}, 2, progress);
        const auto sizes = report::write_merged(found, found.launches.at(0), (path() / name).string(), 2, progress);
        EXPECT_TRUE(sizes) << sizes.error().line();
        return path() / name;
    }
    Ran run(std::vector<std::string> words) { return run_reporter(path(), std::move(words)); }
    const fs::path& path() { return directory_.path(); }

  private:
    TemporaryDirectory directory_;
};

std::string all_sections(const Job& job, const char* view) {
    std::string text;
    for (const auto& section : report::sections()) {
        report::Question question;
        question.is_for_screen = std::string_view(view) == "text";
        const auto tables = section.answer(job, question);
        text += std::string(section.name) + ":\n";
        text += tables ? report::find_view(view)->show({section.name, *tables}, {.width = 100, .has_utf8 = true})
                       : tables.error().line();
    }
    return text;
}

TEST_F(merged, files_give_every_answer_that_their_directory_gives) {
    for (const Story& story : all_stories()) {
        const fs::path directory = write(story.ranks(), story.name);
        const fs::path file = merge(directory, std::string(story.name) + ".mpiprof");
        const Job from_directory = job_of(directory), from_file = job_of(file);
        for (const char* view : {"text", "json"})
            EXPECT_EQ(all_sections(from_file, view), all_sections(from_directory, view)) << story.name;
    }
}

TEST_F(merged, files_are_operands_of_every_command) {
    write(balanced_stencil(), "before");
    write(uneven_work(), "after");
    ASSERT_EQ(run({"-q", "merge", "-o", "before.mpiprof", "before"}).code, 0);
    ASSERT_EQ(run({"-q", "merge", "-o", "after.mpiprof", "after"}).code, 0);
    const std::vector<std::vector<std::string>> commands{{"summary"},
                                                         {"calls", "--rank", "1"},
                                                         {"sites", "--rank", "0-2"},
                                                         {"text", "--rank", "all"},
                                                         {"export", "-f", "csv"},
                                                         {"export", "-f", "json"},
                                                         {"export", "-f", "folded"},
                                                         {"export", "-f", "line"},
                                                         {"check"},
                                                         {"watch"}};
    for (const char* job : {"before", "after"})
        for (std::vector<std::string> words : commands) {
            words.push_back(job);
            const Ran directory = run(words);
            words.back() += ".mpiprof";
            const Ran file = run(words);
            EXPECT_EQ(answer_of(file), answer_of(directory)) << words[0];
            EXPECT_EQ(file.err, directory.err) << words[0];
            EXPECT_EQ(file.code, directory.code) << words[0];
            EXPECT_FALSE(file.out.empty()) << words[0];
        }
    EXPECT_EQ(run({"diff", "before.mpiprof", "after.mpiprof"}).out, run({"diff", "before", "after"}).out);
    EXPECT_EQ(run({"scaling", "after.mpiprof", "before.mpiprof"}).out, run({"scaling", "after", "before"}).out);
    EXPECT_NE(run({"--brief", "after.mpiprof"}).out.find("after.mpiprof"), std::string::npos)
        << "where it is\n"
        << run({"--brief", "after.mpiprof"}).out;
}

TEST_F(merged, files_keep_the_events_of_traces) {
    ProfileSpec spec = balanced_stencil()[0];
    format::TraceEvent event{};
    event.begin = 1'700'000;
    event.ticks = 1000;
    event.kind = format::TraceKind::call;
    event.call = 1;
    event.tag = -1;
    event.peer = format::peer_unknown;
    format::TraceEvent head{};
    spec.traces = {{.ring = {head, event}, .written = 1}};
    spec.size = 1;
    write({spec});
    merge(path() / "job");
    const Ran directory = run({"export", "-f", "perfetto", "job"});
    EXPECT_EQ(directory.code, 0) << directory.err;
    EXPECT_EQ(run({"export", "-f", "perfetto", "one.mpiprof"}).out, directory.out);
}

TEST_F(merged, files_of_mpitraces_text_are_read_as_the_text_is) {
    fs::create_directories(path() / "job");
    write_file(path() / "job" / "mpi_profile.4711.0", read_file(golden("seed003_cpu.txt")));
    merge(path() / "job");
    EXPECT_EQ(answer_of(run({"summary", "one.mpiprof"})), answer_of(run({"summary", "job"})));
    EXPECT_EQ(run({"ranks", "one.mpiprof"}).out, run({"ranks", "job"}).out);
}

TEST_F(merged, ranks_that_are_missing_stay_missing_and_damaged_ones_damaged) {
    const fs::path directory = write(killed_in_receive());
    write(one_never_arrived(), "other");
    write_file(directory / "mpi_profile.4711.9", "no profile");  // nobody's
    Bytes cut = build(balanced_stencil()[0]);
    cut.resize(5000);
    write_file(directory / "mpi_profile.4711.cut", cut);
    const Ran to_stdout = run({"merge", "-o", "-", "job"});
    EXPECT_EQ(to_stdout.code, 2);
    EXPECT_NE(to_stdout.err.find("is not written to stdout"), std::string::npos) << to_stdout.err;
    const Ran made = run({"merge", "-o", "one.mpiprof", "job"});
    ASSERT_EQ(made.code, 0) << made.err;
    for (const char* section : {"summary", "ranks", "hang", "check"}) {
        const Ran file = run({section, "one.mpiprof"}), from = run({section, "job"});
        EXPECT_EQ(answer_of(file), answer_of(from));
        EXPECT_EQ(file.err, from.err);
        EXPECT_EQ(file.code, from.code);
    }
    EXPECT_NE(run({"summary", "one.mpiprof"}).out.find("INCOMPLETE: 3 of 4 ranks"), std::string::npos);
    EXPECT_EQ(run({"--strict", "summary", "one.mpiprof"}).code, 1);
}

TEST_F(merged, ranks_that_ran_then_are_shown_as_they_were) {
    LivingRank rank;
    const fs::path file = (write({rank.profile()}), merge(path() / "job"));
    const Job live = job_of(path() / "job");
    rank.end();
    ASSERT_EQ(live.ranks[0].life, report::Life::running);
    EXPECT_EQ(job_of(path() / "job").ranks[0].life, report::Life::ended);
    const Job then = job_of(file);
    EXPECT_EQ(then.ranks[0].life, report::Life::running);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(job_of(file).ranks[0].elapsed_ns, then.ranks[0].elapsed_ns) << "the clock of the job stands still";
    ASSERT_EQ(then.notes.size(), 1u);
    EXPECT_NE(text_of(then.notes[0]).find("1 rank was running when the profiles were merged, at 20"),
              std::string::npos);
    EXPECT_EQ(run({"watch", "one.mpiprof"}).code, 0) << "it ends at once";
    EXPECT_EQ(run({"--wait", "100", "summary", "one.mpiprof"}).code, 0) << "nothing to wait for";
}

// Three blocks of ranks, the last of them short.
TEST_F(merged, parts_are_merged_to_the_bytes_that_one_merge_makes) {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 150; ++rank) {
        ranks.push_back(balanced_stencil()[rank % 8]);
        ranks.back().rank = rank;
        ranks.back().size = 150;
    }
    write(ranks);
    ASSERT_EQ(run({"merge", "-o", "whole", "job"}).code, 0);
    const std::string whole = read_file(path() / "whole");
    for (const char* part : {"1/2", "2/2"})
        ASSERT_EQ(run({"merge", "--part", part, "-o", fmt::format("half{}", part[0]), "job"}).code, 0);
    for (const char* part : {"1/5", "2/5", "3/5", "4/5", "5/5"}) {
        const Ran ran = run({"merge", "--part", part, "-o", fmt::format("fifth{}", part[0]), "job"});
        EXPECT_EQ(ran.code, 0);
        if (!fs::exists(path() / fmt::format("fifth{}", part[0])))
            EXPECT_NE(ran.err.find("has no rank of this launch"), std::string::npos) << ran.err;
    }
    const auto merged_from = [&](std::vector<std::string> parts) {
        std::erase_if(parts, [&](const std::string& part) { return !fs::exists(path() / part); });
        EXPECT_GE(parts.size(), 2u);
        parts.insert(parts.begin(), {"merge", "-o", "again"});
        EXPECT_EQ(run(parts).code, 0);
        return read_file(path() / "again") == whole;
    };
    EXPECT_NE(read_file(path() / "half1"), whole);
    EXPECT_TRUE(merged_from({"half2", "half1"})) << "in any order";
    EXPECT_TRUE(merged_from({"fifth1", "fifth2", "fifth3", "fifth4", "fifth5"}));
    ASSERT_EQ(run({"merge", "-o", "inner", "fifth4", "fifth5"}).code, 0);
    EXPECT_TRUE(merged_from({"inner", "half1", "half2"})) << "merges of merges, and ranks that are in two of them";
    // Parts of another cut are made anew.
    std::vector<std::string> words{"merge", "-o", "single"};
    for (std::uint32_t rank = 10; rank < 20; ++rank) words.push_back(fmt::format("job/mpi_profile.4711.{}", rank));
    ASSERT_EQ(run(words).code, 0);
    EXPECT_TRUE(merged_from({"single", "job"}));
    for (const char* wrong : {"0/2", "3/2", "1", "a/b", "1/2x"})
        EXPECT_EQ(run({"merge", "--part", wrong, "-o", "no", "job"}).code, 2) << wrong;
}

TEST_F(merged, files_beside_the_profiles_they_were_made_of_count_once) {
    write(balanced_stencil());
    const std::string alone = answer_of(run({"summary", "job"}));
    ASSERT_EQ(run({"merge", "-q", "-o", "job/all.mpiprof", "job"}).code, 0);
    EXPECT_EQ(answer_of(run({"summary", "job"})), alone);
    EXPECT_EQ(run({"summary", "job"}).err, "");
    for (std::uint32_t rank = 2; rank < 8; ++rank)
        fs::remove(path() / "job" / ("mpi_profile.4711." + std::to_string(rank)));
    EXPECT_EQ(answer_of(run({"summary", "job"})), alone) << "it stands for ranks whose files are gone";
    ASSERT_EQ(run({"merge", "-q", "-o", "again.mpiprof", "job/all.mpiprof"}).code, 0);
    EXPECT_EQ(answer_of(run({"summary", "again.mpiprof"})), alone);
}

TEST_F(merged, files_hold_one_launch_and_what_was_left_out_is_said) {
    write(balanced_stencil());
    std::vector<ProfileSpec> other = uneven_work();
    for (ProfileSpec& rank : other) {
        rank.launch = "pmix:4712.0";
        rank.job = "4712";
        rank.start_realtime_ns += 1'000'000'000;
    }
    write(other);
    const Ran ran = run({"merge", "-o", "one.mpiprof", "job"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find("one.mpiprof: 4 of 4 ranks in "), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("this is launch 1 of 2 here (job 4712); the others are not in it: --launch N"),
              std::string::npos)
        << ran.err;
    ASSERT_EQ(run({"merge", "--launch", "2", "-o", "two.mpiprof", "job"}).code, 0);
    EXPECT_NE(run({"two.mpiprof"}).out.find("job 4711"), std::string::npos);
    EXPECT_EQ(run({"export", "-f", "line", "one.mpiprof", "two.mpiprof"}).out,
              run({"export", "-f", "line", "job"}).out);
}

TEST_F(merged, what_ranks_have_in_common_is_kept_once) {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 200; ++rank) {
        ranks.push_back(two_solvers()[1]);
        ranks.back().rank = rank;
        ranks.back().size = 200;
    }
    const fs::path directory = write(ranks);
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(directory)) bytes += entry.file_size();
    EXPECT_LT(fs::file_size(merge(directory)), bytes / 50);
}

TEST_F(merged, a_file_that_cannot_be_written_is_told_and_leaves_nothing) {
    write(balanced_stencil());
    const Ran ran = run({"merge", "-o", "nowhere/one.mpiprof", "job"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.err.find("nowhere/one.mpiprof: cannot be written: No such file or directory"), std::string::npos)
        << ran.err;
    EXPECT_EQ(run({"merge", "job"}).code, 2) << "-o is needed";
    fs::create_directories(path() / "empty");
    EXPECT_EQ(run({"merge", "-o", "one.mpiprof", "empty"}).code, 3);
    EXPECT_FALSE(fs::exists(path() / "one.mpiprof"));
}

// ---- damage ----

Bytes bytes_of(const fs::path& file) {
    const std::string text = read_file(file);
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
}

// What a reader makes of it: a job, or sentences of one line.
void expect_sentence_or_job(const fs::path& file, bool& has_job) {
    report::Progress progress;
    const Found found = report::find_profiles({file.string()}, 1, progress);
    for (const std::string& line : found.problems) {
        EXPECT_NE(line, "");
        EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    }
    has_job = false;
    for (const report::Launch& launch : found.launches) {
        const auto job = report::merge(launch, 1, progress);
        if (!job)
            EXPECT_NE(job.error().line().find(" is damaged: "), std::string::npos) << job.error().line();
        else
            has_job = true;
    }
    EXPECT_TRUE(!found.launches.empty() || found.problems.size() == 1);
}

TEST_F(merged, files_that_are_cut_off_are_told_so_in_a_line) {
    const Bytes whole = bytes_of(merge(write(killed_in_receive())));
    for (std::size_t length = 1; length < whole.size(); length += 1 + whole.size() / 300) {
        write_file(path() / "cut.mpiprof", Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
        bool has_job = true;
        expect_sentence_or_job(path() / "cut.mpiprof", has_job);
        EXPECT_FALSE(has_job) << length;
    }
    const Ran ran = run({"summary", "cut.mpiprof"});
    EXPECT_EQ(ran.code, 3);
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find("cut.mpiprof: is truncated: "), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("; copy it again, or merge the profiles once more"), std::string::npos) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 2) << "a heading and the line\n" << ran.err;
}

TEST_F(merged, files_with_a_changed_byte_never_say_something_else) {
    const Bytes whole = bytes_of(merge(write(killed_in_receive())));
    const auto all_of_it = [&] { return run({"export", "-f", "json", "changed.mpiprof"}).out; };
    write_file(path() / "changed.mpiprof", whole);
    const std::string unchanged = all_of_it();
    for (std::size_t at = 96; at < whole.size(); at += 1 + whole.size() / 400) {
        Bytes changed = whole;
        changed[at] ^= std::byte{0x41};
        write_file(path() / "changed.mpiprof", changed);
        bool has_job = true;
        expect_sentence_or_job(path() / "changed.mpiprof", has_job);
        // zlib leaves a few bits unused: what they are changes nothing.
        if (has_job) EXPECT_EQ(all_of_it(), unchanged) << "a changed byte at " << at << " was not noticed";
    }
}

TEST_F(merged, files_of_which_a_part_is_damaged_have_the_other_ranks) {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 130; ++rank) {
        ranks.push_back(uneven_work()[0]);
        ranks.back().rank = rank;
        ranks.back().size = 130;
    }
    Bytes bytes = bytes_of(merge(write(ranks)));
    bytes[1000] ^= std::byte{1};  // of the first block
    write_file(path() / "one.mpiprof", bytes);
    const Ran ran = run({"summary", "one.mpiprof"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.out.find("INCOMPLETE: 66 of 130 ranks, missing 0-63"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace mpiprof::test
