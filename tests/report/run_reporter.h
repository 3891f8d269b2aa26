// Runs mpiprof-report as a user would. For the tests of what is typed; CMake says where it is (MPIPROF_REPORT).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mpiprof::test {

struct Ran {
    int code;  // 1000 + the signal that ended it
    std::string out;
    std::string err;
};

// In `directory`, with the words given.
Ran run_reporter(const std::filesystem::path& directory, std::vector<std::string> words,
                 std::vector<std::string> environment = {"LC_ALL=C.UTF-8", "TZ=UTC"});

// What it says of a job: without the line of a summary that names the operand.
std::string answer_of(const Ran& ran);

}  // namespace mpiprof::test
