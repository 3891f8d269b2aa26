// The file that the ranks of a node share: each writes to its own range alone, whoever cannot have one keeps a file of
// its own, and a thousand processes that begin at once neither wait for each other nor meet.
#include "libmpiprof/process/node_range.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "libmpiprof/base/text.h"
#include "libmpiprof/process/profile_file.h"
#include "tests/unit/said.h"

namespace mpiprof {
namespace {

namespace fs = std::filesystem;
namespace node = format::node_file;

format::Header rank_of(unsigned rank, unsigned local_rank, const char* machine = "boot/node1") {
    format::Header header{};
    header.rank = rank;
    header.size = 4096;
    header.local_rank = local_rank;
    header.pid = static_cast<std::uint32_t>(getpid());
    header.process_start_ns = 1'700'000'000'000'000'000 + rank;
    copy(header.launch, "pmix:4711.0");
    copy(header.node, machine);
    return header;
}

// A rank as the runtime has it: an image and the file that it goes to.
struct Rank {
    explicit Rank(const format::Header& described) : who(described) {}
    ProfileFile::Name name() const { return {"4711", "node1", who.rank, &who}; }
    bool open(const Share& share = {}) {
        bool opened = false;
        said_while([&] { opened = file->open(image, name(), share); });
        if (opened) image.header().rank = who.rank;
        return opened;
    }
    // Tables of records that nobody else has.
    void fill(unsigned kibibytes) {
        for (unsigned i = 0; i < kibibytes; ++i)
            if (void* p = image.take(1024)) std::memset(p, static_cast<int>(who.rank % 250 + 1), 1024);
    }
    int save() {
        const int error = file->save(image);
        int late = error;
        if (error != 0) said_while([&] { late = file->save_elsewhere(image, name(), error); });
        return late;
    }
    std::string bytes() const { return {image.at(0), image.bytes()}; }
    bool has_range() const { return fs::path(file->path()).filename().string().find(".node") != std::string::npos; }

    format::Header who;
    Image image;
    std::unique_ptr<ProfileFile> file = std::make_unique<ProfileFile>();
};

std::string all_of(const fs::path& path) {
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
}

// So many bytes of the image in a range.
std::string in_range(const fs::path& path, std::uint32_t range, std::size_t size) {
    std::string bytes(size, 0);
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    for (std::size_t at = 0; at < size; at += format::segment_bytes)
        EXPECT_GE(pread(fd, bytes.data() + at, std::min<std::size_t>(format::segment_bytes, size - at),
                        static_cast<off_t>(node::place_of(range).of(at))),
                  0);
    close(fd);
    return bytes;
}

// By the store of the profiles.
struct node_range : testing::TestWithParam<const char*> {
    void SetUp() override {
        char pattern[] = "/tmp/mpiprof-test-XXXXXX";
        root = mkdtemp(pattern);
        fs::create_directory(root / "job");
        fs::create_directory(root / "submit");
        setenv("MPIPROF_DIR", (root / "job").c_str(), 1);
        setenv("MPIPROF_FILES", "node", 1);
        setenv("MPIPROF_STORE", GetParam(), 1);
        setenv("TMPDIR", (root / "submit").c_str(), 1);
        unsetenv("PBS_O_WORKDIR");
        unsetenv("SLURM_SUBMIT_DIR");
    }
    void TearDown() override {
        fs::remove_all(root);
        for (const char* variable : {"MPIPROF_DIR", "MPIPROF_FILES", "MPIPROF_STORE", "TMPDIR"}) unsetenv(variable);
    }
    std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(root / "job")) found.push_back(entry.path());
        std::sort(found.begin(), found.end());
        return found;
    }

    fs::path root;
};

INSTANTIATE_TEST_SUITE_P(in_the_store, node_range, testing::Values("mapped", "written"),
                         [](const auto& store) { return std::string(store.param); });

TEST_P(node_range, is_what_a_file_of_the_rank_would_be) {
    Rank first(rank_of(4, 0)), second(rank_of(5, 1));
    ASSERT_TRUE(first.open() && second.open());
    first.fill(300);
    second.fill(40);
    ASSERT_EQ(first.file->update(first.image), 0);
    ASSERT_EQ(second.save(), 0);
    first.fill(200);
    ASSERT_EQ(first.save(), 0);

    ASSERT_EQ(files().size(), 1u);
    EXPECT_EQ(all_of(files()[0]).substr(0, sizeof node::first_line - 1), node::first_line);
    EXPECT_EQ(in_range(files()[0], 0, first.image.bytes()), first.bytes());
    EXPECT_EQ(in_range(files()[0], 1, second.image.bytes()), second.bytes());
    struct stat s;
    ASSERT_EQ(stat(files()[0].c_str(), &s), 0);
    EXPECT_EQ(s.st_mode & 0777, 0600u);
    EXPECT_LT(s.st_blocks * 512, 1 << 20) << "of " << s.st_size << " bytes only what is in use takes room";
}

