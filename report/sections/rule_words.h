// Rules in words: what a finding says, the sentence that a report may begin with, what to do about it, and what the
// rule means at all, which `mpiprof-report explain` prints. One RuleWords for each row of analysis/rules.def, in the
// files words_of_*.cpp; what it says is nowhere worked out here.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "report/analysis/finding.h"
#include "report/model/table.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {

// A finding that is being put into words.
struct Spoken {
    const Finding& finding;
    const Job& job;
    const Vocabulary& words;

    static constexpr std::size_t most_items = 4;  // of a list of ranks

    const std::string& call() const { return job.calls[finding.calls.front()].name; }
    bool is_one() const { return finding.ranks.size() == 1; }
    const char* verb(const char* one, const char* many) const { return is_one() ? one : many; }
    std::string ranks(At at = At::begin) const;  // "Ranks 4 and 5"
    std::string who(At at = At::begin) const;    // "Ranks 4 and 5 on mph3"
    std::string_view others() const;             // "the other ranks spend"
};

struct RuleWords {
    std::string_view means;     // one sentence
    std::string_view evidence;  // what it rests on, and from where on it speaks
    std::string_view check;     // how to see for oneself, and what to do
    std::string (*says)(const Spoken&);
    std::string (*begins)(const Spoken&) = nullptr;   // a report; null: what it says
    std::string (*next)(const Spoken&) = nullptr;     // what to do about this one; null or empty: `check`
    std::string (*advises)(const Spoken&) = nullptr;  // in the words of whoever started the ranks
};

namespace rule_words {
#define RULE(name, ...) extern const RuleWords name;
#include "report/analysis/rules.def"
#undef RULE

// One of these functions, of the figures of its rule.
template <class Figures, std::string (*f)(const Figures&, const Spoken&)>
std::string of(const Spoken& s) {
    return f(std::get<Figures>(s.finding.evidence), s);
}
}  // namespace rule_words

const RuleWords& text_of(Rule rule);

std::string words_of(const Finding& finding, const Job& job);
std::string sentence_of(const Finding& verdict, const Job& job);
// "slow-rank: ranks 4 and 5 on mph3, 27.1% of the run", where there is a line for each of several launches.
std::string short_sentence_of(const Finding& verdict, const Job& job);
// Empty: none.
std::string advice_of(const Finding& finding, const Job& job);

// A table of findings and other remarks.
Table remark_table(std::string title, Remarks remarks);

}  // namespace mpiprof::report
