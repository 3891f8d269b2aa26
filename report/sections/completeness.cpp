// Ranks are counted first; what is wrong with them, the gravest first, makes the line.
#include "report/sections/completeness.h"

#include "report/model/units.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

std::string counted_text(const Completeness& all, const Job& job) {
    const std::string counted = fmt::format("{} of {}", human_count(all.profiles), plural(job.size, "rank", "ranks"));
    if (all.missing.empty()) {
        const std::string chosen = all.profiles < job.size ? " (MPIPROF_RANKS)" : "";
        return (all.is_complete ? "profile complete: " : "") + counted + chosen;
    }
    if (job.is_text && job.ranks.size() == job.size)  // mpitrace writes a few ranks only
        return counted + "; the others are in the table of all ranks";
    if (job.is_text && job.ranks.size() > all.profiles) {  // and its table may have been cut
        const auto told = static_cast<double>(job.ranks.size() - all.profiles);
        const auto untold = static_cast<double>(job.size) - static_cast<double>(job.ranks.size());
        return fmt::format("{}; {} are in the table of ranks, nothing is known about {}", counted, human_count(told),
                           human_count(untold));
    }
    if (job.is_partial_on_purpose) return counted + " (files given)";
    return fmt::format("INCOMPLETE: {}, missing {}", counted, rank_list(all.missing, 6));
}

}  // namespace

std::string text_of(const Completeness& all, const Job& job) {
    std::string text = counted_text(all, job);
    if (all.running) text += fmt::format("; {} still running", human_count(all.running));
    if (all.unfinished)
        text += fmt::format("; {} did not reach {}", human_count(all.unfinished), vocabulary_of(job).finalize);
    if (job.drops.threads) text += fmt::format("; {} not recorded", plural(job.drops.threads, "call", "calls"));
    if (job.has(Family::nccl) && job.gpu.rows.empty()) text += "; NCCL's time on the GPU was not recorded";
    if (all.problems) text += "; " + plural(all.problems, "file has a problem", "files have problems");
    return text;
}

}  // namespace mpiprof::report
