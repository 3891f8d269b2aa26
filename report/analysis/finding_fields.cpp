// Numbers of ranks as MPIPROF_RANKS takes them, nodes by the host of their first rank.
#include "report/analysis/finding_fields.h"

#include <algorithm>

#include "report/model/joined.h"
#include "report/model/number_list.h"
#include "report/model/ratio.h"

namespace mpiprof::report {
namespace {

Value ranks_of(const Finding& finding) {
    NumberList ranks;
    for (const std::uint32_t rank : finding.ranks) ranks.add(NumberList::of({rank, rank}));
    return ranks.empty() ? Value() : Value(ranks.text());
}

Value list_of(const std::vector<std::string>& names) { return names.empty() ? Value() : Value(joined(names, ",")); }

Value nodes_of(const Finding& finding, const Job& job) {
    std::vector<std::string> names;
    for (const std::uint32_t node : finding.nodes) {
        const auto first =
            std::find_if(job.ranks.begin(), job.ranks.end(), [&](const Rank& rank) { return rank.node == node; });
        if (first != job.ranks.end()) names.push_back(job.hosts[first->host]);
    }
    return list_of(names);
}

Value calls_of(const Finding& finding, const Job& job) {
    std::vector<std::string> names;
    for (const std::uint16_t call : finding.calls)
        if (const std::string& name = job.calls[call].name; std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    return list_of(names);
}

Value moment(std::uint64_t ns) { return ns ? Value(ns) : Value(); }

}  // namespace

std::vector<std::pair<std::string_view, Value>> FindingFields::named() const {
    return {{"ranks", ranks},     {"nodes", nodes},           {"calls", calls},       {"run_share", run_share},
            {"cost_ns", cost_ns}, {"confidence", confidence}, {"since_ns", since_ns}, {"until_ns", until_ns}};
}

FindingFields fields_of(const Finding& finding, const Analysed& all) {
    const auto* imbalance = std::get_if<evidence::Imbalance>(&finding.evidence);
    const Stretch when = imbalance && imbalance->when ? *imbalance->when : Stretch{};
    const double share = cost_share(finding);
    const bool has_cost = share > 0;
    return {.ranks = ranks_of(finding),
            .nodes = nodes_of(finding, all.job),
            .calls = calls_of(finding, all.job),
            .run_share = has_cost ? Value(share) : Value(),
            .cost_ns = has_cost ? Value(whole_ns(mpiprof::report::cost_ns(finding, all.figures()))) : Value(),
            .confidence = std::string(id_of(confidence_of(finding))),
            .since_ns = moment(when.began_at),
            .until_ns = moment(when.ended_at)};
}

}  // namespace mpiprof::report
