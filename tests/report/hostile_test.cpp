// A directory full of what nobody would put there on purpose, and profiles whose numbers are impossible: every command
// says what is wrong in lines that are safe to print, and ends with the right exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "report/analysis/analysed.h"
#include "report/exports/export.h"
#include "report/layouts/layout.h"
#include "report/merge/merge.h"
#include "report/read/consistency.h"
#include "report/read/job_dir.h"
#include "report/read/profile_reader.h"
#include "report/sections/live.h"
#include "report/sections/section.h"
#include "report/views/view.h"
#include "tests/report/run_reporter.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;
using report::Job;
using report::Profile;

constexpr std::uint64_t most = ~std::uint64_t{0};

bool is_safe(const std::string& text) {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f; });
}

// Everything that can be asked of a job, in every form.
void show_all(const Job& job) {
    for (const auto& section : report::sections())
        for (const auto& view : report::views()) {
            report::Question question;
            question.is_for_screen = view.is_for_screen;
            const auto tables = section.answer(job, question);
            ASSERT_TRUE(tables) << tables.error().line();
            const std::string text = view.show({section.name, *tables}, {.width = 80, .has_utf8 = true});
            ASSERT_TRUE(!view.is_for_screen || is_safe(text)) << text;
            ASSERT_TRUE(!view.is_for_screen || text.find("nan") == std::string::npos) << text;
            ASSERT_TRUE(view.name != "json" || nlohmann::json::accept(text)) << text;
        }
    for (const auto& layout : report::layouts())
        for (const auto& rank : job.ranks)
            ASSERT_TRUE(is_safe(report::Listing(job, layout).text(rank.rank).value_or("")));
    ASSERT_TRUE(is_safe(report::live_line(job, &job)));
    ASSERT_TRUE(is_safe(report::final_line(job)));
}

const char* const commands[] = {"summary", "calls", "ranks", "hang", "check", "watch", "text", "transfers"};

// Names and texts of every unpleasant kind.
const std::string hostile_names[] = {"</script><script>alert(1)</script>",
                                     "\x1b[2J\x1b]0;title\x07",
                                     std::string("\xff\xfe\x80 \xc3\x28"),
                                     "two\nlines\r\n",
                                     "\xe2\x80\xae"
                                     "txt.exe",
                                     "{0}%s%n\"'`$(reboot);&|",
                                     std::string("a\0b", 3),
                                     std::string(200, 'x')};

