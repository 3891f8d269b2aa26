// The table of rules.
#include "report/analysis/finding.h"

#include <algorithm>
#include <array>

namespace mpiprof::report {
namespace {

using enum Rule;
#define RULE(name, id, figures, kind, about, ...) \
    constexpr auto explained_by_##name = std::to_array<Rule>({name, ##__VA_ARGS__});
#include "report/analysis/rules.def"
#undef RULE

constexpr RuleRow rows[] = {
#define RULE(name, id, figures, kind, about, ...) \
    {id, Kind::kind, About::about, std::span(explained_by_##name).subspan(1)},
#include "report/analysis/rules.def"
#undef RULE
};

}  // namespace

Evidence::Evidence() = default;
Evidence::Evidence(const Evidence&) = default;
Evidence::Evidence(Evidence&&) noexcept = default;
Evidence& Evidence::operator=(const Evidence&) = default;
Evidence& Evidence::operator=(Evidence&&) noexcept = default;
Evidence::~Evidence() = default;

FigureList figures_of(const Finding& finding) {
    return std::visit(
        [](const auto& evidence) -> FigureList {
            if constexpr (requires { evidence.figures(); })
                return evidence.figures();
            else
                return {};
        },
        static_cast<const AnyFigures&>(finding.evidence));
}

Confidence confidence_of(const Finding& finding) {
    return std::visit(
        [](const auto& evidence) {
            if constexpr (requires { evidence.confidence(); })
                return evidence.confidence();
            else
                return Confidence::measured;
        },
        static_cast<const AnyFigures&>(finding.evidence));
}

std::string_view id_of(Confidence confidence) {
    constexpr std::string_view ids[] = {"proven", "measured", "at_least", "estimated"};
    return ids[static_cast<std::size_t>(confidence)];
}

const RuleRow& row_of(Rule rule) { return rows[static_cast<std::size_t>(rule)]; }

std::span<const Rule> all_rules() {
    static constexpr auto rules = [] {
        std::array<Rule, std::size(rows)> all{};
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Rule>(i);
        return all;
    }();
    return rules;
}

std::optional<Rule> rule_called(std::string_view id) {
    const auto found = std::find_if(std::begin(rows), std::end(rows), [&](const RuleRow& row) { return row.id == id; });
    return found == std::end(rows) ? std::nullopt : std::optional(static_cast<Rule>(found - rows));
}

}  // namespace mpiprof::report
