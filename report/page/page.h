// A report as one HTML file that needs no other and asks nobody for anything: what the tables of sections say, in their
// order, and pictures. Values in, text out; it computes nothing and knows no job. For `mpiprof-report html`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/model/table.h"

namespace mpiprof::report::page {

struct Block {
    std::string id, title;
    std::string caption;  // two sentences at most
    std::string command;  // that prints it; empty: none does
    std::vector<Table> tables{};
    std::string when_empty = "There is nothing of it in this run.";
    std::string of_pictures{};            // what they show, where it is not plain
    std::vector<std::string> pictures{};  // SVG, as report/plots writes it
};

struct Page {
    std::string title;  // of the window
    std::string heading;
    std::vector<Block> blocks{};
    std::string holds{};      // what of people and machines it says
    bool is_private = false;  // then it says so at its top
    bool has_script = true;   // else nothing can be sorted or copied: for mail gateways
    bool is_one_file = true;  // else style and script lie beside it, for servers that forbid them within
    // Base64, for other commands to read (model/page_marks.h); empty: it has none.
    std::string launch{}, names{};
};

std::string html_of(const Page& page);

// What lies beside a page that is not one file.
struct File {
    std::string_view name, text;
};
std::vector<File> files_beside(const Page& page);

}  // namespace mpiprof::report::page