void write_hostile_job(const fs::path& directory) {
    std::uint32_t rank = 0;
    for (const std::string& name : hostile_names) {
        ProfileSpec spec = one_never_arrived()[rank == 0 ? 7 : 0];
        spec.rank = rank++;
        spec.size = std::size(hostile_names) + 1;
        spec.host = spec.node = spec.command = spec.executable = spec.directory = spec.launcher = spec.mpi_library =
            name;
        spec.job = name.substr(0, 60);
        spec.calls[0].name = name.substr(0, 38);
        spec.threads = {{.in_call = spec.calls[0].name, .in_call_for_ns = 2'000'000'000}};
        spec.modules[0].path = "/" + name;
        spec.communicators[0].name = name.substr(0, 60);
        spec.settings = {{name.substr(0, 30), name.substr(0, 90)}};
        write_file(directory / fmt::format("mpi_profile.hostile.{}", rank), build(spec));
    }
    for (const std::string& name : hostile_names) {
        std::string file = "mpi_profile." + name.substr(0, name.find('\0'));
        std::erase(file, '/');
        write_file(directory / file, "nothing of ours\n");
    }
}

std::size_t times_in(const std::string& text, std::string_view what) {
    std::size_t times = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
    return times;
}

TEST(hostile_directory, names_are_inert_on_the_page) {
    const TemporaryDirectory directory;
    write_hostile_job(directory.path());
    const Ran ran = run_reporter(directory.path(), {"html", "-o", "-"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(is_safe(ran.out));
    EXPECT_EQ(times_in(ran.out, "<script"), 3u) << "the profiles, the names of places, and its own";
    EXPECT_EQ(times_in(ran.out, "</script"), 3u);
    EXPECT_GT(times_in(ran.out, "&lt;/script&gt;&lt;script&gt;alert(1)"), 0u);
    EXPECT_EQ(times_in(ran.out, "\xe2\x80\xae"), 0u) << "no text runs from right to left";
    EXPECT_GT(times_in(ran.out, "{0}%s%n&quot;&#39;`$(reboot);&amp;|"), 0u);
}

TEST(hostile_directory, names_and_contents_print_safely_in_every_command) {
    const TemporaryDirectory directory;
    write_hostile_job(directory.path());
    show_all(job_of(directory.path()));
    for (const char* command : commands)
        for (const char* locale : {"C", "C.UTF-8"}) {
            const Ran ran = run_reporter(directory.path(), {command}, {std::string("LC_ALL=") + locale});
            EXPECT_EQ(ran.code, std::string_view(command) == "check" ? 1 : 0) << command << ran.err;
            EXPECT_TRUE(is_safe(ran.out)) << command << ran.out;
            EXPECT_TRUE(is_safe(ran.err)) << command << ran.err;
            const bool is_ascii = std::string_view(locale) == "C";
            for (const char c : ran.out + ran.err) ASSERT_TRUE(!is_ascii || (c & 0x80) == 0) << command;
        }
}

TEST(hostile_directory, what_is_no_regular_file_is_a_line_and_never_waited_for) {
    const TemporaryDirectory directory;
    const fs::path& path = directory.path();
    write_profile(path, balanced_stencil()[0]);
    ASSERT_EQ(mkfifo((path / "mpi_profile.1.1").c_str(), 0600), 0);
    fs::create_directory(path / "mpi_profile.1.2");
    fs::create_symlink("mpi_profile.1.3", path / "mpi_profile.1.3");
    fs::create_symlink("/dev/zero", path / "mpi_profile.1.4");
    fs::create_symlink("/dev/tty", path / "mpi_profile.1.5");
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s", (path / "mpi_profile.1.6").c_str());
    ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    std::ofstream(path / "mpi_profile.1.7").close();
    fs::resize_file(path / "mpi_profile.1.7", std::uintmax_t{1} << 40);  // a hole of a tebibyte
    for (const char* command : commands) {
        const Ran ran = run_reporter(path, {command});
        EXPECT_EQ(ran.code, std::string_view(command) == "check" ? 1 : 0) << command;
    }
    const Ran ran = run_reporter(path, {"check"});
    for (const char* line : {"1.1: is a pipe", "1.2: is a directory", "1.3: cannot be read: Too many levels",
                             "1.4: is a device", "1.5: ", "1.6: ", "1.7: is 1099511627776 bytes long, too large"})
        EXPECT_NE(ran.out.find(std::string("mpi_profile.") + line), std::string::npos) << line << "\n" << ran.out;
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 7 + 1 + 3) << "one line per bad file\n" << ran.out;
    close(listener);
}

TEST(hostile_numbers, every_byte_of_a_profile_may_be_flipped) {
    const Bytes whole = build(killed_in_receive()[0]);
    std::size_t read_anyway = 0;
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const unsigned change : {0xffu, 0x01u, 0x80u}) {
            Bytes bytes = whole;
            bytes[at] ^= static_cast<std::byte>(change);
            const auto profile = report::read_profile(bytes, "x");
            if (!profile) {
                ASSERT_FALSE(profile.error().what.empty());
                continue;
            }
            ++read_anyway;
            report::disagreements(*profile);
            if (at % 16 == 0 && change == 0xff) {
                const TemporaryDirectory directory;
                write_file(directory.path() / "mpi_profile.1.0", bytes);
                show_all(job_of(directory.path()));
            }
        }
    EXPECT_GT(read_anyway, whole.size());
}

// Sums that overflow, times that are longer than time, a shortest call that is longer than the longest.
TEST(hostile_numbers, sums_that_overflow_are_shown_as_numbers_and_found_by_check) {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        ProfileSpec spec = balanced_stencil()[0];
        spec.rank = rank;
        spec.size = 3;
        spec.elapsed_ns = 1ull << 62;
        CellSpec all{
            .calls = most, .bytes = most, .time_ns = most, .min_ns = most, .max_ns = most, .errors = most, .bin = 3};
        CellSpec nothing{.calls = 1, .bytes = 0, .time_ns = 0, .min_ns = most, .max_ns = 0, .bin = 60};
        spec.calls = {collective("MPI_Allreduce", {all, nothing}), sends("MPI_Send", {all}),
                      counted("MPI_Comm_rank", most)};
        spec.threads = {{.in_call = "MPI_Send", .in_call_for_ns = most / 4}};
        spec.state = rank == 0 ? format::State::running : format::State::finalized;
        spec.usage = {most, most, most, most, most, most, most, most, most};
        spec.drops = {most, most, most, most, most, most, most, most, most};
        spec.drops.histograms = 0;
        spec.init_ns = most / 4;
        spec.histograms = false;
        ranks.push_back(spec);
    }
    const TemporaryDirectory directory;
    for (const ProfileSpec& spec : ranks) write_profile(directory.path(), spec);
    show_all(job_of(directory.path()));
    const Ran ran = run_reporter(directory.path(), {"check"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.out.find("mpi_profile.4711.1: does not add up: "), std::string::npos) << ran.out;
    for (const char* command : commands) EXPECT_LT(run_reporter(directory.path(), {command}).code, 2) << command;
}

TEST(hostile_numbers, clocks_that_no_machine_has_do_no_harm) {
    for (const std::size_t anchor : {offsetof(format::Header, loaded), offsetof(format::Header, started),
                                     offsetof(format::Header, updated), offsetof(format::Header, ended)})
        for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, most, most / 2}) {
            Bytes bytes = build(killed_in_receive()[0]);
            for (std::size_t word = 0; word < 3; ++word) overwrite(bytes, anchor + word * 8, value);
            const TemporaryDirectory directory;
            write_file(directory.path() / "mpi_profile.1.0", bytes);
            show_all(job_of(directory.path()));
        }
}

