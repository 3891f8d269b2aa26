// From what users said to what they merely typed, the first that tells the sides apart.
#include "report/compare/side_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace mpiprof::report {
namespace {

constexpr std::size_t least_beginning = 3;  // "a" of a1 and a2 says nothing to anybody

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool are_of_one_word(char x, char y) { return (is_digit(x) && is_digit(y)) || (is_letter(x) && is_letter(y)); }

const std::string& name_of(const ComparedRun& one) { return one.run.label; }

std::string shared_name(const Side& side) {
    const std::string& name = name_of(side.runs.front());
    const bool is_shared =
        std::all_of(side.runs.begin(), side.runs.end(), [&](const ComparedRun& one) { return name_of(one) == name; });
    return is_shared ? name : "";
}

// What the names have in common, to the end of a word: "tuned" of tuned-9 and tuned-10, "run" of run1 and run12.
std::string beginning_of(const Side& side) {
    std::string common = name_of(side.runs.front());
    for (const ComparedRun& one : side.runs) {
        const auto [end, other] = std::mismatch(common.begin(), common.end(), name_of(one).begin(), name_of(one).end());
        common.erase(end, common.end());
    }
    const auto goes_on = [&](std::size_t end) {
        return std::any_of(side.runs.begin(), side.runs.end(), [&](const ComparedRun& one) {
            return end < name_of(one).size() && are_of_one_word(name_of(one)[end - 1], name_of(one)[end]);
        });
    };
    while (!common.empty() && goes_on(common.size())) common.pop_back();
    while (!common.empty() && std::string_view("-_.,: ").find(common.back()) != std::string_view::npos)
        common.pop_back();
    return common.size() >= least_beginning ? common : "";
}

// The labels that all runs of a side agree in.
std::map<std::string, std::string> said_of(const Side& side) {
    std::map<std::string, std::set<std::string>> values;
    for (const ComparedRun& one : side.runs) {
        const std::map<std::string, std::string> said(one.run.said.begin(), one.run.said.end());
        for (const auto& [key, value] : said) values[key].insert(value);
    }
    std::map<std::string, std::string> agreed;
    for (const auto& [key, of] : values) {
        const auto says = [&key = key](const ComparedRun& one) {
            return std::any_of(one.run.said.begin(), one.run.said.end(),
                               [&](const auto& said) { return said.first == key; });
        };
        if (of.size() == 1 && std::all_of(side.runs.begin(), side.runs.end(), says)) agreed[key] = *of.begin();
    }
    return agreed;
}

// "bucket_size=25" and "bucket_size=1".
std::pair<std::string, std::string> names_by_labels(const Side& a, const Side& b) {
    const auto of_a = said_of(a), of_b = said_of(b);
    std::pair<std::string, std::string> names;
    for (const auto& [key, value] : of_a) {
        const auto other = of_b.find(key);
        if (other == of_b.end() || other->second == value) continue;
        names.first += fmt::format("{}{}={}", names.first.empty() ? "" : ", ", key, value);
        names.second += fmt::format("{}{}={}", names.second.empty() ? "" : ", ", key, other->second);
    }
    return names;
}

}  // namespace

void name_sides(Side& a, Side& b) {
    a.name = shared_name(a);
    b.name = shared_name(b);
    const bool have_shared = !a.name.empty() && !b.name.empty();
    if (a.name == b.name)
        if (auto said = names_by_labels(a, b); !said.first.empty()) std::tie(a.name, b.name) = std::move(said);
    if (a.name.empty()) a.name = beginning_of(a);
    if (b.name.empty()) b.name = beginning_of(b);
    if (a.name == b.name && have_shared) {
        a.name += " (A)";
        b.name += " (B)";
    } else if (a.name == b.name) {
        a.name = b.name = "";
    }
    for (const auto& [side, letter] : {std::pair(&a, "A"), std::pair(&b, "B")}) {
        side->is_named = !side->name.empty();
        if (!side->is_named) side->name = letter;
    }
}

}  // namespace mpiprof::report
