// The image: growth, directory, strings, and what happens when the disk is full.
#include "libmpiprof/record/image.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

using format::Table;
using format::TableType;

// A file of the kind that may be mapped, in memory; it can be sealed, which makes it as full as a full disk.
class MemoryFile {
  public:
    MemoryFile() : fd_(memfd_create("profile", MFD_ALLOW_SEALING)) {}
    ~MemoryFile() { close(fd_); }
    int fd() const { return fd_; }
    void fill_the_disk() { ASSERT_EQ(fcntl(fd_, F_ADD_SEALS, F_SEAL_GROW), 0); }
    std::string bytes() const {
        std::string text(static_cast<std::size_t>(lseek(fd_, 0, SEEK_END)), 0);
        EXPECT_EQ(pread(fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
        return text;
    }

  private:
    int fd_;
};

std::unique_ptr<Image::Written> written_for(int fd) {
    auto written = std::make_unique<Image::Written>();
    EXPECT_TRUE(identify(fd, written->file));
    return written;
}

TEST(image, begins_with_a_line_that_says_what_it_is) {
    MemoryFile file;
    Image image;
    ASSERT_TRUE(image.open_mapped(file.fd()));

    const std::string bytes = file.bytes();

    EXPECT_EQ(bytes.substr(0, bytes.find('\n') + 1),
              "mpiprof profile, format 1. Read it with: mpiprof-report <this file>\n");
}

TEST(image, what_is_stored_is_in_the_file_at_once) {
    MemoryFile file;
    Image image;
    ASSERT_TRUE(image.open_mapped(file.fd()));

    void* place = image.take(64);
    std::memcpy(place, "a cell", 6);

    EXPECT_EQ(file.bytes().substr(image.offset_of(place), 6), "a cell");
}

TEST(image, grows_by_whole_segments_and_what_was_taken_stays_where_it_is) {
    MemoryFile file;
    Image image;
    ASSERT_TRUE(image.open_mapped(file.fd()));
    auto* first = static_cast<char*>(image.take(64));
    *first = 'x';

    for (int i = 0; i < 100; ++i) ASSERT_NE(image.take(10000), nullptr);

    EXPECT_EQ(*first, 'x');
    EXPECT_GT(image.bytes(), 1000000u);
    EXPECT_EQ(file.bytes().size() % format::segment_bytes, 0u);
    EXPECT_GE(file.bytes().size(), image.bytes());
    EXPECT_LT(file.bytes().size(), image.bytes() + 2 * format::segment_bytes);
}

TEST(image, new_records_are_zero_and_aligned_to_cache_lines) {
    Image image;
    ASSERT_TRUE(image.open_private());
    for (const std::size_t bytes : {1u, 63u, 64u, 65u, 4096u}) {
        const auto* place = static_cast<const char*>(image.take(bytes));

        EXPECT_EQ(image.offset_of(place) % 64, 0u);
        for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(place[i], 0);
    }
}

TEST(image, more_tables_than_a_directory_block_holds_are_all_found) {
    Image image;
    ASSERT_TRUE(image.open_private());
    constexpr std::uint32_t many = 500;

    for (std::uint32_t thread = 1; thread <= many; ++thread) {
        Table* table = image.add_table(TableType::counters, sizeof(format::Counter), 3, thread);
        ASSERT_NE(table, nullptr);
        Image::publish(table);
    }

    const auto tables = tables_of(image);
    ASSERT_EQ(tables.size(), many);
    for (std::uint32_t i = 0; i < many; ++i) {
        EXPECT_EQ(tables[i].thread, i + 1);
        EXPECT_EQ(tables[i].used, 1u);
        EXPECT_EQ(tables[i].capacity, 3u);
        if (i > 0) {
            EXPECT_GE(tables[i].offset, tables[i - 1].offset + 3 * sizeof(format::Counter));
        }
    }
}

TEST(image, a_full_table_is_followed_by_another_of_its_type) {
    Image image;
    ASSERT_TRUE(image.open_private());
    Table* table = nullptr;

    for (std::uint32_t i = 0; i < 10; ++i) {
        auto* site = static_cast<format::Site*>(image.next_record(table, TableType::sites, sizeof(format::Site), 4, 0));
        ASSERT_NE(site, nullptr);
        site->first_frame = i;
        Image::publish(table);
    }

    EXPECT_EQ(tables_of(image).size(), 3u);
    const auto sites = records_of<format::Site>(image, TableType::sites);
    ASSERT_EQ(sites.size(), 10u);
    for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(sites[i].first_frame, i);
}

TEST(image, a_record_that_is_not_published_is_not_there) {
    Image image;
    ASSERT_TRUE(image.open_private());
    Table* table = nullptr;

    ASSERT_NE(image.next_record(table, TableType::sites, sizeof(format::Site), 4, 0), nullptr);

    EXPECT_TRUE(records_of<format::Site>(image, TableType::sites).empty());
}

std::uint64_t add(Image& image, const std::string& text) {
    std::size_t length = text.size();
    return image.add_string(text.data(), length);
}

TEST(image, strings_are_stored_where_their_offset_says) {
    Image image;
    ASSERT_TRUE(image.open_private());
    std::vector<std::pair<std::uint64_t, std::string>> stored;

    for (int i = 0; i < 300; ++i) {  // more than one table of them
        const std::string text = "/opt/app/lib/plugin_number_" + std::to_string(i) + ".so";
        stored.emplace_back(add(image, text), text);
    }

    for (const auto& [offset, text] : stored) {
        ASSERT_NE(offset, 0u);
        EXPECT_EQ(std::string(image.at(offset), text.size()), text);
    }
}

TEST(image, a_string_that_is_too_long_is_cut_and_counted) {
    Image image;
    ASSERT_TRUE(image.open_private());
    const std::string text(10000, 'x');
    std::size_t length = text.size();

    const std::uint64_t offset = image.add_string(text.data(), length);

    ASSERT_NE(offset, 0u);
    EXPECT_EQ(length, 4096u);
    EXPECT_EQ(records_of<char>(image, TableType::strings).size(), 4096u);
    EXPECT_EQ(image.header().drops.strings, 1u);
}

TEST(image, on_a_full_disk_it_goes_on_in_memory_and_what_was_there_stays_in_the_file) {
    MemoryFile file;
    Image image;
    ASSERT_TRUE(image.open_mapped(file.fd()));
    auto* earlier = static_cast<char*>(image.take(64));
    file.fill_the_disk();

    for (int i = 0; i < 40; ++i) ASSERT_NE(image.take(4096), nullptr);

    EXPECT_TRUE(image.is_mapped());
    EXPECT_TRUE(image.has_unsaved());
    *earlier = 'x';
    EXPECT_EQ(file.bytes()[image.offset_of(earlier)], 'x');
    EXPECT_EQ(file.bytes().size(), format::segment_bytes);
    auto written = written_for(file.fd());
    EXPECT_NE(image.write_changes(file.fd(), *written), 0);
    MemoryFile roomier;
    ASSERT_EQ(image.write_to(roomier.fd()), 0);
    EXPECT_EQ(roomier.bytes(), std::string(image.at(0), image.bytes()));
}

TEST(image, what_could_not_be_mapped_is_written_behind_the_mapping_once_there_is_room) {
    MemoryFile file;
    Image image;
    ASSERT_TRUE(image.open_mapped(file.fd()));
    const rlimit small{format::segment_bytes, RLIM_INFINITY};  // the disk that fills and empties
    rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 40; ++i) std::memset(image.take(4096), 'a' + i % 26, 4096);
    setrlimit(RLIMIT_FSIZE, &before);
    auto written = written_for(file.fd());

    ASSERT_EQ(image.write_changes(file.fd(), *written), 0);

    EXPECT_EQ(file.bytes(), std::string(image.at(0), image.bytes()));
}

TEST(image, number_that_means_another_file_by_now_is_not_written_to) {
    MemoryFile ours, the_programs;
    Image image;
    ASSERT_TRUE(image.open_private());
    ASSERT_NE(image.take(4096), nullptr);
    auto written = written_for(ours.fd());

    EXPECT_EQ(image.write_changes(the_programs.fd(), *written), ECANCELED);

    EXPECT_EQ(the_programs.bytes(), "");
    EXPECT_EQ(image.write_changes(ours.fd(), *written), 0);
    EXPECT_EQ(ours.bytes(), std::string(image.at(0), image.bytes()));
}

TEST(image, without_memory_nothing_is_given_out_and_everything_is_said) {
    Image image;
    ASSERT_TRUE(image.open_private());
    while (image.take(4096)) {
    }
    while (image.take(64)) {
    }
    EXPECT_EQ(image.take(format::segment_bytes), nullptr);
    EXPECT_EQ(image.add_table(TableType::cells, 64, 2000, 1), nullptr);
    EXPECT_EQ(add(image, "/usr/bin/program"), 0u);
    EXPECT_EQ(image.header().drops.strings, 1u);
    Table* table = nullptr;
    EXPECT_EQ(image.next_record(table, TableType::sites, 8, 9000, 0), nullptr);
}

TEST(image, a_disk_that_is_full_from_the_beginning_leaves_private_memory) {
    MemoryFile file;
    file.fill_the_disk();
    Image image;

    EXPECT_FALSE(image.open_mapped(file.fd()));

    EXPECT_TRUE(image.open_private());
    EXPECT_FALSE(image.is_mapped());
    EXPECT_NE(image.take(64), nullptr);
}

// Runs `steps` in a child that may write files of up to `bytes`; its exit status, or minus the signal that killed it.
int in_a_child_with_file_size_limit(std::size_t bytes, int (*steps)()) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit{bytes, bytes};
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(steps());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(image, a_file_size_limit_ends_neither_the_recording_nor_the_program) {
    const int status = in_a_child_with_file_size_limit(2 * format::segment_bytes, [] {
        MemoryFile file;
        Image image;
        if (!image.open_mapped(file.fd())) return 1;
        for (int i = 0; i < 100; ++i)
            if (!image.take(4096)) return 2;
        return image.has_unsaved() && file.bytes().size() <= 2 * format::segment_bytes ? 0 : 3;
    });

    EXPECT_EQ(status, 0) << "negative: the signal that ended it";
}

TEST(image, writing_beyond_a_file_size_limit_is_an_error_and_not_a_signal) {
    const int status = in_a_child_with_file_size_limit(format::segment_bytes, [] {
        Image image;
        if (!image.open_private()) return 1;
        for (int i = 0; i < 100; ++i) image.take(4096);
        MemoryFile file;
        return image.write_to(file.fd()) == EFBIG ? 0 : 2;
    });

    EXPECT_EQ(status, 0) << "negative: the signal that ended it";
}

TEST(image, a_file_of_the_program_under_our_number_is_left_alone) {
    MemoryFile file, of_the_program;
    const int number = dup(file.fd());
    Image image;
    ASSERT_TRUE(image.open_mapped(number));

    dup2(of_the_program.fd(), number);  // it closed all descriptors it found, then opened files of its own
    int taken = 0;
    while (image.take(4096)) ++taken;

    EXPECT_GT(taken, 0) << "what was there is still ours";
    EXPECT_EQ(of_the_program.bytes(), "");
    close(number);
}

TEST(image, private_memory_is_written_whole) {
    Image image;
    ASSERT_TRUE(image.open_private());
    for (int i = 0; i < 40; ++i) std::memset(image.take(4096), 'a' + i % 26, 4096);
    MemoryFile file;

    ASSERT_EQ(image.write_to(file.fd()), 0);

    EXPECT_EQ(file.bytes(), std::string(image.at(0), image.bytes()));
}

TEST(image, an_unwritable_file_is_an_error_number) {
    Image image;
    ASSERT_TRUE(image.open_private());

    EXPECT_EQ(image.write_to(-1), EBADF);
}

TEST(image, the_largest_image_is_an_answer_too) {
    Image image;
    ASSERT_TRUE(image.open_private());

    std::size_t taken = 0;
    while (image.take(1u << 20)) ++taken;

    EXPECT_GT(taken, 50u);
    EXPECT_LT(taken, 64u);
}

}  // namespace
}  // namespace mpiprof::test
