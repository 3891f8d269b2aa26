// The profile's place on disk: claiming, other directories where the first refuses, files that are gone at the end.
#include "libmpiprof/process/profile_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "tests/unit/said.h"

namespace mpiprof {
namespace {

namespace fs = std::filesystem;

struct profile_file : testing::Test {
    void SetUp() override {
        char pattern[] = "/tmp/mpiprof-test-XXXXXX";
        root = mkdtemp(pattern);
        fs::create_directory(root / "job");
        fs::create_directory(root / "submit");
        setenv("MPIPROF_DIR", (root / "job").c_str(), 1);
        setenv("MPIPROF_STORE", "written", 1);
        setenv("TMPDIR", (root / "submit").c_str(), 1);
        unsetenv("PBS_O_WORKDIR");
        unsetenv("SLURM_SUBMIT_DIR");
    }
    void TearDown() override {
        fs::remove_all(root);
        for (const char* variable : {"MPIPROF_DIR", "MPIPROF_STORE", "TMPDIR"}) unsetenv(variable);
    }
    bool open() {
        bool opened = false;
        said = said_while([&] { opened = file->open(image, name, {}); });
        if (opened) image.header().rank = name.rank;
        return opened;
    }
    int save() {
        int error = 0;
        said = said_while([&] {
            error = file->save(image);
            if (error != 0) error = file->save_elsewhere(image, name, error);
        });
        return error;
    }
    static std::string bytes(const fs::path& path) {
        std::ostringstream all;
        all << std::ifstream(path).rdbuf();
        return all.str();
    }
    std::string image_bytes() const { return {image.at(0), image.bytes()}; }
    // A path that nothing can be created below, even by root.
    void refuse_the_directory() {
        fs::remove_all(root / "job");
        std::ofstream(root / "job") << "a file\n";
    }

