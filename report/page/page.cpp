// The policy lets in the page's own style and script by their hashes, and nothing else.
#include "report/page/page.h"

#include <fmt/format.h>

#include "report/model/visible.h"
#include "report/page/assets.h"
#include "report/page/html.h"

namespace mpiprof::report::page {
namespace {

std::string section(const Block& block) {
    std::string body;
    for (std::size_t i = 0; i < block.tables.size(); ++i) {
        const Table& table = block.tables[i];
        if (table.only_data || (table.is_empty() && table.notes.empty())) continue;
        body += html_of(table, table.id.empty() ? fmt::format("{}-{}", block.id, i) : block.id + "-" + table.id);
    }
    for (const std::string& svg : block.pictures) body += "<figure>" + svg + "</figure>\n";
    std::string out =
        fmt::format("<section id=\"{0}\" class=\"{0}\">\n<h2>{1}</h2>\n", block.id, in_markup(block.title));
    if (!block.caption.empty()) out += "<p class=\"caption\">" + in_markup(block.caption) + "</p>\n";
    if (body.empty()) body = "<p class=\"note\">There is nothing of it in this run.</p>\n";
    out += body;
    if (!block.command.empty())
        out += "<p class=\"command\">Command: <code>" + in_markup(block.command) + "</code></p>\n";
    return out + "</section>\n";
}

}  // namespace

std::string html_of(const Page& page) {
    const std::string policy =
        fmt::format("default-src 'none'; style-src '{}'{}; base-uri 'none'; form-action 'none'", style_hash,
                    page.has_script ? fmt::format("; script-src '{}'", script_hash) : "");
    std::string out = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"generator\" content=\"mpiprof-report {}\">\n<title>{}</title>\n<style>",
        policy, MPIPROF_VERSION, in_markup(page.title));
    out += style;
    out += fmt::format("</style>\n</head>\n<body>\n<header><h1>{}</h1></header>\n<nav aria-label=\"Blocks\">",
                       in_markup(page.heading));
    for (const Block& block : page.blocks)
        out += fmt::format("<a href=\"#{}\">{}</a>\n", block.id, in_markup(block.title));
    out += "</nav>\n<main>\n";
    for (const Block& block : page.blocks) out += section(block);
    out += fmt::format(
        "</main>\n<footer><p>mpiprof {}. This file holds the names of the program, its files, functions and nodes; it "
        "loads nothing from elsewhere.</p></footer>\n",
        MPIPROF_VERSION);
    if (page.has_script) {
        out += "<script>";
        out += script;
        out += "</script>\n";
    }
    return out + "</body>\n</html>\n";
}

}  // namespace mpiprof::report::page