TEST_P(node_range, that_is_taken_is_left_alone) {
    Rank first(rank_of(0, 3)), second(rank_of(1, 3));
    ASSERT_TRUE(first.open());
    first.fill(10);
    ASSERT_TRUE(second.open());
    second.fill(100);
    ASSERT_EQ(first.save(), 0);
    ASSERT_EQ(second.save(), 0);
    EXPECT_EQ(files().size(), 2u);
    EXPECT_EQ(in_range(first.file->path(), 3, first.image.bytes()), first.bytes());
    EXPECT_EQ(second.file->path(), root / "job/mpi_profile.4711.1");
    EXPECT_EQ(all_of(second.file->path()).substr(0, second.image.bytes()), second.bytes());
}

TEST_P(node_range, is_not_for_ranks_without_a_number_on_the_node_nor_alone_nor_counted) {
    format::Header alone = rank_of(0, 0);
    alone.size = 1;
    for (const format::Header& who : {alone, rank_of(1, format::no_local_rank), rank_of(2, node::ranges)}) {
        Rank rank(who);
        ASSERT_TRUE(rank.open());
        EXPECT_FALSE(rank.has_range()) << who.rank;
    }
    Rank counted(rank_of(3, 0)), bounded(rank_of(4, 1)), last(rank_of(5, node::ranges - 1));
    ASSERT_TRUE(counted.open({.files = 1, .bytes = 0}));
    ASSERT_TRUE(bounded.open({.files = 0, .bytes = std::uint64_t{1} << 30}));
    EXPECT_FALSE(counted.has_range() || bounded.has_range());
    ASSERT_TRUE(last.open());
    EXPECT_TRUE(last.has_range());
}

TEST_P(node_range, lies_in_a_file_of_this_launch_and_this_node) {
    format::Header next_launch = rank_of(2, 0);
    copy(next_launch.launch, "pmix:4711.1");
    std::vector<std::unique_ptr<Rank>> ranks;
    for (const format::Header& who : {rank_of(0, 0), rank_of(1, 0, "boot/node2"), next_launch}) {
        ranks.push_back(std::make_unique<Rank>(who));
        ASSERT_TRUE(ranks.back()->open());
        EXPECT_TRUE(ranks.back()->has_range());
    }
    EXPECT_EQ(files().size(), 3u);
}

TEST_P(node_range, is_not_in_a_file_that_is_somebody_elses) {
    std::string path;
    {
        Rank model(rank_of(0, 0));
        ASSERT_TRUE(model.open());
        path = model.file->path();
    }
    const std::string head = all_of(path).substr(0, sizeof(node::Header));
    const auto gets_no_range_where = [&](const char* what, auto make) {
        fs::remove(path);
        make();
        const std::string before = all_of(path);
        Rank rank(rank_of(1, 1));
        ASSERT_TRUE(rank.open());
        ASSERT_EQ(rank.save(), 0);
        EXPECT_FALSE(rank.has_range()) << what;
        EXPECT_EQ(all_of(path), before) << what;
        fs::remove(rank.file->path());
    };
    std::string other = head;
    ++other[offsetof(node::Header, key)];
    gets_no_range_where("another launch or node has the hash", [&] { std::ofstream(path) << other; });
    gets_no_range_where("a later format", [&] { std::ofstream(path) << "mpiprof profile, format 3"; });
    gets_no_range_where("a file with two names", [&] {
        std::ofstream(root / "victim") << head;
        fs::create_hard_link(root / "victim", path);
    });
    fs::remove(root / "victim");
    gets_no_range_where("a link", [&] {
        std::ofstream(root / "victim") << head;
        fs::create_symlink(root / "victim", path);
    });
    if (geteuid() == 0)
        gets_no_range_where("another user's file", [&] {
            std::ofstream(path) << head;
            ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
        });
    fs::remove(path);
    std::ofstream(path) << head;
    Rank rank(rank_of(1, 1));
    ASSERT_TRUE(rank.open());
    EXPECT_TRUE(rank.has_range()) << "and it has one where the file is as it should be";
}

TEST_P(node_range, of_a_file_that_was_removed_is_written_again_with_the_others) {
    Rank first(rank_of(0, 0)), second(rank_of(1, 1));
    ASSERT_TRUE(first.open() && second.open());
    first.fill(100);
    second.fill(200);
    fs::remove(first.file->path());
    ASSERT_EQ(first.save(), 0);
    ASSERT_EQ(second.save(), 0);
    ASSERT_EQ(files().size(), 1u);
    EXPECT_EQ(in_range(files()[0], 0, first.image.bytes()), first.bytes());
    EXPECT_EQ(in_range(files()[0], 1, second.image.bytes()), second.bytes());
}

