// Each value with its text, in the order of the lines.
#include "report/sections/run_headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "report/model/base_name.h"
#include "report/model/joined.h"
#include "report/model/units.h"
#include "report/sections/completeness.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

// "Open MPI v4.1.4, package: ..." and "MPICH Version:      4.0.2" as "Open MPI 4.1.4" and "MPICH 4.0.2".
std::string short_library(const Job& job) {
    std::string_view full = job.mpi_library;
    full = full.substr(0, full.find(','));
    std::string text;
    for (const char c : full) {
        const bool is_blank = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (!is_blank)
            text += c;
        else if (!text.empty() && text.back() != ' ')
            text += ' ';
    }
    for (const std::string_view word : {" Version:", " v"}) {
        const auto at = text.find(word);
        const auto number = text.find_first_of("0123456789", at);
        if (at == std::string::npos || number == std::string::npos || number > at + word.size() + 1) continue;
        text.replace(at, number - at, " ");
    }
    if (job.is_serial()) return "neither MPI nor NCCL";
    return text.empty() ? job.mpi_family : text;
}

// "Open MPI 4.1.4, CUDA-aware"; that it is not is said where there are GPUs.
std::string library_text(const Job& job) {
    const auto& nodes = job.placement.nodes;
    const bool has_gpus = std::ranges::any_of(nodes, [](const NodeFacts& node) { return !node.gpus.empty(); });
    if (!job.is_cuda_aware || (!*job.is_cuda_aware && !has_gpus)) return short_library(job);
    return short_library(job) + (*job.is_cuda_aware ? ", CUDA-aware" : ", not CUDA-aware");
}

// "bucket_size=25 (1 on 2 ranks)": what ranks disagree on is said.
std::string label_text(const SettingRow& label, std::uint32_t profiles) {
    std::vector<std::string> others;
    std::uint32_t said = 0;
    for (const SettingValue& value : label.values) {
        if (&value != &label.values.front())
            others.push_back(fmt::format("{} on {}", value.value, plural(value.count, "rank", "ranks")));
        said += value.count;
    }
    if (said < profiles) others.push_back("not on " + plural(profiles - said, "rank", "ranks"));
    return fmt::format("{}={}{}", label.name, label.values.front().value,
                       others.empty() ? "" : fmt::format(" ({})", joined(others, ", ")));
}

// " (4715.0)" of an array's member 4711_3: ids that do not begin with what the job is called.
std::string other_ids(const Job& job) {
    std::vector<std::string> others;
    std::istringstream in(job.job_ids);
    for (std::string id; in >> id;)
        if (!id.starts_with(job.job)) others.push_back(id);
    return others.empty() ? "" : fmt::format(" ({})", joined(others, ", "));
}

// Of the first rank; 0: not known.
std::uint64_t started_at_ns(const Job& job) {
    std::uint64_t started = 0;
    for (const Rank& rank : job.ranks)
        if (rank.started_at_ns && (!started || rank.started_at_ns < started)) started = rank.started_at_ns;
    return started;
}

}  // namespace

// Of mpitrace's text the nodes of the ranks that it tells of, which may be few.
std::string where_it_ran(const Job& job, bool names_hosts) {
    std::vector<std::string> hosts;
    for (const std::string& host : job.hosts)
        if (!host.empty()) hosts.push_back(host);
    const std::uint32_t nodes = job.named_nodes(), placed = job.ranks_on_named_nodes();
    std::string text = plural(job.size, "rank", "ranks");
    if (job.is_text && nodes == 0) return text;
    if (job.is_text && placed < job.size) text += fmt::format(", {} of them", human_count(placed));
    text += " on " + plural(job.is_text ? nodes : job.nodes.size(), "node", "nodes");
    if (!names_hosts) return text;
    if (hosts.size() == 1) text += " (" + hosts[0] + ")";
    if (hosts.size() == 2 && nodes == 2) text += " (" + hosts[0] + ", " + hosts[1] + ")";
    return text;
}

