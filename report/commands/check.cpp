// `mpiprof-report check`: everything that the readers say of the files, and whether the sums of each profile agree.
#include "report/analysis/completeness.h"
#include "report/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/commands/load.h"
#include "report/commands/no_profile.h"
#include "report/commands/present.h"
#include "report/commands/say.h"
#include "report/merge/merge.h"
#include "report/model/joined.h"
#include "report/model/units.h"
#include "report/model/visible.h"
#include "report/read/choose_launch.h"
#include "report/read/consistency.h"
#include "report/sections/section.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t disagreements_shown = 3;  // of one file

struct Finding {
    std::string text;
    bool is_damage = true;  // else something to know
};

// How a rank is, or ended; in the order in which they are told.
enum class End : std::uint8_t { aborted, exited, finalized, killed, killed_or_running, running };
constexpr std::string_view end_names[] = {"aborted", "exited", "finalized", "killed", "killed or running", "running"};

End end_of(const Rank& rank) {
    switch (rank.state) {
        case State::aborted:
            return End::aborted;
        case State::exited:
            return End::exited;
        case State::finalized:
            return End::finalized;
        case State::running:
            break;
    }
    return rank.life == Life::running ? End::running : rank.life == Life::ended ? End::killed : End::killed_or_running;
}

// How many ranks are in each state.
using States = std::map<End, std::uint64_t>;

std::string text_of(const States& states) {
    std::vector<std::string> parts;
    for (const auto& [end, ranks] : states)
        parts.push_back(fmt::format("{} {}", ranks, end_names[static_cast<std::size_t>(end)]));
    return joined(parts, ", ");
}

States states_of(const Job& job) {
    States states;
    for (const Rank& rank : job.ranks)
        if (rank.has_profile) ++states[end_of(rank)];
    return states;
}

std::string stores_of(const Job& job) {
    std::uint32_t mapped = 0, written = 0;
    std::uint64_t period = 0;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile || rank.is_text) continue;
        ++(rank.is_written ? written : mapped);
        if (rank.is_written) period = std::max(period, rank.store_period_ns);
    }
    const std::string at = period ? "every " + human_time(static_cast<double>(period)) : "at the end only";
    if (job.is_text && mapped + written == 0) return "mpitrace's text";
    if (written == 0) return "mapped";
    return mapped == 0 ? "written " + at : fmt::format("{} mapped, {} written {}", mapped, written, at);
}

std::string drops_of(const Drops& drops) {
    std::vector<std::string> parts;
    for (const DropRow& one : drop_rows)
        if (const std::uint64_t count = drops.*one.count)
            parts.push_back(fmt::format("{} {}", human_count(static_cast<double>(count)), one.key));
    std::string text = joined(parts, ", ");
    std::ranges::replace(text, '_', ' ');
    return text;
}

std::string missing_in(const Job& job) { return job.is_partial_on_purpose ? "" : rank_list(job.missing(), 6); }

// The sums of one rank that disagree: damage in a final profile, calls in flight elsewhere.
std::vector<Finding> look_into(const Rank& rank, RankReader& reader) {
    const auto profile = reader.profile(rank.rank);
    if (!profile) return {{profile.error().line(), true}};
    const auto found = disagreements(*profile);
    const bool is_final = profile->state == State::finalized && !profile->is_in_finalize;
    const auto is_small = [](const Disagreement& one) { return one.may_be_in_flight; };
    std::vector<Finding> findings;
    if (!is_final && !found.empty() && std::ranges::all_of(found, is_small)) {
        const std::string state = rank.life == Life::running     ? "live"
                                  : rank.state == State::running ? "killed"
                                                                 : "ended early";
        return {{fmt::format("{}: {} by calls in flight ({}: {}): {}", profile->path,
                             found.size() == 1 ? "a sum disagrees" : fmt::format("{} sums disagree", found.size()),
                             "first", found.front().what, state),
                 false}};
    }
    for (std::size_t i = 0; i < std::min(found.size(), disagreements_shown); ++i)
        findings.push_back(
            {fmt::format("{}: does not add up: {}; its other numbers may be right", profile->path, found[i].what),
             true});
    if (found.size() > disagreements_shown)
        findings.push_back(
            {fmt::format("{}: {} more sums do not add up", profile->path, found.size() - disagreements_shown), true});
    return findings;
}

