// Documents: a page and Markdown say what they draw, and no more.
#include <gtest/gtest.h>

#include "report/page/page.h"
#include "report/views/view.h"

namespace mpiprof::test {
namespace {

TEST(page, notes_on_a_drawing_go_where_it_is_drawn) {
    report::Table table{.id = "t",
                        .title = {},
                        .columns = {{.id = "name", .title = "NAME"},
                                    {.id = "line", .title = "OVER TIME", .draw = report::Draw::sparkline}},
                        .rows = {},
                        .notes = {}};
    table.rows = {{"a", report::Series{1, 1.001, 1, 1.001}}};
    table.notes = {report::Note::on("line", "from start to end"), "all of it"};
    const std::string markdown = report::find_view("markdown")->show({"t", {table}}, {});
    EXPECT_EQ(markdown.find("OVER TIME"), std::string::npos) << markdown;
    EXPECT_NE(markdown.find("all of it"), std::string::npos) << markdown;
    const std::string page =
        report::page::html_of({.title = "",
                               .heading = "",
                               .blocks = {{.id = "", .title = "", .caption = "", .command = "", .tables = {table}}}});
    EXPECT_NE(page.find("OVER TIME: from start to end"), std::string::npos) << page;
    EXPECT_NE(page.find("points=\"0.0,11.0 53.3,10.8 106.7,11.0"), std::string::npos) << "noise stays low";
}

}  // namespace
}  // namespace mpiprof::test
