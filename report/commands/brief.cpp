// One launch: its first verdict, then the run, completeness and directory. Several launches of a job: a line each.
#include "report/commands/brief.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "report/analysis/analysed.h"
#include "report/commands/load.h"
#include "report/commands/no_profile.h"
#include "report/commands/say.h"
#include "report/model/units.h"
#include "report/model/visible.h"
#include "report/read/choose_launch.h"
#include "report/sections/completeness.h"
#include "report/sections/rule_words.h"
#include "report/sections/run_headline.h"
#include "report/sections/verdict_table.h"
#include "report/sections/vocabulary.h"
#include "report/views/fitting.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t columns = 80;
constexpr std::size_t most_lines = 6;
constexpr std::string_view prefix = "mpiprof: ";
constexpr bool utf8 = false;  // where it is read, nobody knows

using Lines = std::vector<std::string>;

std::string fitted(const std::string& text) { return cut(visible(text, utf8), columns, utf8); }

// Or the merged file.
std::string directory_of(const Launch& launch) {
    if (launch.files.empty()) return ".";
    std::error_code error;
    const RankFile& first = launch.files.front();
    const auto path = std::filesystem::absolute(first.merged ? first.merged->path() : first.path.text(), error);
    if (error) return ".";
    return (first.merged ? path : path.parent_path()).lexically_normal().string();
}

// The end of a long path says more than its beginning.
std::string where_text(const Launch& launch) {
    const std::string before = "  profiles: ";
    std::string path = visible(directory_of(launch), utf8);
    const std::size_t room = columns - before.size();
    if (path.size() > room) path = "..." + path.substr(path.size() - (room - 3));
    return before + path;
}

std::string time_text(const Job& job, const Figures& figures) {
    if (job.is_text && figures.largest_elapsed_ns == 0) return "";
    return fmt::format(
        "ran {}, {}{} of the run inside {}",
        human_time(static_cast<double>(std::max(figures.largest_process_ns, figures.largest_elapsed_ns))),
        at_least(job), human_share(figures.inside_share), vocabulary_of(job).library);
}

std::string run_text(const std::string& run, const Analysed& all) {
    const std::string time = time_text(all.job, all.figures());
    return time.empty() ? run : run + ", " + time;
}

// A text as lines, behind `begin`. Nothing is cut off but of names that are longer than all the rest.
void add_wrapped(Lines& lines, std::string_view begin, std::string_view text) {
    constexpr std::size_t most = 6;
    std::vector<std::string> parts = wrapped(visible(text, utf8), columns - 2 - begin.size());
    if (parts.size() > most) {
        parts.resize(most);
        parts.back() = cut(parts.back() + "...", columns - 2 - begin.size(), utf8);
    }
    for (const std::string& part : parts) lines.push_back((&part == parts.data() ? std::string(begin) : "  ") + part);
}

// No bottleneck was found in a run that was long enough, nothing else is serious, and all of it is there: then the
// sentence says enough.
bool is_all_well(const Analysed& all) {
    const Finding& cause = all.cause();
    if (cause.rule != Rule::healthy) return false;
    const auto& healthy = std::get<evidence::Healthy>(cause.evidence);
    return healthy.too_short_ns == 0 && !healthy.is_something_else && all.completeness().is_complete;
}

Lines lines_of(const Analysed& all, const Launch& launch) {
    const Job& job = all.job;
    const Finding& cause = all.cause();
    Lines lines;
    add_wrapped(lines, prefix, fmt::format("{} [{}]", sentence_of(cause, job), id_of(cause.rule)));
    if (is_all_well(all)) return lines;
    if (const auto site = site_of(cause, job)) add_wrapped(lines, "  where: ", site->text());
    if (const std::string next = next_step(cause, job); !next.empty()) add_wrapped(lines, "  next: ", next);
    if (const Finding* other = also_said(all))
        add_wrapped(lines, "  also: ", fmt::format("{} [{}]", sentence_of(*other, job), id_of(other->rule)));
    add_wrapped(lines, "  ", run_text(where_it_ran(job, false), all));
    add_wrapped(lines, "  ", text_of(all.completeness(), job));
    lines.push_back(where_text(launch));
    return lines;
}

