// A report as one HTML file that needs no other and asks nobody for anything: what the tables of sections say, in their
// order, and pictures. Values in, text out; it computes nothing and knows no job. For `mpiprof-report html`.
#pragma once

#include <string>
#include <vector>

#include "report/model/table.h"

namespace mpiprof::report::page {

struct Block {
    std::string id, title;
    std::string caption;  // two sentences at most
    std::string command;  // that prints it; empty: none does
    std::vector<Table> tables;
    std::vector<std::string> pictures{};  // SVG, as report/plots writes it
};

struct Page {
    std::string title;  // of the window
    std::string heading;
    std::vector<Block> blocks;
    bool has_script = true;  // else nothing can be sorted or copied: for mail gateways
};

std::string html_of(const Page& page);

}  // namespace mpiprof::report::page
