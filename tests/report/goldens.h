// What people see, kept as files: a test renders, compares with golden/<name> and shows the first line that differs.
// tests/update-goldens writes them anew; the diff is then reviewed.
#pragma once

#include <string>
#include <string_view>

namespace mpiprof::test {

void expect_golden(const std::string& name, std::string_view text);

// No line of a screen is wider than it, or ends in blanks.
void expect_fits(std::string_view text, std::size_t width);

}  // namespace mpiprof::test
