// What `explain` and --help say of columns: every heading of every screen has a meaning, by the schema's titles.
#include "report/sections/column_meanings.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "report/analysis/analysed.h"
#include "report/sections/section.h"
#include "tests/report/all_stories.h"
#include "tests/report/every_part.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

// "section, table, id, heading" of columns that have no meaning.
void look_for_unexplained(const report::Job& job, std::set<std::string>& missing, std::size_t& headings) {
    const report::Analysed all(job);
    for (const report::Section& section : report::sections())
        for (const std::string_view by : section.by)
            for (const bool is_for_screen : {true, false}) {
                report::Question question;
                question.by = by;
                question.wants_details = true;
                question.is_for_screen = is_for_screen;
                const auto tables = section.answer(all, question);
                if (!tables) continue;
                for (const report::Table& table : *tables)
                    for (const report::Column& column : table.columns) {
                        const bool is_a_device = table.id == "topology" && column.id == column.title;
                        if (column.title.empty() || is_a_device) continue;
                        ++headings;
                        if (!report::is_explained(section.name, table.id, column))
                            missing.insert(fmt::format("{}\t{}\t{}\t{}\t{}", section.name, table.id, column.id,
                                                       column.title, column.only_screen));
                    }
            }
}

TEST(column_meanings, every_heading_of_every_screen_has_one) {
    std::set<std::string> missing;
    std::size_t headings = 0;
    for (const Story& story : all_stories()) look_for_unexplained(job_of(story.ranks()), missing, headings);
    look_for_unexplained(job_of(every_part()), missing, headings);
    for (const auto& demo : std::filesystem::directory_iterator(MPIPROF_DEMOS))
        if (demo.path().extension() == ".mpiprof") look_for_unexplained(job_of(demo.path()), missing, headings);
    for (const std::string& column : missing) ADD_FAILURE() << column;
    EXPECT_GT(headings, 3000u);
}

}  // namespace
}  // namespace mpiprof::test
