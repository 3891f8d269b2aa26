// A page as an operand: what other commands find in it, and what they say of one that is damaged or has nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "report/merge/merge.h"
#include "report/model/base64.h"
#include "report/model/given_names.h"
#include "report/model/page_marks.h"
#include "report/read/job_dir.h"
#include "report/symbols/symbols.h"
#include "tests/report/all_stories.h"
#include "tests/report/files.h"
#include "tests/report/run_reporter.h"
#include "tests/report/stories.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;
using report::base64_of;
using report::bytes_of_base64;
using report::GivenNames;
using report::launch_begins;
using report::names_begin;

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

// RFC 4648, section 10.
TEST(page_data, bytes_become_letters_and_come_back) {
    for (const auto& [text, letters] : {std::pair{"", ""},
                                        {"f", "Zg=="},
                                        {"fo", "Zm8="},
                                        {"foo", "Zm9v"},
                                        {"foob", "Zm9vYg=="},
                                        {"fooba", "Zm9vYmE="},
                                        {"foobar", "Zm9vYmFy"}}) {
        EXPECT_EQ(base64_of(bytes_of(text)), letters);
        EXPECT_EQ(bytes_of_base64(letters), bytes_of(text));
    }
    std::vector<std::byte> all;
    for (int i = 0; i < 1000; ++i) all.push_back(static_cast<std::byte>(i * 7));
    EXPECT_EQ(bytes_of_base64(base64_of(all)), all);
    for (const char* broken : {"Zg=", "Z", "Z===", "Zg==Zg==", "Zm9v!", "====", "Zm 9v"})
        EXPECT_FALSE(bytes_of_base64(broken)) << broken;
}

TEST(page_data, names_of_places_come_back) {
    GivenNames names;
    names.add("/bin/app", "aa", 16, {.lines = {{"inner", "a.c", 3}, {"main", "a.c", 9}}, .problem = ""});
    names.add("/bin/app", "", 16, {.lines = {}, .problem = "is another build"});
    const std::string packed = names.packed();
    const auto back = GivenNames::unpacked(packed);
    ASSERT_TRUE(back);
    ASSERT_NE(back->find("/bin/app", "aa", 16), nullptr);
    EXPECT_EQ(back->find("/bin/app", "aa", 16)->lines.at(1).function, "main");
    EXPECT_EQ(back->find("/bin/app", "", 16)->problem, "is another build");
    EXPECT_EQ(back->find("/bin/app", "aa", 17), nullptr);
    for (std::size_t length = 0; length < packed.size(); ++length)
        EXPECT_FALSE(GivenNames::unpacked(std::string_view(packed).substr(0, length))) << length;
    EXPECT_FALSE(GivenNames::unpacked(packed + "x"));
}

class pages : public ::testing::Test {
  protected:
    void write(const std::vector<ProfileSpec>& ranks, const std::string& name) {
        fs::create_directories(path() / name);
        for (const ProfileSpec& rank : ranks) write_profile(path() / name, rank);
    }
    Ran run(std::vector<std::string> words) { return run_reporter(path(), std::move(words)); }
    std::string page_of(const std::string& name, std::vector<std::string> words = {}) {
        words.insert(words.begin(), {"-q", "html", "-o", name + ".html", name});
        const Ran ran = run(words);
        EXPECT_EQ(ran.code, 0) << ran.err;
        return read_file(path() / (name + ".html"));
    }
    const fs::path& path() { return directory_.path(); }

  private:
    TemporaryDirectory directory_;
};

TEST_F(pages, give_every_answer_that_their_directory_gives) {
    for (const Story& story : all_stories()) {
        write(story.ranks(), story.name);
        page_of(story.name);
        const std::string page = std::string(story.name) + ".html";
        for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
                 {"summary", "--format", "json"}, {"sites"}, {"export", "-f", "json"}, {"hang"}}) {
            std::vector<std::string> words = command;
            words.push_back(story.name);
            const Ran directory = run(words);
            words.back() = page;
            const Ran file = run(words);
            EXPECT_EQ(file.out, directory.out) << story.name << " " << words[0];
            EXPECT_EQ(file.code, directory.code) << story.name << " " << words[0];
        }
    }
}

TEST_F(pages, are_operands_of_diff_and_scaling_and_make_pages_again) {
    write(balanced_stencil(), "before");
    write(uneven_work(), "after");
    page_of("before");
    page_of("after");
    EXPECT_EQ(run({"diff", "A=before.html", "B=after.html"}).out, run({"diff", "A=before", "B=after"}).out);
    EXPECT_EQ(run({"scaling", "A=before.html", "B=after.html"}).out, run({"scaling", "A=before", "B=after"}).out);
    const Ran same = run({"diff", "before.html", "before"});
    EXPECT_EQ(same.code, 0) << same.err;
    EXPECT_NE(same.out.find("ranks and code: no difference"), std::string::npos) << same.out;
    EXPECT_EQ(run({"-q", "html", "-o", "again.html", "before.html"}).code, 0);
    EXPECT_EQ(answer_of(run({"summary", "again.html"})), answer_of(run({"summary", "before"})));
    write(balanced_stencil(), "beside");
    fs::copy_file(path() / "before.html", path() / "beside" / "mpiprof-4711.html");
    EXPECT_EQ(answer_of(run({"summary", "beside"})), answer_of(run({"summary", "before"})))
        << "in a directory a page is no rank";
}

