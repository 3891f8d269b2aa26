// What the lines of a file of settings are, and which files count.
#include "libmpiprof/format/config_text.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace mpiprof {
namespace {

// In exactly as much memory as the function may use, for the sanitizers' sake.
std::vector<std::string> lines_of(const std::string& text) {
    const auto buffer = std::make_unique<char[]>(text.size() + 2);
    text.copy(buffer.get(), text.size());
    format::take_config_apart(buffer.get(), text.size());
    std::vector<std::string> lines;
    for (const char* line = buffer.get(); *line; line += lines.back().size() + 1) lines.emplace_back(line);
    return lines;
}
using Lines = std::vector<std::string>;

TEST(config_text, a_line_is_a_name_and_a_value) {
    EXPECT_EQ(lines_of("A=1\nB=2\n"), (Lines{"A=1", "B=2"}));
    EXPECT_EQ(lines_of("A=1\nB=2"), (Lines{"A=1", "B=2"})) << "without an end of the last line";
    EXPECT_EQ(lines_of(""), Lines{});
    EXPECT_EQ(lines_of("\n\n  \n\t\r\n"), Lines{});
}

TEST(config_text, what_a_shell_could_source_is_one) {
    EXPECT_EQ(lines_of("#!/bin/sh\n# a remark\n  export A=\"b c\"\r\nexport  B = 'x' \n#C=1\n"),
              (Lines{"A=b c", "B=x"}));
    EXPECT_EQ(lines_of("A=\"\nB='x\"\nC=\"\"\n"), (Lines{"A=\"", "B='x\"", "C="})) << "quotes that are no pair";
    EXPECT_EQ(lines_of("A=b#c=d\n"), (Lines{"A=b#c=d"}));
}

TEST(config_text, what_is_no_setting_is_kept_to_be_said) {
    EXPECT_EQ(lines_of("just words\nword\nexport\n=x\n"), (Lines{"just words", "word", "export", "=x"}));
}

TEST(config_text, bytes_of_zero_are_blanks) {
    EXPECT_EQ(lines_of(std::string("A=1\0B=2\nC=3", 11)), (Lines{"A=1 B=2", "C=3"}));
    EXPECT_EQ(lines_of(std::string(5, '\0')), Lines{});
}

TEST(config_text, a_file_of_others_does_not_count) {
    struct stat file {};
    file.st_mode = S_IFREG | 0644;
    file.st_uid = 1000;
    EXPECT_EQ(format::why_config_does_not_count(file, 1000), nullptr);
    EXPECT_NE(format::why_config_does_not_count(file, 1001), nullptr) << "another user's";
    file.st_uid = 0;
    EXPECT_EQ(format::why_config_does_not_count(file, 1001), nullptr) << "root's";
    for (const mode_t mode : {0664, 0646, 0666}) {
        file.st_mode = S_IFREG | mode;
        EXPECT_NE(format::why_config_does_not_count(file, 1001), nullptr) << std::oct << mode;
    }
    file.st_mode = S_IFDIR | 0755;
    EXPECT_NE(format::why_config_does_not_count(file, 1001), nullptr) << "a directory";
    file.st_mode = S_IFREG | 0644;
    file.st_size = format::most_config_bytes;
    EXPECT_NE(format::why_config_does_not_count(file, 1001), nullptr) << "too long";
}

}  // namespace
}  // namespace mpiprof
