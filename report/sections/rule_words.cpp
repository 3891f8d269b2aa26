// The table of the rules' words, and what is common to all that is said.
#include "report/sections/rule_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr const RuleWords* table[] = {
#define RULE(name, ...) &rule_words::name,
#include "report/analysis/rules.def"
#undef RULE
};

Spoken spoken(const Finding& finding, const Job& job) { return {finding, job, vocabulary_of(job)}; }

// mpitrace writes the calls of a few ranks only: what follows of them is of these. Times of all ranks are in its table.
std::string by_whose_text(const Finding& verdict, const Job& job) {
    const bool is_by_table = std::holds_alternative<evidence::Imbalance>(verdict.evidence) ||
                             std::holds_alternative<evidence::Overlap>(verdict.evidence);
    if (!job.is_text || job.profiles() == job.size || is_by_table) return "";
    if (job.profiles() != 1) return fmt::format("From the texts of {} of {} ranks: ", job.profiles(), job.size);
    const auto it = std::find_if(job.ranks.begin(), job.ranks.end(), [](const Rank& rank) { return rank.has_profile; });
    return fmt::format("From the text of rank {} only: ", it->rank);
}

}  // namespace

std::string Spoken::ranks(At at) const { return ranks_text(finding.ranks, most_items, at); }

std::string Spoken::who(At at) const { return ranks(at) + on_node_text(job, finding.ranks); }

std::string_view Spoken::others() const {
    return finding.ranks.size() + 1 == job.ranks.size() ? "the other rank spends" : "the other ranks spend";
}

const RuleWords& text_of(Rule rule) { return *table[static_cast<std::size_t>(rule)]; }

std::string words_of(const Finding& finding, const Job& job) {
    return text_of(finding.rule).says(spoken(finding, job));
}

std::string sentence_of(const Finding& verdict, const Job& job) {
    const RuleWords& words = text_of(verdict.rule);
    return by_whose_text(verdict, job) + (words.begins ? words.begins : words.says)(spoken(verdict, job));
}

std::string short_sentence_of(const Finding& verdict, const Job& job) {
    std::string text(id_of(verdict.rule));
    if (!verdict.ranks.empty())
        text += ": " + ranks_text(verdict.ranks, 3, At::middle) + on_node_text(job, verdict.ranks);
    if (verdict.run_share > 0 && verdict.run_share < 1)
        text += fmt::format(", {} of the run", human_share(verdict.run_share));
    return text;
}

std::string advice_of(const Finding& finding, const Job& job) {
    const auto advises = text_of(finding.rule).advises;
    return advises ? advises(spoken(finding, job)) : "";
}

Table remark_table(std::string title, Remarks remarks) {
    return picture_table("findings", std::move(remarks), std::move(title));
}

}  // namespace mpiprof::report