// Each is one line however long it is: what reads it may cut it. "-": nothing is to be said.
Lines note_of(const Analysed* all, const Launch* launch, const std::string& problem) {
    const auto line = [](std::string_view key, const std::string& text) {
        return fmt::format("{}: {}", key, text.empty() ? "-" : visible(text, utf8));
    };
    if (!all)
        return {line("verdict", problem), line("where", ""), line("cost", ""),
                line("next", ""),         line("run", ""),   line("data", "")};
    const Job& job = all->job;
    const Finding& cause = all->cause();
    const auto site = site_of(cause, job);
    return {line("verdict", fmt::format("{} [{}]", sentence_of(cause, job), id_of(cause.rule))),
            line("where", site ? site->text() : ""),
            line("cost", cost_text(cause, *all)),
            line("next", next_step(cause, job)),
            line("run", run_text(run_in_a_line(job), *all)),
            line("data", fmt::format("{}; {}", text_of(all->completeness(), job), directory_of(*launch)))};
}

std::string line_of(const Analysed& all) {
    const Job& job = all.job;
    const std::string command = cut(visible(job.command, utf8), 20, utf8);
    return fitted(fmt::format(
        "{}launch {}, {}, {}, {}: {}", prefix, job.launch_number, command, plural(job.size, "rank", "ranks"),
        human_time(static_cast<double>(all.figures().largest_elapsed_ns)), short_sentence_of(all.cause(), job)));
}

// The launches of one job, in the order in which they were started.
std::vector<std::size_t> together_with(const std::vector<Launch>& launches, std::size_t chosen) {
    std::vector<std::size_t> together;
    for (std::size_t i = launches.size(); i-- > 0;)
        if (launches[i].job == launches[chosen].job) together.push_back(i);
    return together;
}

Lines lines_of_all(const Found& found, const std::vector<std::size_t>& together, const Options& options,
                   Progress& progress) {
    Lines lines;
    for (const std::size_t launch : together) {
        if (lines.size() + 1 == most_lines) break;
        const Result<Job> job = job_of(found, launch, options.threads, progress);
        lines.push_back(job ? line_of(*job) : fitted(std::string(prefix) + job.error().line()));
    }
    const std::size_t more = together.size() - lines.size();
    lines.push_back(where_text(found.launches[together.back()]));
    if (more)
        lines.back() = fitted(fmt::format("  {} more: mpiprof-report --launch N {}", more,
                                          directory_of(found.launches[together.back()])));
    return lines;
}

Lines lines_for(const Options& options) {
    const bool is_note = options.format == note_format;
    const auto problem = [&](const std::string& text) {
        return is_note ? note_of(nullptr, nullptr, text) : Lines{fitted(std::string(prefix) + text)};
    };
    Progress progress;
    const Found found = find_profiles(options.paths, options.threads, progress);
    if (found.launches.empty()) return problem(no_profile_in_short(found));
    const auto chosen = choose_launch(found.launches, options.choice);
    if (!chosen) return problem(chosen.error().line());
    const Result<Job> job = job_of(found, *chosen, options.threads, progress);
    if (!job) return problem(job.error().line());
    const Analysed all(*job);
    if (is_note) return note_of(&all, &found.launches[*chosen], "");
    // "--job 4711.1" is one step of those of job 4711.
    const auto called = choose_launches(found.launches, options.choice);
    const auto together = called && !options.choice.job.empty() ? *called : together_with(found.launches, *chosen);
    const bool is_one =
        together.size() == 1 || !options.choice.launch.empty() || all.cause().rule == Rule::wrong_launcher;
    return is_one ? lines_of(all, found.launches[*chosen]) : lines_of_all(found, together, options, progress);
}

}  // namespace

int brief(const Options& options) {
    auto output = Output::open("");
    for (const std::string& line : lines_for(options)) output->write(line + "\n");
    finish(*output);
    return fine;
}

}  // namespace mpiprof::report
