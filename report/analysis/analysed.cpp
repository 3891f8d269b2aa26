// What is asked for first is worked out first; findings ask for figures and hangs in turn.
#include "report/analysis/analysed.h"

#include "report/analysis/hangs.h"
#include "report/analysis/placement_findings.h"

namespace mpiprof::report {
namespace {

template <class T, class Work>
const T& once(std::optional<T>& value, Work work) {
    if (!value) value.emplace(work());
    return *value;
}

}  // namespace

Analysed::~Analysed() = default;

const Figures& Analysed::figures() const {
    return once(figures_, [&] { return figures_of(job); });
}

const Budget& Analysed::budget() const {
    return once(budget_, [&] { return mean_budget(job); });
}

const std::vector<Row>& Analysed::unfinished() const {
    return once(unfinished_, [&] { return unfinished_rows(job, {}); });
}

const Completeness& Analysed::completeness() const {
    return once(completeness_, [&] { return completeness_of(job); });
}

const std::vector<Arrival>& Analysed::arrivals() const {
    return once(arrivals_, [&] { return arrivals_of(job); });
}

const std::vector<Arrival>& Analysed::not_enqueued() const {
    return once(not_enqueued_, [&] { return not_enqueued_by_all(job); });
}

const std::optional<Hang>& Analysed::hang() const {
    return once(hang_, [&] { return hang_of(job); });
}

const Suspicion& Analysed::suspicion() const {
    return once(suspicion_, [&] { return suspicion_of(job, arrivals(), not_enqueued()); });
}

const std::vector<Finding>& Analysed::placement() const {
    return once(placement_, [&] { return placement_findings(job); });
}

const std::vector<Verdict>& Analysed::verdicts() const {
    return once(verdicts_, [&] { return judged(); });
}

double cost_ns(const Finding& finding, const Figures& figures) {
    if (cost_share(finding) <= 0) return 0;
    if (const auto* init = std::get_if<evidence::Init>(&finding.evidence)) return init->lost_ns;
    if (const auto* finalize = std::get_if<evidence::Finalize>(&finding.evidence)) return finalize->lost_ns;
    return cost_share(finding) * static_cast<double>(figures.wall_ns);
}

}  // namespace mpiprof::report
