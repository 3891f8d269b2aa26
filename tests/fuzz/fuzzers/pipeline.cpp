#include "tests/fuzz/fuzzers/pipeline.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <tuple>

#include "report/analysis/analysed.h"
#include "report/exports/export.h"
#include "report/layouts/layout.h"
#include "report/merge/partial_merge.h"
#include "report/model/sums.h"
#include "report/page/page.h"
#include "report/read/consistency.h"
#include "report/sections/live.h"
#include "report/sections/section.h"
#include "report/views/view.h"

namespace mpiprof::fuzz {

using namespace report;

void broken(const char* what, std::string_view text) {
    std::fprintf(stderr, "%s:\n%.*s\n", what, static_cast<int>(std::min<std::size_t>(text.size(), 4000)), text.data());
    std::abort();
}

void expect_safe_on_a_terminal(std::string_view text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\n') || byte == 0x7f) broken("a control character reaches the terminal", text);
    }
}

void expect_json(std::string_view text) {
    if (!nlohmann::json::accept(text)) broken("this is no JSON", text);
}

namespace {

// A second rank of the same job, so that merging has something to add; it hangs where the first did.
Profile neighbour_of(Profile other) {
    other.rank ^= 1u;
    other.size = std::max(other.size, other.rank + 1);
    other.state = State::running;
    other.life = Life::ended;
    other.is_end_estimated = true;
    return other;
}

Job merged(const Profile& profile, const Profile& neighbour) {
    CallRegistry registry;
    PartialMerge part(registry), second(registry);
    part.add(profile);
    second.add(neighbour);
    part.absorb(std::move(second));
    return part.finish();
}

void keep_cells(Job& job, const Profile& profile) {
    std::vector<Sum> sums = sums_of(profile);
    std::erase_if(sums, [&](Sum& sum) {
        const std::string& name = profile.calls[sum.call].name;
        const auto found =
            std::find_if(job.calls.begin(), job.calls.end(), [&](const Call& call) { return call.name == name; });
        if (found != job.calls.end()) sum.call = static_cast<std::uint16_t>(found - job.calls.begin());
        return found == job.calls.end();
    });
    std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
        return std::tie(a.call, a.bin, a.buffer) < std::tie(b.call, b.bin, b.buffer);
    });
    job.kept_cells[profile.rank] = std::move(sums);
}

void show(const Section& section, const View& view, const Job& job, Question question, const Screen& screen) {
    question.is_for_screen = view.is_for_screen;
    const auto tables = section.answer(job, question);
    if (!tables) return;
    const std::string text = view.show({section.name, *tables}, screen);
    if (view.is_for_screen) expect_safe_on_a_terminal(text);
    if (view.name == "json") expect_json(text);
}

void show_sections(const Job& job, std::uint32_t rank) {
    constexpr Screen wide{.width = 120, .has_utf8 = true, .has_color = false};
    constexpr Screen narrow{.width = 40, .has_utf8 = false, .has_color = false};
    for (const Section& section : sections()) {
        for (const View& view : views()) show(section, view, job, {}, wide);
        Question question{.ranks = {rank}, .sort = {}, .by = {}, .top = 3};
        if (!section.by.empty()) question.by = section.by.back();
        show(section, views().front(), job, question, narrow);
    }
}

// No name adds a tag to the page: what begins one is counted without the names' own, which are escaped.
void show_page(const Job& job) {
    page::Page made{.title = job.command, .heading = job.command, .blocks = {}};
    for (const Section& section : sections())
        if (auto tables = section.answer(job, {}))
            made.blocks.push_back({.id = std::string(section.name),
                                   .title = job.executable,
                                   .caption = job.directory,
                                   .command = job.command,
                                   .tables = std::move(*tables)});
    const std::string html = page::html_of(made);
    expect_safe_on_a_terminal(html);
    if (html.find("<script") != html.rfind("<script")) broken("a script of somebody else's", html);
}

}  // namespace

void report_on(const std::function<Profile()>& read) {
    const Profile profile = read(), neighbour = neighbour_of(read());
    Job job = merged(profile, neighbour);
    keep_cells(job, profile);
    for (auto* modules : {&job.modules, &job.sites.modules})  // looking into programs is symbols.cpp's matter
        for (Module& module : *modules) module.path.clear();
    show_sections(job, profile.rank);
    show_page(job);
    const Job later = merged(neighbour, profile);
    const auto tables = live_tables(later, &job);
    expect_safe_on_a_terminal(find_view("text")->show({"watch", tables}, {.width = 80, .has_utf8 = true}));
    disagreements(profile);
    for (const Layout& layout : layouts()) {
        const Listing listing(job, layout);
        if (const auto text = listing.text(profile.rank, JobPart::always)) expect_safe_on_a_terminal(*text);
    }
    const auto shown = [&](std::uint32_t rank) -> Result<Profile> {
        Profile one = read();
        for (Module& module : one.modules) module.path.clear();
        if (rank != one.rank) one.rank = neighbour.rank;
        return one;
    };
    for (const Export& one : exports()) {
        std::string text;
        one.write(
            job, shown, [&](std::string_view piece) { text += piece; }, [](const Problem&) {});
        if (one.name == "folded")
            expect_safe_on_a_terminal(text);
        else if (!text.empty() && one.name != "csv")
            expect_json(text);
    }
}

}  // namespace mpiprof::fuzz