std::string run_in_a_line(const Job& job) {
    std::vector<std::string> parts{base_name(job.executable)};
    if (!job.job.empty()) parts.push_back("job " + job.job);
    if (const std::uint64_t started = started_at_ns(job)) parts.push_back(human_moment(started));
    parts.push_back(where_it_ran(job, false));
    std::erase(parts, "");
    return joined(parts, ", ");
}

namespace {

// Where the elapsed time ends.
std::string_view end_of(const Job& job, const Figures& figures, const Vocabulary& words) {
    const auto any = [&](auto wanted) { return std::ranges::any_of(job.ranks, wanted); };
    if (any([](const Rank& rank) { return rank.state == State::running && rank.life == Life::running; })) return "now";
    if (figures.is_elapsed_estimated) return "last profile update";
    return any([](const Rank& rank) { return rank.state == State::finalized; }) ? words.end : "end";
}

}  // namespace

Table run_headline(const Analysed& all) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    const Completeness& completeness = all.completeness();
    const auto elapsed = static_cast<double>(figures.largest_elapsed_ns);
    const auto process = static_cast<double>(figures.largest_process_ns);
    const std::uint64_t started = started_at_ns(job);
    std::uint64_t init = 0;
    for (const Rank& rank : job.ranks) init = std::max(init, rank.init_ns);
    const Vocabulary& words = vocabulary_of(job);
    HeadlineTable lines;
    lines.add(1, "command", job.command, job.command.empty() ? job.executable : job.command);
    lines.add(2, "job", job.job, job.job.empty() ? "" : "job " + job.job + other_ids(job));
    lines.add("job_ids", job.job_ids);
    lines.add("launch", job.launch);
    lines.add(2, "ranks", std::uint64_t{job.size}, where_it_ran(job, true));
    const bool are_all_placed = !job.is_text || job.ranks_on_named_nodes() == job.size;
    lines.add("nodes", are_all_placed ? Value(std::uint64_t{job.nodes.size()}) : Value());
    lines.add(2, "started_at_ns", known(started), started ? human_moment(started) : "");
    lines.add(3, "mpi_library", job.mpi_library, library_text(job));
    lines.add("cuda_aware", job.is_cuda_aware ? Value(Yes{*job.is_cuda_aware}) : Value());
    lines.add(3, "process_ns", known(figures.largest_process_ns), process > 0 ? "ran " + human_time(process) : "");
    const bool is_known = !job.is_text || figures.largest_elapsed_ns != 0;
    lines.add(
        3, "elapsed_ns", is_known ? Value(figures.largest_elapsed_ns) : Value(),
        is_known ? fmt::format("{} to {} {}", words.begin, end_of(job, figures, words), human_time(elapsed)) : "");
    lines.add(
        3, "recorded_ns", figures.largest_recorded_ns,
        figures.was_paused() ? human_time(static_cast<double>(figures.largest_recorded_ns)) + " of it recorded" : "");
    // Beside the run, in seconds: no share is of it.
    const Budget& budget = all.budget();
    const auto beside = [&](const char* id, std::string_view what, Value value, double ns) {
        lines.add(3, id, std::move(value), ns > 0.05 * elapsed ? fmt::format("{} {}", what, human_time(ns)) : "");
    };
    const auto part = [&](Part which) { return known(whole_ns(budget.of(which))); };
    beside("start_ns", "start", part(Part::before_init), budget.of(Part::before_init));
    beside("init_ns", "Init", known(init), static_cast<double>(init));
    beside("finalize_ns", "Finalize", part(Part::finalize), budget.of(Part::finalize));
    lines.add(4, "complete", Yes{completeness.is_complete}, text_of(completeness, job));
    lines.add("profiles", std::uint64_t{completeness.profiles});
    lines.add("unfinished", std::uint64_t{completeness.running + completeness.unfinished});
    lines.add("cores_busy", figures.cores_busy);
    lines.add("background_share", figures.background_share);
    lines.add("setup_ns", job.setup_ns);
    if (job.is_text) lines.add(4, "rounded_to_ms", Yes{true}, "times rounded to 1 ms (mpitrace text)");
    for (const SettingRow& label : job.labels)
        lines.add(5, "label." + label.name, label.values.front().value, label_text(label, job.profiles()));
    return lines.take();
}

}  // namespace mpiprof::report
