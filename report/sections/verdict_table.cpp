// What to do is that of `mpiprof-report explain`.
#include "report/sections/verdict_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "report/analysis/finding_fields.h"
#include "report/analysis/where.h"
#include "report/model/units.h"
#include "report/sections/rule_words.h"
#include "report/sections/section.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {

std::string SourceSite::text() const {
    return fmt::format("{}{} at {}, {} of {}{}", is_of_waiting ? "ranks wait in " : "", call, source_text(source),
                       human_share(share), is_of_waiting ? "all waiting (an estimate)" : "the time in " + call,
                       second.empty() ? "" : "; " + second);
}

std::optional<SourceSite> site_of(const Finding& verdict, const Job& job) {
    const Where where = where_of(verdict, job);
    Symbols symbols;
    std::vector<SourceSite> sites;
    for (const WhereLine& line : where.lines) {
        const Symbol& symbol = symbols.at(*line.module, line.offset);
        if (symbol.lines.empty()) continue;
        const SourceSite site{job.calls[line.call].name, symbol.lines.front(), line.share, where.is_of_waiting};
        const auto same = std::ranges::find_if(
            sites, [&](const SourceSite& known) { return known.call == site.call && known.source == site.source; });
        if (same == sites.end())
            sites.push_back(site);
        else
            same->share += site.share;
    }
    std::ranges::stable_sort(sites, std::greater(), &SourceSite::share);
    if (sites.empty() || sites.front().share < a_good_part) return {};
    SourceSite most = sites.front();
    if (sites.size() > 1 && sites[1].share >= a_good_part)
        most.second =
            fmt::format("{} at {}, {}", sites[1].call, source_text(sites[1].source), human_share(sites[1].share));
    return most;
}

std::string next_step(const Finding& verdict, const Job& job) {
    const RuleWords& words = text_of(verdict.rule);
    if (verdict.rule == Rule::healthy) return "";
    const std::string of_this_one = words.next ? words.next({verdict, job, vocabulary_of(job)}) : "";
    return of_this_one.empty() ? std::string(words.check) : of_this_one;
}

const Finding* also_said(const Analysed& all) {
    const Finding& cause = all.cause();
    const bool is_of_program =
        cause.rule != Rule::crowded && cause.rule != Rule::foreign_load && row_of(cause.rule).kind != Kind::most_time;
    if (is_of_program) return nullptr;
    // A rank that still runs has not ended, and costs nothing.
    const auto is_worth_it = [](const Finding& f) {
        return f.is_serious && (row_of(f.rule).kind != Kind::ended || f.run_share > 0);
    };
    for (std::size_t i = 1; i < all.verdicts().size(); ++i)
        if (is_worth_it(all.verdicts()[i].finding)) return &all.verdicts()[i].finding;
    return nullptr;
}

std::string cost_text(const Finding& verdict, const Analysed& all) {
    const double share = cost_share(verdict);
    if (share <= 0 || share >= 1) return "";
    constexpr double hour_ns = 3600e9;
    const double ns = cost_ns(verdict, all.figures());
    const bool is_of_processes = std::holds_alternative<evidence::Init>(verdict.evidence) ||
                                 std::holds_alternative<evidence::Finalize>(verdict.evidence);
    const std::string time = ns < hour_ns / 10 ? human_time(ns) + " added up over the ranks"
                                               : fmt::format("{:.1f} rank-hours", ns / hour_ns);
    return fmt::format("{} of the time of all {}, {}", human_share(share),
                       is_of_processes ? "processes from start to end" : "ranks", time);
}

// The cause of the time lost, in one sentence; of a damaged or paused profile, too.
Table verdict_table(const Analysed& all) {
    const Finding& finding = all.cause();
    HeadlineTable lines("verdict");
    const std::string sentence = sentence_of(finding, all.job);
    lines.add("rule", std::string(id_of(finding.rule)));
    lines.add("severity", std::string(severity_of(finding.is_serious)));
    lines.add("text", sentence);
    for (const auto& [key, value] : fields_of(finding, all).named()) lines.add(std::string(key), value);
    const std::optional<SourceSite> site = site_of(finding, all.job);
    const auto text = [&](const std::string& part) { return part.empty() ? Value() : Value(part); };
    lines.add("site_call", site ? text(site->call) : Value());
    lines.add("site_function", site ? text(site->source.function) : Value());
    lines.add("site_file", site ? text(site->source.file) : Value());
    lines.add("site_line", site ? known(std::uint64_t{site->source.line}) : Value());
    lines.add("site_share", site ? Value(site->share) : Value());
    lines.add("site_share_is_of", site ? Value(std::string(site->is_of_waiting ? "waiting" : "call")) : Value());
    const std::string next = next_step(finding, all.job);
    lines.add("next", text(next));
    Table table = lines.take();
    table.title = fmt::format("{} [{}]", sentence, id_of(finding.rule));
    if (const std::string cost = cost_text(finding, all); !cost.empty()) table.notes.push_back("cost: " + cost);
    if (site) table.notes.push_back("where: " + site->text());
    if (!next.empty()) table.notes.push_back(fmt::format("next: {}", next));
    if (const Finding* other = also_said(all))
        table.notes.push_back(fmt::format("also: {} [{}]", sentence_of(*other, all.job), id_of(other->rule)));
    return table;
}

}  // namespace mpiprof::report
