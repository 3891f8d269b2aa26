// Ids are compared as text: schedulers build them of numbers, and of what stands between these.
#include "report/read/choose_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string_view>

#include "report/model/joined.h"

namespace mpiprof::report {
namespace {

// From the worst.
enum class NameMatch {
    none,
    group,  // "4711" of 4711_3, 4711[3].sdb and 4711+1
    id,     // "4715" or "4715.0" of a step of job 4715, whatever its profiles are called
    name,   // as in mpi_profile.<name>.<rank>
};

bool begins_with_digit(std::string_view text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

// "4711" of 4711, 4711.2 and 4711.sdb, but also of 4711_3: not of 47110. Names that users chose have no such parts.
NameMatch match_of_id(std::string_view wanted, std::string_view id) {
    if (!id.starts_with(wanted)) return NameMatch::none;
    if (id.size() == wanted.size()) return NameMatch::id;
    if (!begins_with_digit(wanted)) return NameMatch::none;
    const char next = id[wanted.size()];
    if (next == '.') return NameMatch::id;
    return next == '_' || next == '[' || next == '+' ? NameMatch::group : NameMatch::none;
}

// "4711[3].sdb" as mpi_profile.4711_3.0 has it: profiles of older libraries have the name alone.
std::string as_in_file_names(std::string_view id) {
    std::string name;
    const std::size_t dot = id.find('.');
    const bool names_step = dot != id.npos && begins_with_digit(id.substr(dot + 1));
    for (const char c : id.substr(0, names_step ? id.npos : dot))
        if (c != ']') name += c == '[' ? '_' : c;
    return name;
}

NameMatch match_of_name(std::string_view wanted, const Launch& launch) {
    if (launch.job == wanted) return NameMatch::name;
    wanted = wanted.substr(0, wanted.find("[]"));  // 4711[].sdb: PBS's name of all members of an array
    NameMatch best = match_of_id(wanted, launch.job);
    for (const std::string_view ids : launch.job_ids)
        for (std::size_t at = 0; at < ids.size();) {
            const std::size_t end = std::min(ids.find(' ', at), ids.size());
            best = std::max(best, match_of_id(wanted, ids.substr(at, end - at)));
            at = end + 1;
        }
    if (launch.job_ids.empty() && best == NameMatch::none && begins_with_digit(wanted))
        best = match_of_id(as_in_file_names(wanted), launch.job);
    return best;
}

std::vector<std::string> jobs_of(const std::vector<Launch>& launches, std::span<const std::size_t> which) {
    std::vector<std::string> jobs;
    for (const std::size_t i : which)
        if (const std::string& job = launches[i].job; std::find(jobs.begin(), jobs.end(), job) == jobs.end())
            jobs.push_back(job);
    return jobs;
}

// A member of an array, in its script: its own number may be that of the array, too, and means itself.
bool is_own_job(const std::string& job) {
    for (const char* variable : {"SLURM_JOB_ID", "PBS_JOBID"})
        if (const char* own = std::getenv(variable); own && job == own) return true;
    return false;
}

// Those that are called so best, newest first; `loosely`: those, too, of which it is a part of the name.
std::vector<std::size_t> launches_called(const std::vector<Launch>& launches, const std::string& job, bool loosely) {
    std::vector<NameMatch> matches;
    for (const Launch& launch : launches) matches.push_back(match_of_name(job, launch));
    const NameMatch best = *std::max_element(matches.begin(), matches.end());
    const NameMatch least = loosely && best != NameMatch::name ? NameMatch::group : best;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < launches.size(); ++i)
        if (best != NameMatch::none && matches[i] >= least) which.push_back(i);
    return which;
}

tl::unexpected<Problem> no_such_job(const std::vector<Launch>& launches, const std::string& job) {
    std::vector<std::size_t> all(launches.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return problem("--job " + job, "no profile of that job",
                   fmt::format("there is {}", joined(jobs_of(launches, all), ", ")));
}

}  // namespace

Result<std::size_t> choose_launch(const std::vector<Launch>& launches, const Choice& choice) {
    if (!choice.launch.empty()) {
        for (std::size_t i = 0; i < launches.size(); ++i)
            if (launches[i].is_called(choice.launch) || fmt::format("{}", i + 1) == choice.launch) return i;
        return problem("--launch " + choice.launch, fmt::format("no such launch among {}", launches.size()),
                       "mpiprof-report lists them; 1 is the newest");
    }
    if (choice.job.empty()) return 0;
    std::vector<std::size_t> which = launches_called(launches, choice.job, !is_own_job(choice.job));
    if (which.empty()) return no_such_job(launches, choice.job);
    const std::size_t newest = which.front();
    std::reverse(which.begin(), which.end());
    std::vector<std::string> jobs = jobs_of(launches, which);
    if (jobs.size() == 1) return newest;
    constexpr std::size_t most = 20;
    const std::size_t count = jobs.size();
    if (count > most) jobs.resize(most);
    return problem("--job " + choice.job, fmt::format("{} jobs are called so", count),
                   fmt::format("choose one: {}{}", joined(jobs, ", "), count > most ? " ..." : ""));
}

Result<std::vector<std::size_t>> choose_launches(const std::vector<Launch>& launches, const Choice& choice) {
    if (!choice.launch.empty())
        return choose_launch(launches, choice).map([](std::size_t one) { return std::vector{one}; });
    std::vector<std::size_t> which(launches.size());
    std::iota(which.begin(), which.end(), std::size_t{0});
    if (!choice.job.empty()) which = launches_called(launches, choice.job, false);
    if (which.empty()) return no_such_job(launches, choice.job);
    std::reverse(which.begin(), which.end());
    return which;
}

}  // namespace mpiprof::report
