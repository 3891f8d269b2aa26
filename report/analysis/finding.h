// A finding: what one rule has to say about a job, as values. Which rule, how much it weighs, the calls, ranks and
// nodes it speaks of, and the figures that it rests on. The rules make findings (findings.h, placement_findings.h);
// sections put them into words. Nothing here is a sentence, so rewording one changes no answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "report/analysis/evidence.h"
#include "report/analysis/gpu_evidence.h"
#include "report/analysis/placed_evidence.h"

namespace mpiprof::report {

enum class Rule : std::uint8_t {
#define RULE(name, ...) name,
#include "report/analysis/rules.def"
#undef RULE
};

// What may begin a report, the first kind before all others; among causes what costs most comes first, from 5 % of the
// run on. Behind a cause nothing begins one unless there is nothing else.
enum class Kind {
    no_job,     // these are many jobs
    hang,       // proven
    wrong,      // the program has luck
    ended,      // one that tells how the job ended, if it tells with whom that began
    disturbed,  // others used the cores: measured again it may be another job
    not_lost,   // time that costs nothing, where that is most of it
    cause,      // of lost time
    most_time,  // where it goes: before a cause that costs little by far, else a remark
    remark,     // never
    spoiled,    // a remark, but nobody is told that all is well
    remainder,  // where no other one speaks
};
// Which lines of the source a rule is about: those of its call, or those where ranks wait.
enum class About { no_calls, its_call, waiting };

struct RuleRow {
    std::string_view id;  // what people read in brackets behind a finding, and scripts find in csv and json
    Kind kind;
    About about;
    std::span<const Rule> explains;
};
const RuleRow& row_of(Rule rule);
inline std::string_view id_of(Rule rule) { return row_of(rule).id; }
std::span<const Rule> all_rules();
std::optional<Rule> rule_called(std::string_view id);

template <class Types, class... More>
struct Each {
    using type = Types;
};
template <class... Types, class T, class... More>
struct Each<std::variant<Types...>, T, More...>
    : Each<std::conditional_t<(std::is_same_v<T, Types> || ...), std::variant<Types...>, std::variant<Types..., T>>,
           More...> {};

using AnyFigures = Each<std::variant<evidence::Hung>
#define RULE(name, id, figures, ...) , evidence::figures
#include "report/analysis/rules.def"
#undef RULE
                        >::type;

// The figures of any rule; some rules share theirs. How one of forty kinds is copied, moved and destroyed is compiled
// once, in finding.cpp, and not by each file that hands a Finding on.
struct Evidence : AnyFigures {
    using AnyFigures::AnyFigures;
    Evidence();
    Evidence(const Evidence&);
    Evidence(Evidence&&) noexcept;
    Evidence& operator=(const Evidence&);
    Evidence& operator=(Evidence&&) noexcept;
    ~Evidence();
};

struct Finding {
    Rule rule{};
    bool is_serious = false;
    std::vector<std::uint16_t> calls;  // index into Job::calls
    std::vector<std::uint32_t> ranks;  // sorted
    std::vector<std::uint32_t> nodes;  // index into Job::nodes; of placements
    Evidence evidence;
    double run_share = 0;      // of the time of all ranks: what it costs, where that is known
    std::optional<Rule> of{};  // of Rule::placement: which one of the placement this is
};

// What it rests on, by name; and how sure it is of it.
FigureList figures_of(const Finding& finding);
Confidence confidence_of(const Finding& finding);
std::string_view id_of(Confidence confidence);

}  // namespace mpiprof::report
