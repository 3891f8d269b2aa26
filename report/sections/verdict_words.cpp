// One function for each kind of evidence that a report may begin with.
#include "report/sections/verdict_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/analysis/hangs.h"
#include "report/model/units.h"
#include "report/sections/finding_words.h"
#include "report/sections/hang_conclusion.h"
#include "report/sections/places.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_items = 4;  // of a list of ranks
constexpr std::uint64_t worth_a_word_ns = 1'000'000'000;

std::string share(double of_one) { return human_share(of_one); }
std::string time(std::uint64_t ns) { return human_time(static_cast<double>(ns)); }

struct Sentence {
    const Finding& finding;
    const Job& job;
    const Vocabulary& words;

    bool is_one() const { return finding.ranks.size() == 1; }
    const char* verb(const char* one, const char* many) const { return is_one() ? one : many; }
    std::string ranks(At at = At::begin) const { return ranks_text(finding.ranks, most_items, at); }
    std::string who() const { return ranks() + on_node_text(job, finding.ranks); }
    const std::string& call() const { return job.calls[finding.calls.front()].name; }

    // " from 14:32:07 to 14:40:10 (2460 s to 2943 s after the first MPI_Init)", or since the one, or until the other.
    std::string when(const evidence::Imbalance& e) const {
        if (!e.when) return "";
        const Stretch& when = *e.when;
        const std::string began = time(when.began_ns), ended = time(when.ended_ns);
        if (when.began_ns && when.ended_ns)
            return fmt::format(" from {} to {} ({} to {} after {})", human_clock(when.began_at),
                               human_clock(when.ended_at), began, ended, words.first_init);
        if (when.began_ns)
            return fmt::format(" since {} ({} after {})", human_clock(when.began_at), began, words.first_init);
        if (when.ended_ns)
            return fmt::format(" until {} ({} after {})", human_clock(when.ended_at), ended, words.first_init);
        return "";
    }
    // They compute, or are only outside the library: all of their CPU time is less than that.
    std::string longer(const evidence::Imbalance& e, std::string_view how_much) const {
        if (e.cpu_share && *e.cpu_share >= 0.7) return fmt::format("{} {}", verb("computes", "compute"), how_much);
        return fmt::format("{} outside {} {}", verb("is", "are"), words.library, how_much);
    }
    // "36 % longer than the others", or "2.4 times as long as" they are.
    std::string longer_than(const evidence::Imbalance& e, std::string_view whom) const {
        if (e.longer_share < 1) return fmt::format("{} longer than {}", share(e.longer_share), whom);
        if (e.longer_share >= 9) return fmt::format("more than 10 times as long as {}", whom);
        return fmt::format("{:.1f} times as long as {}", e.longer_share + 1, whom);
    }
    std::string_view others() const {
        return finding.ranks.size() + 1 == job.ranks.size() ? "the other rank waits" : "the others wait";
    }

    std::string operator()(const evidence::Imbalance& e) const {
        const std::string waiting =
            fmt::format("{} {}{} of the run for {}.", others(), e.is_at_least ? "at least " : "",
                        share(e.others_run_share), verb("it", "them"));
        if (finding.rule == Rule::growing_work)
            return fmt::format(
                "Work grows by rank: {} {}; {}", ranks(At::middle) + on_node_text(job, finding.ranks),
                longer(e, fmt::format("{:.1f} times as long as rank {}", e.longer_share + 1, e.least_rank)), waiting);
        if (finding.rule == Rule::imbalance)
            return fmt::format("Work is uneven: {} {}; {}", ranks(At::middle) + on_node_text(job, finding.ranks),
                               longer(e, longer_than(e, "the mean of the others")), waiting);
        const std::string who_it_is =
            finding.rule == Rule::slow_node
                ? fmt::format("All ranks of node {} ({})", host_of(job, finding.nodes.front()),
                              rank_list(finding.ranks, most_items))
                : who();
        const std::string how_much = (e.is_at_least ? "at least " : "") + longer_than(e, "the others");
        const std::string why = e.throttled_ns == 0 ? std::string()
                                                    : fmt::format(": the quota of {} cgroup was used up for {}",
                                                                  verb("its", "their"), time(e.throttled_ns));
        return fmt::format("{} {}{}{}; {}", who_it_is, longer(e, how_much), when(e), why, waiting);
    }

