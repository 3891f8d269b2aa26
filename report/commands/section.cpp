// `mpiprof-report calls`, and every other section: asks one question of a job and shows the answer.
#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/commands/command.h"
#include "report/commands/load.h"
#include "report/commands/present.h"
#include "report/commands/say.h"
#include "report/commands/section.h"
#include "report/model/joined.h"
#include "report/read/topology_text.h"

namespace mpiprof::report {

namespace {

// What has to be said once more to ask of the same job. Empty: nothing, or it is long, or has to be quoted.
std::string operands_of(const Options& options) {
    constexpr std::size_t most = 200;
    std::vector<std::string> words = options.paths;
    if (words == std::vector<std::string>{"."}) words.clear();
    if (!options.choice.job.empty()) words.insert(words.end(), {"--job", options.choice.job});
    if (!options.choice.launch.empty()) words.insert(words.end(), {"--launch", options.choice.launch});
    const std::string text = joined(words, " ");
    const bool is_plain = std::ranges::none_of(words, [](const std::string& word) {
        return word.find_first_of(" \t\n'\"\\$`*?[;&|<>(){}") != std::string::npos;
    });
    return is_plain && text.size() <= most ? text : "";
}

}  // namespace

void SectionCommand::take(Arguments& arguments) {
    arguments.view();
    if (section_.takes_ranks) arguments.ranks(question_.ranks, "Only these ranks: 3 or 0,5-7");
    if (!section_.details.empty()) arguments.flag("--details", question_.wants_details, std::string(section_.details));
    if (section_.takes_devices)
        arguments.text("--topology", topology_, "How the node's devices are connected, from a saved nvidia-smi topo -m",
                       "FILE");
    if (!section_.takes_sort_and_top) return;
    arguments.text("--sort", question_.sort,
                   "Column to sort by: its heading (TIME), or its name in --format csv (time_ns)", "COLUMN");
    std::vector<std::string> by(section_.by.begin(), section_.by.end());
    std::erase(by, "");
    if (by.empty()) return;
    arguments.choice("--by", question_.by, fmt::format("Row granularity: {} (default {})", joined(by, " or "), by[0]),
                     by, "WHAT");
}

int SectionCommand::run(const Options& options) {
    // The summary says in its body what others say on stderr.
    const bool says_it_itself = &section_ == &sections().front();
    return with_job(options, says_it_itself, [&](Job& job, RankReader& reader) { return show(job, reader, options); });
}

int SectionCommand::show(Job& job, RankReader& reader, const Options& options) {
    question_.top = options.top;
    question_.is_for_screen = view_of(options).is_for_screen;
    if (const auto ok = load_cells(job, reader, question_.ranks); !ok) return fail(ok.error(), usage_error);
    if (section_.asks_for_places && !question_.ranks.empty()) {
        auto sites = reader.sites(job, question_.ranks);
        if (!sites) return fail(sites.error(), usage_error);
        job.kept_sites = std::move(*sites);
    }
    if (!topology_.empty()) {
        auto devices = read_topology(topology_);
        if (!devices) return fail(devices.error(), usage_error);
        question_.devices = std::move(*devices);
    }
    auto tables = section_.answer(job, question_);
    if (!tables) return fail(tables.error(), usage_error);
    // The commands that a summary names are those of its directory.
    const std::string operands = operands_of(options);
    if (question_.is_for_screen && &section_ == &sections().front() && !operands.empty()) {
        tables->push_back(bare_table("commands"));
        tables->back().notes.push_back("for this job: mpiprof-report COMMAND " + operands);
    }
    return present(options, section_.name, *tables);
}

std::unique_ptr<Command> make_section(const Section& section) { return std::make_unique<SectionCommand>(section); }

}  // namespace mpiprof::report
