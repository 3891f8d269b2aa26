// mpiprof-report as it is typed, in a directory of the test's own. For the tests of its commands.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/report/profile_builder.h"
#include "tests/report/run_reporter.h"

namespace mpiprof::test {

namespace fs = std::filesystem;

class cli : public testing::Test {
  protected:
    void write(const std::vector<ProfileSpec>& ranks, const char* name = ".") {
        fs::create_directories(directory_.path() / name);
        for (const ProfileSpec& rank : ranks) write_profile(directory_.path() / name, rank);
    }
    Ran run(std::vector<std::string> words) { return run_reporter(directory_.path(), std::move(words)); }
    const fs::path& path() { return directory_.path(); }

  private:
    TemporaryDirectory directory_;
};

}  // namespace mpiprof::test