TEST_F(pages, that_are_damaged_say_what_of_them) {
    write(balanced_stencil(), "job");
    const std::string whole = page_of("job");
    const auto says = [&](const std::string& text, std::string_view what) {
        write_file(path() / "broken.html", text);
        const Ran ran = run({"summary", "broken.html"});
        EXPECT_EQ(ran.code, 3);
        EXPECT_NE(ran.err.find("broken.html: " + std::string(what)), std::string::npos) << ran.err;
    };
    const std::size_t data = whole.find(launch_begins) + launch_begins.size(),
                      names = whole.find(names_begin) + names_begin.size();
    ASSERT_LT(data, names);
    std::string broken = whole;
    broken[data + 3] = '!';
    says(broken, "is damaged: its data");
    broken = whole;
    broken[names + 14] = broken[names + 14] == 'A' ? 'B' : 'A';
    says(broken, "is damaged: its names of functions");
    says(whole.substr(0, data + 200), "is a page without data");
    says(page_of("job", {"--data", "none"}), "is a page without data");
    says(page_of("job", {"--private"}), "is a page without data");
    const std::size_t end = whole.find("</script>", names);
    for (std::size_t length = data; length < end; length += 1 + (end - data) / 40) {
        write_file(path() / "broken.html", whole.substr(0, length));
        EXPECT_NE(run({"summary", "broken.html"}).err, "") << length;
    }
}

// Whose page it is may not send the reader's machine to any file of its choice.
TEST_F(pages, name_no_file_that_is_opened) {
    write(two_solvers(), "job");
    page_of("job");
    report::Progress progress;
    const report::Found found = report::find_profiles({(path() / "job.html").string()}, 1, progress);
    const auto job = report::merge(found.launches.at(0), 1, progress);
    ASSERT_TRUE(job);
    for (const auto* modules : {&job->modules, &job->sites.modules})
        for (std::size_t i = 1; i < modules->size(); ++i) EXPECT_TRUE((*modules)[i].names) << (*modules)[i].path;
    report::Module hostile;
    hostile.path = "/proc/self/exe";
    hostile.names = job->sites.modules.back().names;
    ASSERT_GT(job->sites.modules.size(), 1u);
    report::Symbols symbols;
    EXPECT_TRUE(symbols.at(hostile, 0x1000).lines.empty());
    EXPECT_EQ(symbols.at(hostile, 0x1000).problem, "");
}

// ---- private ones ----

TEST_F(pages, that_are_private_have_no_word_of_whose_they_are) {
    std::vector<ProfileSpec> ranks = balanced_stencil();
    for (ProfileSpec& rank : ranks) {
        rank.host = "secrethost";
        rank.command = "/home/secretuser/secretprogram --secretflag";
        rank.job = "4711.secretserver.site";
    }
    write(ranks, "job");
    for (const std::vector<std::string>& how : std::vector<std::vector<std::string>>{{}, {"--mail"}}) {
        EXPECT_NE(page_of("job", how).find("secret"), std::string::npos) << "or the rest says nothing";
        std::vector<std::string> words = how;
        words.push_back("--private");
        const std::string page = page_of("job", words);
        EXPECT_EQ(page.find("secret"), std::string::npos) << page.substr(page.find("secret") - 200, 400);
        EXPECT_NE(page.find("Private: nodes, paths"), std::string::npos);
    }
    for (const char* other : {"--against", "--data"}) {
        const Ran ran = run({"html", "--private", "job", other, std::string_view(other) == "--data" ? "full" : "job"});
        EXPECT_EQ(ran.code, 2) << ran.err;
    }
}

TEST_F(pages, of_a_thousand_ranks_are_small_enough_to_mail) {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 1000; ++rank) {
        ranks.push_back(two_solvers()[rank % 2]);
        ranks.back().rank = rank;
        ranks.back().size = 1000;
        ranks.back().host = "node" + std::to_string(rank / 4);
    }
    write(ranks, "job");
    const std::string page = page_of("job", {"--data", "none"});
    EXPECT_LT(page.size(), 250'000u);
    EXPECT_LT(std::count(page.begin(), page.end(), '<'), 2 * 20'000) << "an element begins and ends";
    EXPECT_LT(page_of("job", {"--mail"}).size(), 200'000u);
    EXPECT_GT(page_of("job").size(), page.size()) << "its profiles are few bytes: they are in it";
}

TEST_F(pages, are_written_in_the_form_that_their_name_asks_for) {
    write(balanced_stencil(), "job");
    write(uneven_work(), "base");
    ASSERT_EQ(run({"-q", "html", "job", "-o", "apart/"}).code, 0);
    page_of("job");
    EXPECT_NE(read_file(path() / "job.html").find("<style"), std::string::npos);
    const std::string apart = read_file(path() / "apart" / "index.html");
    EXPECT_EQ(apart.find("<style"), std::string::npos);
    EXPECT_NE(apart.find("href=\"mpiprof.css\""), std::string::npos);
    EXPECT_TRUE(fs::exists(path() / "apart" / "mpiprof.js"));
    ASSERT_EQ(run({"-q", "html", "job", "-o", "card.pdf"}).code, 0);
    const std::string card = read_file(path() / "card.pdf");
    EXPECT_TRUE(card.starts_with("%PDF-1.4\n"));
    EXPECT_TRUE(card.ends_with("%%EOF\n"));
    ASSERT_EQ(run({"-q", "html", "job", "-o", "against.html", "--against", "base"}).code, 0);
    EXPECT_NE(read_file(path() / "against.html").find("id=\"against\""), std::string::npos);
    ASSERT_EQ(run({"-q", "html", "job", "base", "-o", "series.html"}).code, 0);
    EXPECT_NE(read_file(path() / "series.html").find("id=\"series\""), std::string::npos);
}

}  // namespace
}  // namespace mpiprof::test
