// Facts that differ, repeats that are none, and work that does not go with the size as it should.
#include "report/compare/scaling_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "report/model/joined.h"

namespace mpiprof::report {
namespace {

class Cautions {
  public:
    explicit Cautions(const ComparedSeries& series)
        : series_(series), whose_(series.name.empty() ? "" : series.name + ": ") {}

    std::vector<std::string> all() {
        compare_facts();
        compare_sizes();
        compare_items();
        return std::move(texts_);
    }

  private:
    void add_values(const std::string& name, const std::set<std::string>& values) {
        if (values.size() > 1)
            texts_.push_back(
                fmt::format("{}the runs differ in {} ({}), not only in size", whose_, name, joined(values, ", ")));
    }

    // Of what explains a difference: what runs of other sizes have in common. Hosts, settings and the environment go
    // with the size too often.
    void compare_facts() {
        std::vector<const std::vector<RunFact>*> facts;
        for (const SizedRun& one : series_.runs) facts.push_back(&one.run.facts);
        for (const auto& [key, of] : values_of(facts)) {
            const auto& [kind, name] = key;
            std::set<std::string> values(of.begin(), of.end());
            if (kind == RunFact::Kind::label) {
                if (!is_said_by_all(name)) values.insert("not said");
                add_values(name, values);
            } else if (kind == RunFact::Kind::library) {
                add_values(name, values);
            }
        }
    }

    bool is_said_by_all(const std::string& label) const {
        return std::ranges::all_of(series_.runs, [&](const SizedRun& one) {
            return std::ranges::any_of(one.run.said, [&](const auto& said) { return said.first == label; });
        });
    }

    // Repeats of one N that are none.
    void compare_sizes() {
        std::map<double, std::set<std::uint32_t>> ranks;
        for (const SizedRun& one : series_.runs) ranks[one.n].insert(one.run.ranks);
        for (const auto& [n, of] : ranks) {
            std::vector<std::string> numbers;
            for (const std::uint32_t number : of) numbers.push_back(fmt::format("{}", number));
            if (numbers.size() > 1)
                texts_.push_back(fmt::format("{}the runs on {:g} {} have different numbers of ranks ({})", whose_, n,
                                             n == 1 ? series_.unit.one : series_.unit.many, joined(numbers, ", ")));
        }
    }

    // Of all ranks, in what is timed: a mean iteration, or all of the run. A run that shares its items among more ranks
    // in fewer iterations does the same work as before.
    bool are_of_iterations() const { return series_.time == TimeChoice::Kind::iteration; }
    double items_of(const RegionRow& marks) const {
        const auto items = static_cast<double>(marks.items);
        return are_of_iterations() ? items / static_cast<double>(marks.entered) * static_cast<double>(marks.ranks)
                                   : items;
    }

    // Strong scaling shares the same items, weak scaling gives each unit as many.
    void compare_items() {
        std::map<double, double> items;
        for (const SizedRun& one : series_.runs)
            if (const RegionRow* marks = iterations_of(one.run); marks && marks->items != 0 && marks->entered != 0)
                items[one.n] = items_of(*marks);
        if (items.size() < 2) return;
        const auto& [first_n, first] = *items.begin();
        const auto& [last_n, last] = *items.rbegin();
        const double expected = series_.is_weak ? last_n / first_n : 1;
        const double ratio = last / first;
        if (std::abs(ratio / expected - 1) < 0.1) return;
        const std::string what = fmt::format("{}{} on N={:g} handles {:.2f} times the items of N={:g}", whose_,
                                             are_of_iterations() ? "an iteration" : "the run", last_n, ratio, first_n);
        texts_.push_back(
            series_.is_weak
                ? fmt::format("{}, not {:.2f} times: without --weak the sizes share the same work", what, expected)
                : what + ": --weak compares sizes whose work grows with them");
    }

    const ComparedSeries& series_;
    const std::string whose_;
    std::vector<std::string> texts_;
};

}  // namespace

std::vector<std::string> programs_of(const std::vector<SizedRun>& runs) {
    std::set<std::string> programs;
    for (const SizedRun& one : runs)
        if (!one.run.program.empty()) programs.insert(std::filesystem::path(one.run.program).filename().string());
    return {programs.begin(), programs.end()};
}

std::vector<std::string> cautions_of(const ComparedSeries& series) { return Cautions(series).all(); }

}  // namespace mpiprof::report
