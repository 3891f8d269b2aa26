// The list of sections, from sections.def: a new one is a file beside this and a line there.
#include <algorithm>
#include <array>

#include "report/sections/section.h"

namespace mpiprof::report {

#define SECTION(section, about, examples, ...) \
    Result<std::vector<Table>> section(const Analysed& all, const Question& question);
#include "report/sections/sections.def"
#undef SECTION

namespace {

#define SECTION(section, about_it, example_words, ...) \
    Section{.name = #section, .ask = section, .about = about_it, .examples = example_words __VA_OPT__(, ) __VA_ARGS__},
constexpr std::array all{
#include "report/sections/sections.def"
};
#undef SECTION

}  // namespace

std::span<const Section> sections() { return all; }

const Section* find_section(std::string_view name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Section& s) { return s.name == name; });
    return found == all.end() ? nullptr : found;
}

}  // namespace mpiprof::report