Table launch_table(const std::vector<Job>& launches) {
    using L = const Job&;
    const std::vector<Field<Job>> fields{
        {{.id = "job", .title = "JOB"}, [](L l) { return l.job; }},
        {{.id = "ranks", .title = "RANKS", .unit = Unit::count}, [](L l) { return std::uint64_t{l.size}; }},
        {{.id = "profiles", .title = "PROFILES", .unit = Unit::count}, [](L l) { return std::uint64_t{l.profiles()}; }},
        {{.id = "states", .title = "STATE"}, [](L l) { return text_of(states_of(l)); }},
        {{.id = "store", .title = "STORE", .drop = 1}, [](L l) { return stores_of(l); }},
        {{.id = "missing", .title = "MISSING"}, [](L l) { return missing_in(l); }},
        {{.id = "drops", .title = "DROPPED", .drop = 2}, [](L l) { return drops_of(l.drops); }},
        {{.id = "command", .title = "COMMAND", .drop = 3}, [](L l) { return l.command; }},
        {{.id = "launch", .title = {}, .only_data = true}, [](L l) { return l.launch; }},
    };
    Table table = table_of("launches", fields, launches);
    const auto has_drops = [](const Job& job) { return job.drops != Drops{}; };
    if (std::ranges::any_of(launches, has_drops))
        table.notes.push_back(Note::on("drops", "summed over ranks; mpiprof-report says what each is"));
    return table;
}

Table problem_table(const std::vector<Finding>& findings) {
    const std::vector<Field<Finding>> fields{
        {{.id = "kind", .title = {}}, [](const Finding& f) { return std::string(f.is_damage ? "damaged" : "note"); }},
        {{.id = "text", .title = {}}, [](const Finding& f) { return f.text; }},
    };
    return table_of("problems", fields, findings);
}

std::uint64_t ranks_in(const States& states) {
    std::uint64_t ranks = 0;
    for (const auto& [state, of_it] : states) ranks += of_it;
    return ranks;
}

// `unfinished`: ranks that did not reach MPI_Finalize, without those that are known to run still.
std::string verdict(std::size_t damaged, std::uint32_t profiles, std::uint64_t missing, const States& unfinished) {
    std::string text;
    if (damaged)
        text = fmt::format("{} found; {} can be read", plural(damaged, "defect", "defects"),
                           plural(profiles, "profile", "profiles"));
    else if (profiles == 1)
        text = "the profile is intact";
    else
        text = fmt::format("all {} profiles are intact", human_count(profiles));
    if (missing) text += fmt::format("; {} without a profile", plural(missing, "rank", "ranks"));
    if (!unfinished.empty())
        text += fmt::format("; {} did not reach MPI_Finalize ({})", plural(ranks_in(unfinished), "rank", "ranks"),
                            text_of(unfinished));
    return text;
}

struct Verdict {
    bool is_fine;
    std::uint64_t damaged, missing, unfinished;
    std::string text;
};

Table verdict_table(const Verdict& verdict) {
    using V = const Verdict&;
    const std::vector<Field<Verdict>> fields{
        {in_data("is_fine"), [](V v) { return Yes{v.is_fine}; }},
        {in_data("damaged", Unit::count), [](V v) { return v.damaged; }},
        {in_data("missing_ranks", Unit::count), [](V v) { return v.missing; }},
        {in_data("unfinished_ranks", Unit::count), [](V v) { return v.unfinished; }},
        {in_data("text"), [](V v) { return v.text; }},
    };
    return table_of("verdict", fields, std::vector<Verdict>{verdict});
}

class Check {
  public:
    explicit Check(const Options& options) : options_(options) {}

