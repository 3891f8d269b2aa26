// A Job to facts.
#include "report/compare/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "report/model/base_name.h"
#include "report/model/joined.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t names_shown = 4;

std::string first_names(const std::vector<std::string>& names) {
    const std::size_t shown = std::min(names.size(), names_shown);
    std::string text = joined(std::span(names).first(shown), ", ");
    return names.size() > shown ? text + fmt::format(" and {} more", names.size() - shown) : text;
}

// "4; 8 on 3 ranks": the value of most ranks, and how many have another.
template <class Values, class Text>
std::string value_text(const Values& values, Text text) {
    std::string all;
    for (std::size_t i = 0; i < values.size() && i < names_shown; ++i)
        all += i == 0 ? text(values[i]) : fmt::format("; {} on {} ranks", text(values[i]), values[i].count);
    return all;
}

class Facts {
  public:
    explicit Facts(const Job& job) : job_(job) {}

    std::vector<RunFact> all() {
        using Kind = RunFact::Kind;
        for (const SettingRow& row : job_.labels)
            add(Kind::label, row.name, value_text(row.values, [](const SettingValue& v) { return v.value; }));
        add(Kind::program, "command", job_.command);
        add(Kind::program, "program", job_.executable);
        add(Kind::program, "launcher", job_.launcher);
        add(Kind::size, "ranks", fmt::format("{}", job_.size));
        if (!job_.is_text || job_.ranks_on_named_nodes() == job_.size)
            add(Kind::size, "nodes", fmt::format("{}", job_.nodes.size()));
        add(Kind::size, "ranks with a profile",
            job_.lacks_ranks() ? fmt::format("{} of {}", job_.profiles(), job_.expected()) : "all");
        add(Kind::place, "hosts", first_names(job_.hosts));
        add_nodes();
        add(Kind::library, "MPI", job_.mpi_library);
        if (job_.is_cuda_aware) add(Kind::library, "MPI is CUDA-aware", *job_.is_cuda_aware ? "yes" : "no");
        add(Kind::library, "libmpiprof", job_.library_version);
        add_code();
        for (const SettingRow& row : job_.settings) {
            if (row.name == "LABELS") continue;  // what it says is among the labels
            add(Kind::setting, "MPIPROF_" + row.name,
                value_text(row.values, [](const SettingValue& v) { return v.value; }));
        }
        for (const Variable& variable : job_.placement.variables)
            add(Kind::environment, variable.name,
                value_text(variable.values, [](const VariableValue& v) { return v.value.value_or("(not set)"); }));
        return std::move(facts_);
    }

  private:
    void add(RunFact::Kind kind, std::string name, std::string value) {
        if (!value.empty()) facts_.push_back({kind, std::move(name), std::move(value)});
    }

    void add_nodes() {
        std::vector<std::string> processors, cores;
        const auto add_once = [](std::vector<std::string>& to, const std::string& text) {
            if (!text.empty() && std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
        };
        for (const NodeFacts& node : job_.placement.nodes) add_once(processors, node.processor);
        for (const RankPlace& rank : job_.placement.ranks)
            if (const auto count = job_.placement.cpus_of(rank).count()) add_once(cores, fmt::format("{}", count));
        add(RunFact::Kind::place, "processor", first_names(processors));
        add(RunFact::Kind::place, "cores allowed per rank", first_names(cores));
    }

    // Programs and libraries that called, by their build-ids. The same file in another directory is the same code.
    void add_code() {
        std::map<std::string, std::string> builds;
        for (const Module& module : job_.sites.modules)
            if (!module.is_script && !module.build_id.empty()) builds[base_name(module.path)] = module.build_id;
        for (const auto& [name, build] : builds) add(RunFact::Kind::code, "build of " + name, build);
    }

    const Job& job_;
    std::vector<RunFact> facts_;
};

}  // namespace

std::vector<RunFact> facts_of(const Job& job) { return Facts(job).all(); }

FactValues values_of(const std::vector<const std::vector<RunFact>*>& runs) {
    FactValues values;
    for (const std::vector<RunFact>* facts : runs)
        for (const RunFact& fact : *facts) {
            std::vector<std::string>& seen = values[{fact.kind, fact.name}];
            if (std::find(seen.begin(), seen.end(), fact.value) == seen.end()) seen.push_back(fact.value);
        }
    return values;
}

}  // namespace mpiprof::report