    fs::path root;
    std::string said;
    Image image;
    std::unique_ptr<ProfileFile> file = std::make_unique<ProfileFile>();  // larger than a stack likes
    ProfileFile::Name name{"4711", "node1", 0};
};

TEST_F(profile_file, nobody_else_may_read_it) {
    ASSERT_TRUE(open());
    struct stat s;
    ASSERT_EQ(stat(file->path(), &s), 0);
    EXPECT_EQ(s.st_mode & 0777, 0600u);
}

TEST_F(profile_file, another_launchs_file_is_never_touched) {
    std::ofstream(root / "job/mpi_profile.4711.0") << "earlier";
    ASSERT_TRUE(open());
    EXPECT_EQ(file->path(), root / "job/mpi_profile.4711-2.0");
    EXPECT_EQ(bytes(root / "job/mpi_profile.4711.0"), "earlier");
}

TEST_F(profile_file, a_symbolic_link_of_its_name_is_not_followed) {
    std::ofstream(root / "victim") << "precious";
    fs::create_symlink(root / "victim", root / "job/mpi_profile.4711.0");
    ASSERT_TRUE(open());
    ASSERT_EQ(save(), 0);
    EXPECT_EQ(bytes(root / "victim"), "precious");
}

TEST_F(profile_file, an_update_makes_the_file_what_the_image_is) {
    ASSERT_TRUE(open());
    ASSERT_EQ(file->update(image), 0);
    EXPECT_EQ(bytes(file->path()), image_bytes());

    for (int i = 0; i < 30; ++i) std::memset(image.take(4096), 'a' + i, 4096);
    image.header().rank = 3;
    ASSERT_EQ(file->update(image), 0);
    EXPECT_EQ(bytes(file->path()), image_bytes());
}

TEST_F(profile_file, an_update_writes_only_what_changed) {
    ASSERT_TRUE(open());
    auto* far = static_cast<char*>(image.take(40 * 4096));
    far[30 * 4096] = 1;
    ASSERT_EQ(file->update(image), 0);
    std::fstream disk(file->path(), std::ios::in | std::ios::out | std::ios::binary);
    disk.seekp(static_cast<std::streamoff>(image.offset_of(far) + 20 * 4096)).put('x');
    disk.close();

    far[35 * 4096] = 1;
    ASSERT_EQ(file->update(image), 0);

    const std::string now = bytes(file->path());
    EXPECT_EQ(now[image.offset_of(far) + 35 * 4096], 1);
    EXPECT_EQ(now[image.offset_of(far) + 20 * 4096], 'x') << "a page that did not change was written again";
    ASSERT_EQ(save(), 0);
    EXPECT_EQ(bytes(file->path()), image_bytes()) << "the end trusts nothing";
}

TEST_F(profile_file, a_directory_that_refuses_is_replaced_and_said_once) {
    refuse_the_directory();
    ASSERT_TRUE(open());
    EXPECT_EQ(file->path(), root / "submit/mpi_profile.4711.0");
    EXPECT_EQ(said, "mpiprof: cannot write " + (root / "job/mpi_profile.4711.0").string() +
                        ": Not a directory; this profile is " + file->path() + "\n");
}

TEST_F(profile_file, a_working_directory_that_was_removed_is_said_to_be_missing) {
    setenv("MPIPROF_DIR", ".", 1);
    const fs::path before = fs::current_path();
    fs::create_directory(root / "gone");
    fs::current_path(root / "gone");
    fs::remove(root / "gone");
    errno = ENODEV;  // of whatever the program did last
    const bool opened = open();
    fs::current_path(before);
    ASSERT_TRUE(opened);
    EXPECT_EQ(said, std::string("mpiprof: cannot write .: No such file or directory; this profile is ") + file->path() +
                        "\n");
}

TEST_F(profile_file, a_working_directory_whose_path_is_too_long_is_said_to_be) {
    setenv("MPIPROF_DIR", ".", 1);
    const fs::path before = fs::current_path();
    fs::current_path(root);
    const std::string name_of_one(200, 'd');
    for (int depth = 0; depth < 25; ++depth) {
        ASSERT_EQ(mkdir(name_of_one.c_str(), 0700), 0);
        ASSERT_EQ(chdir(name_of_one.c_str()), 0);
    }
    errno = ENODEV;
    const bool opened = open();
    fs::current_path(before);
    ASSERT_TRUE(opened);
    EXPECT_EQ(said, std::string("mpiprof: cannot write .: File name too long; this profile is ") + file->path() + "\n");
}

TEST_F(profile_file, a_directory_that_cannot_be_made_is_replaced_for_the_reason_it_could_not) {
    // Nobody, root included, may make a directory there; to write into what is missing then fails for another reason.
    setenv("MPIPROF_DIR", "/sys/mpiprof/%j", 1);
    const int expected = mkdir("/sys/mpiprof", 0777) == 0 ? 0 : errno;
    ASSERT_NE(expected, 0);
    ASSERT_NE(expected, ENOENT);
    ASSERT_TRUE(open());
    EXPECT_NE(said.find(std::string(": ") + strerror(expected) + "; this profile is "), std::string::npos) << said;
}

TEST_F(profile_file, other_ranks_keep_silent) {
    refuse_the_directory();
    name.rank = 5;
    ASSERT_TRUE(open());
    EXPECT_EQ(said, "");
}

TEST_F(profile_file, a_file_that_was_removed_is_written_again_at_the_end) {
    ASSERT_TRUE(open());
    ASSERT_EQ(file->update(image), 0);
    fs::remove(file->path());
    ASSERT_EQ(save(), 0);
    EXPECT_EQ(bytes(root / "job/mpi_profile.4711.0"), image_bytes());
}

TEST_F(profile_file, a_removed_file_of_the_mapped_store_is_written_again_too) {
    setenv("MPIPROF_STORE", "mapped", 1);
    ASSERT_TRUE(open());
    if (!image.is_mapped()) GTEST_SKIP() << "/tmp cannot be mapped";
    fs::remove(file->path());
    ASSERT_EQ(save(), 0);
    EXPECT_EQ(bytes(root / "job/mpi_profile.4711.0"), image_bytes());
}

TEST_F(profile_file, a_file_that_took_its_name_is_left_alone) {
    ASSERT_TRUE(open());
    fs::remove(file->path());
    std::ofstream(file->path()) << "somebody else's";
    ASSERT_EQ(save(), 0);
    EXPECT_EQ(bytes(root / "job/mpi_profile.4711.0"), "somebody else's");
    EXPECT_EQ(bytes(root / "job/mpi_profile.4711-2.0"), image_bytes());
}

TEST_F(profile_file, a_moved_directory_takes_its_profile_along) {
    ASSERT_TRUE(open());
    fs::rename(root / "job", root / "moved");
    image.header().rank = 9;
    ASSERT_EQ(save(), 0);
    EXPECT_EQ(bytes(root / "moved/mpi_profile.4711.0"), image_bytes());
    EXPECT_FALSE(fs::exists(root / "job"));
}

// Closes all descriptors above stderr and opens files of its own, as daemons and some launch wrappers do.
struct TheProgram {
    explicit TheProgram(const fs::path& own) {
        const int mine = ::open(own.c_str(), O_RDWR | O_CREAT, 0600);
        for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd")) {
            const int fd = std::atoi(entry.path().filename().c_str());
            std::error_code none;
            if (fs::read_symlink(entry.path(), none).string().find("mpi_profile") == std::string::npos) continue;
            dup2(mine, fd);
            numbers.push_back(fd);
        }
        numbers.push_back(mine);
    }
    ~TheProgram() {
        for (const int fd : numbers) close(fd);
    }
    std::vector<int> numbers;
};

TEST_F(profile_file, a_descriptor_that_the_program_took_over_is_not_written_to) {
    ASSERT_TRUE(open());
    const TheProgram program(root / "of_the_program");
    ASSERT_GE(program.numbers.size(), 2u) << "our descriptor was found and replaced";

    ASSERT_EQ(file->update(image), 0);
    ASSERT_EQ(save(), 0);

    EXPECT_EQ(bytes(root / "of_the_program"), "");
    EXPECT_EQ(bytes(root / "job/mpi_profile.4711.0"), image_bytes());
}

TEST_F(profile_file, removing_removes_nobody_elses_file) {
    ASSERT_TRUE(open());
    fs::remove(file->path());
    std::ofstream(file->path()) << "somebody else's";
    file->remove();
    EXPECT_TRUE(fs::exists(root / "job/mpi_profile.4711.0"));
}

}  // namespace
}  // namespace mpiprof
