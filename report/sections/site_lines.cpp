// Addresses become functions and lines; what lines have in common makes one of them.
#include "report/sections/site_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "report/model/base_name.h"
#include "report/model/joined.h"
#include "report/model/tally.h"
#include "report/symbols/demangle.h"

namespace mpiprof::report {
namespace {

constexpr std::string_view not_told_apart = "(other)";

// What calls main is the same in every program.
bool is_outermost(const SourceLine& source) {
    return source.function == "main" || source.function.starts_with("__libc_start_");
}

// What lines have in common that become one: its name; and of a line of the source, which may hold several calls, the
// call.
using GroupKey = std::pair<std::string, std::string>;

GroupKey group_of(const SiteLine& line, SitesBy by, const Job& job) {
    const std::string module = line.module.empty() ? std::string(not_told_apart) : base_name(line.module);
    switch (by) {
        case SitesBy::function:
            return {!line.source.function.empty() ? short_function(line.source.function) : module, ""};
        case SitesBy::file:
            return {!line.source.file.empty() ? line.source.file : module, ""};
        case SitesBy::call:
            return {job.calls[line.site.call].name, ""};
        case SitesBy::line:
        case SitesBy::stack:
            break;
    }
    return {line.name, *line.call_names.begin()};
}

// How many ranks, and which spent most, is known of single sites alone.
void add(SiteLine& to, const SiteLine& from) {
    add_tally(to, from);
    to.judged_ns += from.judged_ns;
    to.waiting_ns += from.waiting_ns;
    to.compared_ns += from.compared_ns;
    to.callers = 0;
    to.largest_ns.reset();
    to.call_names.insert(from.call_names.begin(), from.call_names.end());
    to.comms.insert(from.comms.begin(), from.comms.end());
    to.sites += from.sites;
    to.stack.clear();
}

}  // namespace

SitesBy sites_by(const std::string& name) {
    if (name == "line") return SitesBy::line;
    if (name == "function") return SitesBy::function;
    if (name == "file") return SitesBy::file;
    return name == "call" ? SitesBy::call : SitesBy::stack;
}

SitesContext::SitesContext(const Job& j, const Question& question)
    : job(j), found(j.kept_sites ? *j.kept_sites : j.sites) {
    for (const Rank& rank : job.ranks)
        if (rank.has_profile && question.is_about(rank.rank)) mpi_ns += static_cast<double>(rank.inside_ns());
    ranks = std::max(1.0, static_cast<double>(question.ranks.empty() ? job.profiles() : question.ranks.size()));
}

std::string names_text(const std::set<std::string>& names, std::size_t most) {
    std::string text;
    std::size_t n = 0;
    for (const std::string& name : names) {
        if (n++ == most) return text + fmt::format(", +{}", names.size() - most);
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

std::vector<SourceLine> SitePlaces::lines_of(const Place& place) {
    const Module& module = found_.modules[place.module];
    const Symbol& symbol = symbols_.at(module, place.offset);
    const bool has_line = !symbol.lines.empty() && !symbol.lines.front().file.empty();
    if (!symbol.problem.empty())
        problems_.insert(fmt::format("{}: {}", module.path, symbol.problem));
    else if (!has_line && !module.path.empty())
        bare_.insert(base_name(module.path));
    return symbol.lines;
}

std::vector<std::string> SitePlaces::notes() const {
    std::vector<std::string> notes(problems_.begin(), problems_.end());
    if (!bare_.empty())
        notes.push_back(
            fmt::format("no debug information in {}: no line numbers, and functions only where there are symbols",
                        names_text(bare_, 4)));
    return notes;
}

SiteLine line_of(const SitesContext& context, const CommLabels& labels, const CallSite& site) {
    SiteLine line;
    add_tally(line, site);
    line.judged_ns = site.judged_ns;
    line.waiting_ns = site.waiting_ns;
    line.compared_ns = site.compared_ns;
    line.callers = site.ranks;
    if (site.largest_ns != 0) line.largest_ns = site.largest_ns;
    line.largest_rank = site.largest_rank;
    line.ranks = context.ranks;
    line.mpi_ns = context.mpi_ns;
    line.context = &context;
    line.site = site;
    line.call_names.insert(context.job.calls[site.call].name);
    for (const CommRef& comm : site.comms)
        if (const std::string label = labels.of(comm); !label.empty()) line.comms.insert(label);
    if (site.has_more_comms) line.comms.insert("...");
    return line;
}

void describe(SiteLine& line, SitePlaces& places, bool is_for_screen, const std::set<std::size_t>& with_address) {
    std::vector<std::string> texts;
    const auto& frames = line.site.frames;
    const std::size_t own = own_frame(frames, line.context->found.modules);
    // What packages do between that line and the call is for data, and for what nothing else tells apart.
    for (std::size_t i = is_for_screen && with_address.empty() ? own : 0; i < frames.size(); ++i) {
        const Place& place = frames[i];
        const auto sources = places.lines_of(place);
        if (i == own) {
            line.module = places.module_of(place);
            if (!sources.empty()) line.source = sources.front();
        }
        if (sources.empty()) texts.push_back(places.address_of(place));
        for (const SourceLine& source : sources) texts.push_back(source_text(source, is_for_screen));
        if (!sources.empty() && with_address.contains(i) && !places.is_script(place))
            texts.back() += fmt::format(" ({:#x})", place.offset);
        if (!sources.empty() && is_outermost(sources.back())) break;
    }
    if (texts.empty()) texts.emplace_back(not_told_apart);
    line.stack = joined(texts, " < ");
    line.name = texts.front();
    line.below.assign(texts.begin() + 1, texts.end());
}

void tell_apart(std::vector<SiteLine>& lines, SitePlaces& places, bool is_for_screen) {
    std::map<std::pair<std::uint16_t, std::string>, std::vector<SiteLine*>> by_text;
    for (SiteLine& line : lines) by_text[{line.site.call, line.stack}].push_back(&line);
    for (const auto& [text, alike] : by_text) {
        std::set<std::size_t> differing;
        for (const SiteLine* line : alike)
            for (std::size_t i = 0; i < line->site.frames.size(); ++i)
                if (const auto& first = alike.front()->site.frames;
                    i >= first.size() || line->site.frames[i] != first[i])
                    differing.insert(i);
        if (!differing.empty())
            for (SiteLine* line : alike) describe(*line, places, is_for_screen, differing);
    }
}

std::vector<SiteLine> grouped(const std::vector<SiteLine>& lines, SitesBy by, const Job& job) {
    std::vector<SiteLine> groups;
    std::map<GroupKey, std::size_t> index;
    for (const SiteLine& line : lines) {
        const GroupKey key = group_of(line, by, job);
        const auto [at, is_new] = index.try_emplace(key, groups.size());
        if (!is_new) {
            add(groups[at->second], line);
            continue;
        }
        SiteLine& group = groups.emplace_back(line);
        group.name = key.first;
        if (by != SitesBy::line) group.source = {};
        if (by == SitesBy::call) group.module.clear();
        group.below.clear();
    }
    return groups;
}

}  // namespace mpiprof::report
