// A word is replaced by the same word wherever it stands.
#include "report/commands/private_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "report/commands/page_names.h"
#include "report/model/given_names.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {
namespace {

constexpr std::uint64_t day_ns = 86'400ull * 1'000'000'000;

// n1, n2 ... in the order in which they are met; nothing stays nothing.
class Counted {
  public:
    explicit Counted(std::string_view prefix) : prefix_(prefix) {}
    void operator()(std::string& word) { word = of(word); }
    std::string of(const std::string& word) {
        if (word.empty()) return "";
        return words_.try_emplace(word, fmt::format("{}{}", prefix_, words_.size() + 1)).first->second;
    }

  private:
    std::string_view prefix_;
    std::map<std::string, std::string> words_;
};

// "4711" of 4711.server.site.edu
std::string number_of(const std::string& job) { return job.substr(0, job.find_first_not_of("0123456789_[]")); }

// "Open MPI v4.1.4" of what it says of itself, which may name who built it, and where.
std::string library_of(const std::string& text) { return text.substr(0, text.find_first_of(",\n")); }

class Privacy {
  public:
    explicit Privacy(Job& job) : job_(job) {}

    void apply() {
        run();
        places();
        std::ranges::for_each(job_.hosts, std::ref(nodes_));
        Counted identities("machine");
        std::ranges::for_each(job_.nodes, std::ref(identities));
        for (RegionRow& region : job_.regions) region.path = path_of(region.path);
        for (Group& group : job_.groups) communicator(group.name);
        for (Comm& comm : job_.comms) communicator(comm.name);
        rows(job_.labels, true);
        rows(job_.settings, false);
        job_.placement.variables.clear();
        job_.placement.environments = {{}};
        for (RankPlace& rank : job_.placement.ranks) rank.environment = 0;
        gpu();
        said_of_files();
        moments();
    }

  private:
    void run() {
        job_.launch = "launch";
        job_.job = number_of(job_.job);
        job_.job_ids.clear();
        if (!job_.command.empty()) job_.command = "program";
        programs_(job_.executable);
        paths_(job_.directory);
        job_.launcher = job_.launcher.substr(job_.launcher.rfind('/') + 1);
        job_.mpi_library = library_of(job_.mpi_library);
        job_.other_launches.clear();
    }

    Symbol named(const Symbol& symbol) {
        Symbol result;
        for (const SourceLine& line : symbol.lines)
            result.lines.push_back({functions_.of(line.function), files_.of(line.file), line.line});
        return result;
    }
    void place(const Module& module, std::uint64_t offset, const Symbol& symbol) {
        names_->add(programs_.of(module.path), "", offset, named(symbol));
    }
    void places() {
        Symbols symbols;
        for_each_place(job_, [&](const Module& module, std::uint64_t offset) {
            place(module, offset, symbols.at(module, offset));
        });
        modules(job_.sites.modules);
        modules(job_.modules);
    }
    void modules(std::vector<Module>& all) {
        for (Module& module : all) {
            if (module.is_script) {
                functions_(module.build_id);
                files_(module.path);
            } else {
                module.build_id.clear();
                programs_(module.path);
            }
            module.run_began_ns = 0;
            module.names = names_;
        }
    }

    std::string path_of(const std::string& path) {
        std::string result;
        for (std::size_t from = 0; from < path.size();) {
            const std::size_t end = std::min(path.find('/', from), path.size());
            result += (result.empty() ? "" : "/") + regions_.of(path.substr(from, end - from));
            from = end + 1;
        }
        return result;
    }
    void communicator(std::string& name) {
        if (!name.starts_with("MPI_COMM_")) communicators_(name);
    }
    void rows(std::vector<SettingRow>& all, bool are_names_private) {
        for (SettingRow& row : all) {
            if (are_names_private) labels_(row.name);
            for (SettingValue& value : row.values)
                if (are_names_private || value.source != SettingSource::fallback ||
                    value.value.find('/') != std::string::npos)
                    values_(value.value);
        }
    }
    void gpu() {
        std::map<std::string, std::uint32_t> plugins;
        for (const auto& [name, ranks] : job_.gpu.plugins_behind) plugins[programs_.of(name)] += ranks;
        job_.gpu.plugins_behind = std::move(plugins);
    }
    void said_of_files() {
        for (std::string& line : job_.problems) line = "a file could not be used as it is";
        for (JobNote& note : job_.notes) switch (note.kind) {
                case JobNote::Kind::another_program:
                    programs_(note.name);
                    break;
                case JobNote::Kind::another_mpi_library:
                    note.name = library_of(note.name);
                    break;
                case JobNote::Kind::from_the_reader:
                    note.name = "a part of a profile was passed over";
                    break;
                default:
                    break;
            }
    }

    // All by as much, so that what lies between them stays.
    void moments() {
        std::uint64_t first = 0;
        for (const Rank& rank : job_.ranks)
            if (rank.started_at_ns && (!first || rank.started_at_ns < first)) first = rank.started_at_ns;
        const std::uint64_t shift = first % day_ns;
        const auto earlier = [&](std::uint64_t& moment) { moment -= std::min(moment, shift); };
        for (Rank& rank : job_.ranks) {
            earlier(rank.started_at_ns);
            earlier(rank.updated_at_ns);
        }
        for (JobNote& note : job_.notes) earlier(note.ns_since_1970);
    }

    Job& job_;
    std::shared_ptr<GivenNames> names_ = std::make_shared<GivenNames>();
    Counted nodes_{"n"}, programs_{"p"}, paths_{"d"}, functions_{"f"}, files_{"s"}, regions_{"r"}, communicators_{"c"},
        labels_{"l"}, values_{"v"};
};

}  // namespace

void make_private(Job& job) { Privacy(job).apply(); }

}  // namespace mpiprof::report
