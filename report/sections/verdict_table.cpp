// What to do is that of `mpiprof-report explain`.
#include "report/sections/verdict_table.h"

#include <fmt/format.h>

#include "report/analysis/where.h"
#include "report/model/number_list.h"
#include "report/model/units.h"
#include "report/sections/headline.h"
#include "report/sections/rule_words.h"
#include "report/sections/section.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {

std::string site_of(const Finding& verdict, const Job& job) {
    const auto where = where_of(verdict, job);
    if (!where) return "";
    Symbols symbols;
    const Symbol& symbol = symbols.at(*where->module, where->offset);
    if (symbol.lines.empty()) return "";
    const std::string& call = job.calls[where->call].name;
    return fmt::format("{} at {}: {} of {}", call, source_text(symbol.lines.front()), human_share(where->share),
                       where->is_of_waiting ? "all waiting (an estimate)" : "the time in " + call);
}

std::string_view next_step(const Finding& verdict) {
    return verdict.rule == Rule::healthy ? std::string_view() : text_of(verdict.rule).check;
}

// The cause of the time lost, in one sentence; of a damaged or paused profile, too.
Table verdict_table(const Job& job, const Verdict& verdict) {
    const Finding& finding = verdict.finding;
    HeadlineTable lines("verdict");
    const std::string sentence = sentence_of(finding, job);
    lines.add("rule", std::string(id_of(finding.rule)));
    lines.add("text", sentence);
    NumberList ranks;
    for (const std::uint32_t rank : finding.ranks) ranks.add(NumberList::of({rank, rank}));
    lines.add("ranks", ranks.empty() ? Value() : Value(ranks.text()));
    lines.add("node", finding.nodes.size() == 1 ? Value(host_of(job, finding.nodes.front())) : Value());
    lines.add("run_share", finding.run_share > 0 ? Value(finding.run_share) : Value());
    const auto* imbalance = std::get_if<evidence::Imbalance>(&finding.evidence);
    const Stretch when = imbalance && imbalance->when ? *imbalance->when : Stretch{};
    lines.add("since_ns", known(when.began_at));
    lines.add("until_ns", known(when.ended_at));
    const std::string site = site_of(finding, job);
    const std::string next(next_step(finding));
    lines.add("site", site.empty() ? Value() : Value(site));
    lines.add("next", next.empty() ? Value() : Value(next));
    Table table = lines.take();
    table.title = fmt::format("{} [{}]", sentence, id_of(finding.rule));
    if (!site.empty()) table.notes.push_back("where: " + site);
    if (!next.empty()) table.notes.push_back("next: " + next);
    return table;
}

}  // namespace mpiprof::report
