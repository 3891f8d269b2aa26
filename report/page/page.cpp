// The policy lets in the page's own style and script by their hashes, and nothing else.
#include "report/page/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/model/page_marks.h"
#include "report/model/visible.h"
#include "report/page/assets.h"
#include "report/page/html.h"

namespace mpiprof::report::page {
namespace {

constexpr std::string_view style_file = "mpiprof.css", script_file = "mpiprof.js";

std::string section(const Block& block) {
    std::string body;
    const std::string caption = block.of_pictures.empty()
                                    ? ""
                                    : "<figcaption class=\"caption\">" + in_markup(block.of_pictures) + "</figcaption>";
    for (const std::string& svg : block.pictures) body += "<figure>" + caption + svg + "</figure>\n";
    for (std::size_t i = 0; i < block.tables.size(); ++i) {
        const Table& table = block.tables[i];
        if (table.only_data || (table.is_empty() && table.notes.empty())) continue;
        body += html_of(table, table.id.empty() ? fmt::format("{}-{}", block.id, i) : block.id + "-" + table.id);
    }
    std::string out =
        fmt::format("<section id=\"{0}\" class=\"{0}\">\n<h2>{1}</h2>\n", block.id, in_markup(block.title));
    if (!block.caption.empty()) out += "<p class=\"caption\">" + in_markup(block.caption) + "</p>\n";
    if (body.empty()) body = "<p class=\"note\">" + in_markup(block.when_empty) + "</p>\n";
    out += body;
    if (!block.command.empty())
        out += "<p class=\"command\">Command: <code>" + in_markup(block.command) + "</code></p>\n";
    return out + "</section>\n";
}

// Where the text names a command whose block is on this page, or a [tag], it leads there: who has the page alone cannot
// run anything.
std::string linked(const std::string& markup, const Page& page) {
    constexpr std::string_view command = "mpiprof-report ";
    std::string out;
    std::size_t done = 0;
    for (std::size_t at = markup.find(command); at != std::string::npos; at = markup.find(command, at + 1)) {
        std::size_t end = at + command.size();
        while (end < markup.size() && markup[end] >= 'a' && markup[end] <= 'z') ++end;
        const std::string_view id = std::string_view(markup).substr(at + command.size(), end - at - command.size());
        const bool is_here = std::ranges::find(page.blocks, id, &Block::id) != page.blocks.end();
        if (!is_here || std::string_view(markup).substr(0, at).ends_with("<code>")) continue;
        out += fmt::format("{}<a href=\"#{}\">{}</a>", std::string_view(markup).substr(done, at - done), id,
                           std::string_view(markup).substr(at, end - at));
        done = end;
    }
    return out + markup.substr(done);
}

std::string policy_of(const Page& page) {
    std::string policy = fmt::format("default-src 'none'; base-uri 'none'; form-action 'none'; style-src '{}'",
                                     page.is_one_file ? style_hash : "self");
    if (page.has_script) policy += fmt::format("; script-src '{}'", page.is_one_file ? script_hash : "self");
    return policy;
}

std::string head(const Page& page) {
    std::string out = fmt::format(
        "{}\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
        "{}{}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n",
        page_beginning, policy_of(page), page_maker, MPIPROF_VERSION, in_markup(page.title));
    if (page.is_one_file)
        out += fmt::format("<style>{}</style>\n", style);
    else
        out += fmt::format("<link rel=\"stylesheet\" href=\"{}\">\n", style_file);
    return out + "</head>\n";
}

// At the end, so that what there is to see is there before it.
std::string data(const Page& page) {
    std::string out;
    if (!page.launch.empty())
        out = fmt::format("{}{}{}\n{}{}{}\n", launch_begins, page.launch, data_end, names_begin, page.names, data_end);
    if (page.has_script)
        out += page.is_one_file ? fmt::format("<script>{}</script>\n", script)
                                : fmt::format("<script src=\"{}\"></script>\n", script_file);
    return out;
}

}  // namespace

std::string html_of(const Page& page) {
    std::string out = head(page);
    out += fmt::format("<body>\n<header><p class=\"caption\">mpiprof: where the time of this run went</p><h1>{}</h1>",
                       in_markup(page.heading));
    if (page.is_private) out += "<p class=\"caption\">" + in_markup(page.holds) + "</p>";
    out += "</header>\n<nav aria-label=\"Blocks\">";
    for (const Block& block : page.blocks)
        out += fmt::format("<a href=\"#{}\">{}</a>\n", block.id, in_markup(block.title));
    out += "</nav>\n<main>\n";
    for (const Block& block : page.blocks) out += linked(section(block), page);
    out += fmt::format("</main>\n<footer><p>mpiprof {}. This file loads nothing from elsewhere. {}</p></footer>\n",
                       MPIPROF_VERSION, page.is_private ? "" : in_markup(page.holds));
    return out + data(page) + "</body>\n</html>\n";
}

std::vector<File> files_beside(const Page& page) {
    if (page.is_one_file) return {};
    std::vector<File> files{{style_file, style}};
    if (page.has_script) files.push_back({script_file, script});
    return files;
}

}  // namespace mpiprof::report::page