    int run() {
        Progress progress;
        const Found found = find_profiles(options_.paths, options_.threads, progress);
        if (found.launches.empty() && found.problems.empty()) {
            say(explain_no_profile(found));
            return no_profile;
        }
        for (const std::string& line : found.problems) findings_.push_back({line, true});
        std::size_t first = 0, end = found.launches.size();
        if (!options_.choice.job.empty() || !options_.choice.launch.empty()) {
            const auto chosen = choose_launch(found.launches, options_.choice);
            if (!chosen) return fail(chosen.error(), no_profile);
            first = *chosen;
            end = first + 1;
        }
        for (; first < end; ++first) look_at(found.launches[first], found.only_files, progress);
        return show();
    }

  private:
    void look_at(const Launch& launch, bool is_partial_on_purpose, Progress& progress) {
        for (const std::string& line : launch.problems) findings_.push_back({line, false});
        Result<Job> job = merge(launch, options_.threads, progress);
        if (!job) {
            findings_.push_back({job.error().line(), true});
            return;
        }
        job->is_partial_on_purpose = is_partial_on_purpose;
        // Those of the launch come first and are known.
        for (std::size_t n = launch.problems.size(); n < job->problems.size(); ++n)
            findings_.push_back({job->problems[n], true});
        for (const JobNote& note : job->notes) findings_.push_back({text_of(note), false});
        RankReader reader(launch);
        for (const Rank& rank : job->ranks) {
            if (!rank.has_profile) continue;
            ++profiles_;
            const bool is_running = rank.state == State::running && rank.life == Life::running;
            if (rank.state != State::finalized && !is_running) ++unfinished_[end_of(rank)];
            for (Finding& finding : look_into(rank, reader)) findings_.push_back(std::move(finding));
        }
        is_complete_ &= completeness_of(*job).is_complete;
        if (!is_partial_on_purpose)
            for (const NumberList::Range& range : job->missing()) missing_ += range.size();
        jobs_.push_back(std::move(*job));
    }

    int show() const {
        const auto damaged = static_cast<std::size_t>(
            std::count_if(findings_.begin(), findings_.end(), [](const Finding& f) { return f.is_damage; }));
        const View& view = view_of(options_);
        const Screen screen = screen_for(stdout, options_.screen);
        std::vector<Table> tables{launch_table(jobs_)};
        tables[0].title = verdict(damaged, profiles_, missing_, unfinished_);
        // Fine is a job whose numbers are all there: whole files, of every rank, written up to MPI_Finalize. One that
        // runs is fine so far, unless --strict asks for its end.
        const bool is_fine =
            damaged == 0 && missing_ == 0 && unfinished_.empty() && (!options_.is_strict || is_complete_);
        if (!view.is_for_screen) {
            tables.push_back(problem_table(findings_));
            tables.push_back(verdict_table({is_fine, damaged, missing_, ranks_in(unfinished_), tables[0].title}));
        }
        auto output = Output::open("");
        if (view.is_for_screen && !findings_.empty()) {
            // Whole lines: each of them names a file, which may be looked for or handed on.
            for (const Finding& finding : findings_) output->write(visible(finding.text, screen.has_utf8) + "\n");
            output->write("\n");
        }
        output->write(view.show({"check", tables}, screen));
        if (const int code = finish(*output); code != fine) return code;
        return is_fine ? fine : check_failed;
    }

    const Options& options_;
    std::vector<Finding> findings_;
    std::vector<Job> jobs_;
    std::uint32_t profiles_ = 0;
    std::uint64_t missing_ = 0;  // ranks
    States unfinished_;
    bool is_complete_ = true;
};

class CheckCommand : public Command {
  public:
    void take(Arguments& arguments) override { arguments.view(); }
    int run(const Options& options) override { return Check(options).run(); }
};

}  // namespace

std::unique_ptr<Command> make_check() { return std::make_unique<CheckCommand>(); }

}  // namespace mpiprof::report
