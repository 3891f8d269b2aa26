// Comparing, or writing where MPIPROF_UPDATE_GOLDENS is set.
#include "tests/report/goldens.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "report/model/visible.h"
#include "tests/report/profile_builder.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {

void expect_golden(const std::string& name, std::string_view text) {
    const auto path = golden(name);
    if (std::getenv("MPIPROF_UPDATE_GOLDENS")) return write_file(path, text);
    ASSERT_TRUE(std::filesystem::exists(path)) << path << " is missing; tests/update-goldens writes it";
    const std::string expected = read_file(path);
    if (expected == text) return;
    std::istringstream now{std::string(text)}, before(expected);
    std::string line, old;
    for (int number = 1;; ++number) {
        const bool more = static_cast<bool>(std::getline(now, line));
        const bool had = static_cast<bool>(std::getline(before, old));
        if (more && had && line == old) continue;
        ADD_FAILURE() << name << ":" << number << "\n  was: " << (had ? old : "(end)")
                      << "\n  is:  " << (more ? line : "(end)") << "\nIf that is meant: tests/update-goldens";
        return;
    }
}

void expect_fits(std::string_view text, std::size_t width) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(report::display_width(line), width) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
    }
}

}  // namespace mpiprof::test