    // "rank 0, then 1, 2 and 3", or the first few of many.
    static std::string turns_text(const std::vector<std::uint32_t>& turns) {
        std::string text = fmt::format("rank {}, then {}", turns[0], turns[1]);
        for (std::size_t i = 2; i < std::min(turns.size(), most_items); ++i) text += fmt::format(", then {}", turns[i]);
        return text + (turns.size() > most_items ? " ..." : "");
    }
    std::string operator()(const evidence::Varying& e) const {
        if (!e.turns.empty())
            return fmt::format(
                "The rank that is late changes in the course of the run ({}): {} of the run is waiting for it.",
                turns_text(e.turns), share(e.run_share));
        std::string text =
            fmt::format("{} another {} late: {} of the run is waiting for whoever comes last",
                        e.slow_share > 0 ? "Each time" : "No rank is slower than the others, but each time",
                        e.slow_share > 0 ? "rank comes" : "one comes", share(e.run_share));
        if (e.slow_share > 0)
            text += fmt::format(", and {} more for those that are slow all the time", share(e.slow_share));
        if (e.pushed_off_per_s)
            text += fmt::format(
                " (perhaps because processors are short: each rank lost or yielded its own {} times a second)",
                human_count(std::round(*e.pushed_off_per_s)));
        return text + ".";
    }
    std::string operator()(const evidence::SerialChain& e) const {
        return fmt::format(
            "The ranks work one after the other: on average {:.1f} of {} are outside {}, and they wait {} of the run for "
            "each other.",
            e.at_work, job.ranks.size(), words.library, share(e.run_share));
    }
    std::string operator()(const evidence::OneServesAll& e) const {
        return fmt::format(
            "{} serves all others, one after the other: {} of the messages are to or from it, and {} {} of the run for it.",
            who(), share(e.messages_share), others(), share(e.others_run_share));
    }
    std::string operator()(const evidence::SmallMessages& e) const {
        return fmt::format(
            "Too many small messages: each rank makes {} calls of {} on average, mostly {}; they take {} of the run.",
            human_count(e.calls_of_rank), human_bytes(e.mean_bytes), call(), share(e.run_share));
    }
    std::string operator()(const evidence::CheapCalls& e) const {
        return fmt::format("{} calls {} {} times a second: about {} of its run (an estimate).", callers(e.ranks),
                           call(), human_count(e.calls_per_s), share(e.run_share));
    }
    std::string operator()(const evidence::Polling& e) const {
        return fmt::format("{} polls: it calls {} {} times a second, and these calls are {} of the run.",
                           callers(e.ranks), call(), human_count(std::round(e.calls_per_s / 1000) * 1000),
                           share(e.run_share));
    }
    std::string callers(std::uint32_t ranks) const {
        if (!finding.ranks.empty()) return who();
        return ranks == job.profiles() ? "Each rank" : fmt::format("Each of {} ranks", ranks);
    }
    std::string operator()(const evidence::Init& e) const {
        const std::string text =
            fmt::format("{} takes {}, {} of the run", words.init, time(e.longest_ns), share(e.process_share));
        if (e.waited_ns == 0) return text + ".";
        return fmt::format("{}: {} entered it {} after the first.", text,
                           ranks(At::middle) + on_node_text(job, finding.ranks), time(e.waited_ns));
    }
    std::string operator()(const evidence::Setup& e) const {
        return fmt::format("Each rank calls {} {} times, {}.", call(), human_count(std::round(e.calls)), cost_text(e));
    }
    std::string operator()(const evidence::FileIo& e) const {
        return fmt::format("MPI-IO takes {} of the run, mostly {}: {} by each rank.", share(e.run_share), call(),
                           human_rate(e.bytes_per_s));
    }
    std::string operator()(const evidence::Transfers& e) const {
        const bool are_compared = job.ranks.size() > 1 && job.knows_all_ranks();
        std::string text =
            fmt::format("{}{} of the run is inside MPI, mostly in {}{}{}", at_least(job), share(e.run_share), call(),
                        job.ranks.size() > 1 && e.mean_bytes >= 1 ? " of " + human_bytes(e.mean_bytes) : "",
                        are_compared ? ", and no rank is slower than others" : "");
        if (e.waiting_share)
            text +=
                fmt::format("; {}{} of that is waiting", e.is_waiting_known ? "" : "at most ", share(*e.waiting_share));
        return text + ".";
    }
    std::string operator()(const evidence::Healthy& e) const {
        if (e.is_length_unknown) return "How long the ranks ran is not known: the text does not have its totals.";
        if (e.too_short_ns != 0)
            return fmt::format("The run is too short to say where time is lost: {} from {} to {}.",
                               time(e.too_short_ns), words.init, words.finalize);
        constexpr double worth_a_word = 0.1;
        const std::string nothing =
            e.is_gpu_unseen || e.is_something_else || job.communicates_unseen() ? "No cause of lost time was found"
            : e.blocked_share >= worth_a_word ? fmt::format("Nothing in {} is worth your time", words.library)
                                              : std::string("Nothing here is worth your time");
        std::string text =
            fmt::format("{}: {}{} of the run is inside {}", nothing, at_least(job), share(e.mpi_share), words.library);
        if (e.setup_share >= 0.05) text += fmt::format(", {} to make and end communicators", share(e.setup_share));
        if (e.load_balance) text += fmt::format(", and the ranks are even (load balance {})", share(*e.load_balance));
        if (e.blocked_share >= worth_a_word)
            text +=
                fmt::format("; outside, ranks are blocked {} of the run (files, sleep, a GPU)", share(e.blocked_share));
        if (e.is_gpu_unseen) text += "; what NCCL did on the GPUs was not recorded";
        return text + ".";
    }
    std::string operator()(const evidence::Overlap& e) const {
        if (!e.background_share || e.beside_share < 0.5) return words_of(finding, job);
        return fmt::format(
            "{} is called by another thread than the main one, during {} of the run, and the main thread was not blocked "
            "for at least {} of that time: what it did meanwhile was not held up.",
            words.library, share(finding.run_share), share(e.beside_share));
    }
    std::string operator()(const evidence::Crowded& e) const {
        return fmt::format("{} waited for a processor {}{} of the run{}{}.", who(), e.is_at_least ? "at least " : "",
                           share(e.waited_share), e.is_outside ? fmt::format(", outside {}", words.library) : "",
                           how_it_was_found(e));
    }
    std::string operator()(const evidence::WrongLauncher& e) const {
        return fmt::format(
            "These are {} jobs of one rank each, not one of {}: {} started a program that is linked with {}.",
            e.launches, e.launches, e.launcher, e.family.empty() ? "another MPI" : e.family);
    }