// Found by fuzzing: every missing rank was written down, 16 GB of them.
TEST(hostile_numbers, a_world_of_billions_takes_no_more_memory_than_its_profiles) {
    std::vector<ProfileSpec> specs(2);
    specs[0].rank = 0;
    specs[1].rank = 7;
    for (ProfileSpec& spec : specs) spec.size = 4'261'412'872u;
    rlimit before;
    getrlimit(RLIMIT_AS, &before);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which reserve more than that for themselves
    const rlimit small{std::min<rlim_t>(std::uint64_t{4} << 30, before.rlim_max), before.rlim_max};
    setrlimit(RLIMIT_AS, &small);
#endif

    const Job job = job_of(specs);
    show_all(job);

    setrlimit(RLIMIT_AS, &before);
    const auto gaps = job.missing();
    ASSERT_EQ(gaps.size(), 2u);
    EXPECT_EQ(report::rank_list(gaps), "1-6 and 8-4261412871");
}

TEST(hostile_numbers, chosen_ranks_of_a_world_of_billions_take_no_more_time_than_its_profiles) {
    for (const char* chosen : {"0", "0,7", "0-4294967295", "5,4000000000-4100000000", "9-3", ""}) {
        std::vector<ProfileSpec> specs(2);
        specs[1].rank = 7;
        for (ProfileSpec& spec : specs) {
            spec.size = 4'261'412'872u;
            spec.settings = {{.name = "RANKS", .value = chosen}};
        }
        const Job job = job_of(specs);
        show_all(job);
        EXPECT_LE(job.missing().size(), 3u) << chosen;
    }
}

TEST(hostile_directory, a_file_that_changes_while_it_is_read_is_read_or_refused) {
    const TemporaryDirectory directory;
    const auto ranks = balanced_stencil();
    for (const ProfileSpec& spec : ranks) write_profile(directory.path(), spec);
    const fs::path file = directory.path() / "mpi_profile.4711.3";
    const std::string whole = read_file(file);
    std::atomic<bool> done = false;
    std::jthread writer([&] {
        for (std::size_t size = 1; !done; size = (size * 7 + 13) % whole.size()) {
            const int fd = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
            if (ftruncate(fd, static_cast<off_t>(size)) != 0 || write(fd, whole.data(), size) < 0 ||
                write(fd, whole.data() + size, whole.size() - size) < 0)
                done = true;
            close(fd);
        }
    });
    std::size_t read = 0, refused = 0;
    for (int i = 0; i < 300; ++i) {
        report::Progress progress;
        const auto found = report::find_profiles({directory.path().string()}, 1, progress);
        if (found.launches.size() != 1) break;
        const auto job = report::merge(found.launches[0], 1, progress);
        if (!job || job->profiles() < 7) break;
        ++(job->profiles() == 8 ? read : refused);
        show_all(*job);
    }
    done = true;
    EXPECT_EQ(read + refused, 300u) << "the seven other ranks are always there";
}

TEST(hostile_directory, ranks_of_many_jobs_and_worlds_are_told_apart) {
    const TemporaryDirectory directory;
    unsigned number = 0;
    for (std::uint32_t size = 1; size <= 3; ++size)
        for (const char* launch : {"a", "b", ""})
            for (std::uint32_t rank = 0; rank < size; ++rank) {
                ProfileSpec spec = balanced_stencil()[0];
                spec.rank = rank;
                spec.size = size;
                spec.launch = launch;
                spec.job = fmt::format("{}", size);
                write_file(directory.path() / fmt::format("mpi_profile.{}", number++), build(spec));
            }
    Bytes beyond = build(balanced_stencil()[0]);
    overwrite(beyond, offsetof(format::Header, rank), std::uint32_t{99});
    write_file(directory.path() / "mpi_profile.beyond", beyond);
    const Ran ran = run_reporter(directory.path(), {"check"});
    EXPECT_EQ(ran.code, 1) << "rank 99 of 8";
    EXPECT_NE(ran.out.find("mpi_profile.beyond: says it is rank 99 of 8 ranks"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("from a world of"), std::string::npos) << ran.out;
    for (const char* command : commands) EXPECT_LT(run_reporter(directory.path(), {command}).code, 2) << command;
}

}  // namespace
}  // namespace mpiprof::test