TEST_P(node_range, whose_disk_refuses_at_the_end_is_empty_and_the_profile_elsewhere) {
    Rank first(rank_of(0, 0)), second(rank_of(1, 1));
    ASSERT_TRUE(first.open() && second.open());
    first.fill(100);
    second.fill(100);
    const fs::path shared = first.file->path();
    ASSERT_EQ(first.file->update(first.image), 0);
    ASSERT_EQ(second.save(), 0);
    const std::string image = first.bytes();
    said_while([&] { ASSERT_EQ(first.file->save_elsewhere(first.image, first.name(), EIO), 0); });
    EXPECT_EQ(first.file->path(), root / "submit/mpi_profile.4711.0");
    EXPECT_EQ(all_of(first.file->path()).size(), image.size());
    EXPECT_EQ(in_range(shared, 1, second.image.bytes()), second.bytes());
    EXPECT_EQ(in_range(shared, 0, 4096), std::string(4096, 0));
    Rank third(rank_of(2, 0));
    ASSERT_TRUE(third.open());
    EXPECT_FALSE(third.has_range()) << "who had it may have it mapped still";
}

// A trace takes its room before it is mapped, and what it does not need goes back: only what is between others.
TEST_P(node_range, with_large_tables_leaves_its_neighbours_alone) {
    Rank first(rank_of(0, 0)), second(rank_of(1, 1));
    ASSERT_TRUE(first.open() && second.open());
    second.fill(2000);
    ASSERT_EQ(second.save(), 0);
    ASSERT_NE(first.image.add_large_table(format::TableType::trace, 48, 20000, 1), nullptr);
    first.fill(50);
    ASSERT_EQ(first.save(), 0);
    EXPECT_EQ(in_range(files()[0], 0, first.image.bytes()), first.bytes());
    EXPECT_EQ(in_range(files()[0], 1, second.image.bytes()), second.bytes());
}

TEST_P(node_range, is_not_taken_where_the_user_allows_no_file_so_long) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const rlimit limit{1 << 20, 1 << 20};
        setrlimit(RLIMIT_FSIZE, &limit);
        Rank rank(rank_of(0, 100));
        _exit(rank.open() && rank.save() == 0 && !rank.has_range() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "a signal where it is not 256";
}

// Four nodes of 256 ranks and 32 more that say they have a number that another one has; each is killed where it stands.
TEST_P(node_range, are_claimed_by_a_thousand_killed_writers_once_each) {
    constexpr unsigned ranks = 1024, twice = 32, kibibytes = 150;
    std::vector<pid_t> writers;
    int go[2], done[2];
    ASSERT_EQ(pipe(go), 0);
    ASSERT_EQ(pipe(done), 0);
    for (unsigned i = 0; i < ranks + twice; ++i) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            close(go[1]);
            char c;
            (void)!read(go[0], &c, 1);  // until the test closes its end: all at once
            const std::string machine = "boot/node" + std::to_string(i % 4);
            Rank rank(rank_of(i, i % ranks / 4, machine.c_str()));
            if (!rank.open()) _exit(1);
            rank.fill(kibibytes);
            if (!rank.image.is_mapped() && rank.file->update(rank.image) != 0) _exit(2);
            (void)!write(done[1], "x", 1);
            pause();
        }
        writers.push_back(child);
    }
    close(go[0]);
    close(go[1]);
    close(done[1]);
    unsigned ready = 0;
    char c;
    while (ready < ranks + twice && read(done[0], &c, 1) == 1) ++ready;
    for (const pid_t writer : writers) kill(writer, SIGKILL);
    for (const pid_t writer : writers) waitpid(writer, nullptr, 0);
    close(done[0]);
    ASSERT_EQ(ready, ranks + twice);

    std::map<std::uint32_t, unsigned> seen;  // by rank
    const auto look = [&](const std::string& image) {
        format::Header header;
        std::memcpy(static_cast<void*>(&header), image.data(), sizeof header);
        ++seen[header.rank];
        EXPECT_STREQ(header.first_line, format::first_line);
        std::size_t own = 0;
        for (const char byte : image) own += byte == static_cast<char>(header.rank % 250 + 1);
        EXPECT_GE(own, kibibytes * 1024u) << "of rank " << header.rank;
    };
    unsigned shared = 0;
    for (const fs::path& path : files()) {
        if (path.filename().string().find(".node") == std::string::npos) {
            look(all_of(path));
            continue;
        }
        ++shared;
        for (std::uint32_t range = 0; range < node::ranges; ++range) look(in_range(path, range, 256 * 1024));
    }
    EXPECT_EQ(shared, 4u);
    EXPECT_EQ(files().size(), 4u + twice) << "a file each of those that came second";
    EXPECT_EQ(seen.size(), ranks + twice);
}

}  // namespace
}  // namespace mpiprof