    // How the job ended: with whom it began, or that all ended alike.
    std::string operator()(const evidence::Unfinished& e) const {
        const std::string after = fmt::format("{} after {}", time(e.after_ns), words.init);
        if (e.state == State::aborted)
            return fmt::format("{} called MPI_Abort({}) {}{}{}", who(), e.exit_code, after, last_call(e), rest(e));
        if (e.state == State::exited)
            return fmt::format("{} ended without {} {}{}{}", who(), words.finalize, after, last_call(e), rest(e));
        const std::string_view killed = e.life == Life::ended ? "killed" : "killed (or out of sight)";
        if (e.waiting != 0) {
            const std::string waited = e.waited_ns >= worth_a_word_ns ? " for " + time(e.waited_ns) : "";
            return fmt::format("{} {} {} {}; {} waited{} in {} for {}{}", ended(e.alike), e.alike == 1 ? "was" : "were",
                               killed, after, plural(e.waiting, "rank", "ranks"), waited,
                               e.call ? job.calls[*e.call].name : std::string(words.finalize),
                               ranks(At::middle) + on_node_text(job, finding.ranks), last_call(e) + ".");
        }
        if (finding.ranks.size() < e.alike)
            return fmt::format("{} {} {} first, {}{}{}", who(), verb("was", "were"), killed, after, last_call(e),
                               rest(e));
        // Lines of the source are looked up for those that stand somewhere: not where nothing is to be said.
        const std::string held_up = std::holds_alternative<std::monostate>(e.held_by)
                                        ? std::string()
                                        : words_of(e.held_by, job, StandingLines(job), is_over(job));
        return fmt::format("{} {} {} {}{}.", ended(e.alike), e.alike == 1 ? "was" : "were", killed, after,
                           held_up.empty() ? last_call(e) : ". " + held_up);
    }
    std::string ended(std::uint32_t ranks) const {
        if (ranks == finding.ranks.size() && ranks != job.size) return who();
        return ranks == job.size ? (ranks == 1 ? "The only rank" : fmt::format("All {} ranks", ranks))
                                 : fmt::format("{} of {} ranks", ranks, job.size);
    }
    std::string last_call(const evidence::Unfinished& e) const {
        if (finding.calls.empty()) return "";
        return fmt::format(", {} {}{}", e.is_inside ? "inside" : "in the program after", call(),
                           in_brackets(line_text(job, e.place)));
    }
    std::string rest(const evidence::Unfinished& e) const {
        const auto more = e.alike - std::min<std::size_t>(e.alike, finding.ranks.size());
        return more ? fmt::format("; {} more ended with {}.", more, verb("it", "them")) : ".";
    }

    template <class Other>
    std::string operator()(const Other&) const {
        return words_of(finding, job);
    }
};

// mpitrace writes the calls of a few ranks only: what follows of them is of these. Times of all ranks are in its table.
std::string by_whose_text(const Finding& verdict, const Job& job) {
    const bool is_by_table = std::holds_alternative<evidence::Imbalance>(verdict.evidence) ||
                             std::holds_alternative<evidence::Overlap>(verdict.evidence);
    if (!job.is_text || job.profiles() == job.size || is_by_table) return "";
    if (job.profiles() != 1) return fmt::format("By the texts of {} of {} ranks: ", job.profiles(), job.size);
    const auto it = std::find_if(job.ranks.begin(), job.ranks.end(), [](const Rank& rank) { return rank.has_profile; });
    return fmt::format("By the text of rank {} alone: ", it->rank);
}

}  // namespace

std::string sentence_of(const Finding& verdict, const Job& job) {
    return by_whose_text(verdict, job) + std::visit(Sentence{verdict, job, vocabulary_of(job)}, verdict.evidence);
}

std::string short_sentence_of(const Finding& verdict, const Job& job) {
    std::string text(id_of(verdict.rule));
    if (!verdict.ranks.empty())
        text += ": " + ranks_text(verdict.ranks, 3, At::middle) + on_node_text(job, verdict.ranks);
    if (verdict.run_share > 0 && verdict.run_share < 1)
        text += fmt::format(", {} of the run", human_share(verdict.run_share));
    return text;
}

}  // namespace mpiprof::report
