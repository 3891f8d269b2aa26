// What a section says of a job, as a view shows it. For the tests of what people and programs are given.
#pragma once

#include <string>
#include <string_view>

#include "report/sections/section.h"
#include "report/views/view.h"

namespace mpiprof::test {

std::string shown(const report::Job& job, const std::string& section, report::Question question = {},
                  const char* view = "text", report::Screen screen = {.width = 80, .has_utf8 = true});

// The summary with --details: whatever it may say of the figures.
inline report::Question detailed() {
    report::Question question;
    question.wants_details = true;
    return question;
}

// Without its line breaks, to look for sentences.
std::string unwrapped(std::string_view text);

bool says(std::string_view text, std::string_view words);

}  // namespace mpiprof::test
