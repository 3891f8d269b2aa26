// Ranks are counted first; what is wrong with them, the gravest first, makes the line.
#include "report/sections/completeness.h"

#include "report/model/units.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {

Completeness completeness_of(const Job& job) {
    Completeness result;
    result.profiles = job.profiles();
    result.missing = job.missing();
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile) continue;
        result.running += rank.state == State::running && rank.life == Life::running;
        result.unfinished += rank.state != State::finalized;
    }

    const std::string counted =
        fmt::format("{} of {}", human_count(result.profiles), plural(job.size, "rank", "ranks"));
    result.is_complete = result.missing.empty() && result.unfinished == 0;
    if (result.is_complete) {
        result.text = "profile complete: " + counted + (result.profiles < job.size ? " (MPIPROF_RANKS)" : "");
    } else if (job.is_text && job.ranks.size() == job.size) {
        result.text = counted + "; the others are in the table of all ranks";  // mpitrace writes a few ranks only
    } else if (job.is_text && job.ranks.size() > result.profiles) {            // and its table may have been cut
        const auto told = static_cast<double>(job.ranks.size() - result.profiles);
        const auto untold = static_cast<double>(job.size) - static_cast<double>(job.ranks.size());
        result.text = fmt::format("{}; {} are in the table of ranks, nothing is known about {}", counted,
                                  human_count(told), human_count(untold));
    } else if (!result.missing.empty() && job.is_partial_on_purpose) {
        result.text = counted + " (files given)";
    } else if (!result.missing.empty()) {
        result.text = fmt::format("INCOMPLETE: {}, missing {}", counted, rank_list(result.missing, 6));
    } else {
        result.text = counted;
    }
    if (result.running) result.text += fmt::format("; {} still running", human_count(result.running));
    if (result.unfinished > result.running)
        result.text += fmt::format("; {} did not reach {}", human_count(result.unfinished - result.running),
                                   vocabulary_of(job).finalize);
    return result;
}

}  // namespace mpiprof::report
