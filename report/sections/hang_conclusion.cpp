// One sentence for each case, the proven ones first.
#include "report/sections/hang_conclusion.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/doubts.h"
#include "report/analysis/hangs.h"
#include "report/model/units.h"
#include "report/sections/hang_words.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t items_in_sentence = 12;  // of a list of ranks
constexpr std::size_t most_others = 3;         // lines that the first sentence names

using Ranks = std::vector<std::uint32_t>;

std::string ranks_text(const Ranks& ranks, At at = At::middle) { return ranks_text(ranks, items_in_sentence, at); }

// Where the ranks that everyone waits for are instead.
std::string what_they_do(const Ranks& ranks, const StandingLines& lines, bool has_ended) {
    const StandingLine* line = lines.of(ranks.front());
    if (!line) return "";
    const bool alike = std::ranges::all_of(ranks, [&](std::uint32_t r) { return lines.of(r) == line; });
    if (!alike) return has_ended ? "they stood at different places" : "they stand at different places";
    const std::string they = ranks.size() == 1 ? "it" : "they";
    const std::string are = ranks.size() == 1 ? (has_ended ? "was" : "is") : (has_ended ? "were" : "are");
    const std::string from = in_brackets(line->line);
    const std::string time = human_time(static_cast<double>(line->for_ns));
    if (line->is_inside) return fmt::format("{} {} inside {}, for {}{}", they, are, line->call, time, from);
    if (line->ending.condition == Condition::no_profile)
        return ranks.size() == 1 ? "it has no profile" : "they have no profile";
    if (line->ending.condition == Condition::finalized)
        return fmt::format("{} called {}", they, lines.words().finalize);
    if (line->call.empty()) return fmt::format("{} {} in the program", they, are);
    return fmt::format("{} {} in the program, {} after entering {}{}", they, are, time, line->call, from);
}

// The end of the job, in words; empty where all is well.
std::string end_of(const Job& job) {
    Ranks aborted, exited, killed;
    for (const Rank& rank : job.ranks) {
        if (rank.state == State::aborted) aborted.push_back(rank.rank);
        if (rank.state == State::exited) exited.push_back(rank.rank);
        if (rank.has_profile && rank.state == State::running) killed.push_back(rank.rank);
    }
    if (!aborted.empty())
        return fmt::format("{} called MPI_Abort({})", ranks_text(aborted, At::begin), job.find(aborted[0])->exit_code);
    if (!exited.empty())
        return fmt::format("{} ended without {}", ranks_text(exited, At::begin), vocabulary_of(job).finalize);
    return killed.empty() ? "" : ranks_text(killed, At::begin) + (killed.size() == 1 ? " was killed" : " were killed");
}

std::string who_waits(const Job& job, const Arrival& arrival, const StandingLines& lines, bool has_ended) {
    std::string text =
        of_all(arrival.inside.size(), job) + (has_ended ? " waited in " : " wait in ") + name_of(arrival, job);
    if (arrival.inside.size() == 1)
        text =
            fmt::format("Rank {} {} in {}", arrival.inside[0], has_ended ? "waited" : "waits", name_of(arrival, job));
    const std::string group = group_name(job.groups[arrival.group]);
    if (!group.empty()) text += " on " + group;
    if (!arrival.inside.empty())
        if (const StandingLine* line = lines.of(arrival.inside.front())) text += in_brackets(line->line);
    text += ", for " + human_time(static_cast<double>(arrival.for_ns));
    if (arrival.missing.empty()) {
        if (arrival.passed == 0)
            return text +
                   fmt::format(", all members have entered it: {} does not complete it", vocabulary_of(job).library);
        return text + ", all members have entered it: other ranks have left it";
    }
    text += ", for " + ranks_text(arrival.missing);
    const std::string instead = what_they_do(arrival.missing, lines, has_ended);
    return instead.empty() ? text : text + ": " + instead;
}

// NCCL's calls return at once; the GPUs may wait for each other all the same, which nobody sees from here.
std::string enqueued_last(const StandingLines& lines, bool has_ended) {
    std::string text;
    for (const StandingLine& line : lines.all()) {
        if (line.is_inside || !line.is_of_nccl || line.for_ns < worth_a_word_ns) continue;
        text += fmt::format("{}{} enqueued {}{} last, {} {}", text.empty() ? "" : "; ",
                            ranks_text(line.ranks, text.empty() ? At::begin : At::middle), line.call,
                            in_brackets(line.line), human_time(static_cast<double>(line.for_ns)),
                            has_ended ? "before the end" : "ago");
    }
    if (text.empty()) return text;
    return fmt::format(
        "No rank {} inside NCCL, whose calls return at once: whether the GPUs {} finished what was enqueued last is not "
        "known. {}",
        has_ended ? "was" : "is", has_ended ? "had" : "have", text);
}

std::string longest_wait(const Job& job, const StandingLines& lines, bool has_ended) {
    const StandingLine* longest = nullptr;
    Ranks inside;
    for (const StandingLine& line : lines.all()) {
        if (!line.is_inside) continue;
        inside.insert(inside.end(), line.ranks.begin(), line.ranks.end());
        if (!longest || line.for_ns > longest->for_ns) longest = &line;
    }
    std::sort(inside.begin(), inside.end());
    inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
    const std::string_view library = vocabulary_of(job).library;
    if (!longest)
        if (std::string text = enqueued_last(lines, has_ended); !text.empty()) return text;
    if (!longest)
        return has_ended ? fmt::format("No rank was inside {}", library)
                         : fmt::format("No hang: no rank is inside {} right now", library);
    const std::string time = human_time(static_cast<double>(longest->for_ns));
    if (longest->for_ns < worth_a_word_ns)
        return has_ended
                   ? fmt::format("No rank was inside one {} call for longer than {}", library, time)
                   : fmt::format("No hang: no rank has been inside one {} call for longer than {}", library, time);
    std::string text = fmt::format("{} {} been inside {}{} for {}", ranks_text(longest->ranks, At::begin),
                                   has_ended                    ? "had"
                                   : longest->ranks.size() == 1 ? "has"
                                                                : "have",
                                   longest->call, in_brackets(longest->line), time);
    std::size_t others = 0;
    for (const StandingLine& line : lines.all())
        if (line.is_inside && &line != longest && others++ < most_others)
            text += fmt::format(", {} inside {}{}", ranks_text(line.ranks), line.call, in_brackets(line.line));
    if (inside.size() == job.size && job.size > 1)
        text += fmt::format("; every rank {} inside {}, waiting for others", has_ended ? "was" : "is", library);
    return text;
}

// NCCL's calls return at once; it is the GPUs that wait.
std::string who_lags(const Job& job, const Arrival& lag, const StandingLines& lines, bool has_ended) {
    const std::string group = group_name(job.groups[lag.group]);
    const auto first = first_not_enqueued(job, lag.group);
    const std::string line = first && first->call == lag.call ? in_brackets(line_text(job, first->place)) : "";
    std::string text =
        fmt::format("{} {} enqueued {}{} {}{}, {} {}: their GPUs {} for it", ranks_text(lag.inside, At::begin),
                    has_ended                ? "had"
                    : lag.inside.size() == 1 ? "has"
                                             : "have",
                    name_of(lag, job), line, plural(lag.entered, "time", "times"), group.empty() ? "" : " on " + group,
                    ranks_text(lag.missing), lag.missing.size() == 1 ? std::to_string(lag.least_entered) : "fewer",
                    has_ended ? "waited" : "wait");
    const std::string instead = what_they_do(lag.missing, lines, has_ended);
    return instead.empty() ? text : text + "; " + instead;
}

// "ncclAllReduce (train.py:33) on dp"
std::string step_text(const Job& job, const OrderedStep& step, std::uint32_t group) {
    const std::string on = communicator_text(job.groups[group]);
    return fmt::format("{}{}{}", job.calls[step.call].name, in_brackets(line_text(job, step.place)),
                       on.empty() ? "" : " on " + on);
}

// Two ranks and two communicators of NCCL's.
std::string who_crosses(const Job& job, const Crossing& crossing, bool has_ended) {
    const OppositeOrder::Side &one = crossing.one, &other = crossing.other;
    const char* have = has_ended ? "had" : "has";
    const std::string begin = fmt::format(
        "Ranks {} and {} {} two communicators in opposite order: rank {} {} enqueued {}", one.rank, other.rank,
        has_ended ? "used" : "use", one.rank, have, step_text(job, one.of_first, crossing.first));
    const std::string time = human_time(static_cast<double>(crossing.for_ns));
    if (one.of_second.word == 0)
        return fmt::format("{} and rank {} has not, rank {} {} enqueued {} and rank {} has not, for {}", begin,
                           other.rank, other.rank, have, step_text(job, other.of_second, crossing.second), one.rank,
                           time);
    const bool is_place_known = other.of_first.place != 0 && other.of_second.place != 0;
    const std::string where = is_place_known ? fmt::format(", at {} and {}", line_text(job, other.of_second.place),
                                                           line_text(job, other.of_first.place))
                                             : std::string();
    return fmt::format(
        "{} before {}, rank {} the other way round{}; they {} nothing more for {}. Their GPUs {} if neither has room for "
        "both",
        begin, step_text(job, one.of_second, crossing.second), other.rank, where, has_ended ? "called" : "have called",
        time, has_ended ? "hung" : "hang");
}

// MPI and NCCL, each of which waits for the other.
std::string who_waits_for_both(const Job& job, const MixedWait& wait, bool has_ended) {
    const char *waits = has_ended ? "waited" : "waits", *have = has_ended ? "had" : "has";
    const std::uint32_t rank = wait.in_mpi->rank;
    return fmt::format(
        "Rank {} {} in {}{} for rank {}, whose GPU {} for rank {}: rank {} {} enqueued {}, number {} there, and rank {} "
        "{} not, for {}. It {} if rank {} {} for its GPU",
        rank, waits, job.calls[*wait.in_mpi->call].name, in_brackets(line_text(job, wait.in_mpi->place)), wait.other,
        waits, rank, wait.other, have, step_text(job, wait.not_enqueued, wait.group), wait.not_enqueued.number + 1,
        rank, have, human_time(static_cast<double>(wait.for_ns)), has_ended ? "hung" : "hangs", wait.other, waits);
}

// Members that have enqueued as many collectives and not the same ones, of which nothing is kept.
std::string who_differs(const Unlike& unlike, const Job& job, bool has_ended) {
    const std::string group = group_name(job.groups[unlike.group]);
    const std::string both = fmt::format("Ranks {} and {}", unlike.one, unlike.other);
    return fmt::format(
        "{} {} enqueued as many collectives{}, {}, but not the same ones: which ones differ is not recorded for so many "
        "communicators. They {} nothing for {}",
        both, has_ended ? "had" : "have", group.empty() ? "" : " on " + group,
        human_count(static_cast<double>(unlike.collectives)), has_ended ? "had called" : "have called",
        human_time(static_cast<double>(unlike.for_ns)));
}

// Two ranks, one of which has enqueued a message of NCCL's that the other one has not.
std::string who_misses(const UnevenMessages& pair, const Job& job, const StandingLines& lines, bool has_ended) {
    const char *have = has_ended ? "had" : "has", *waits = has_ended ? "waited" : "waits";
    const auto text_of = [&](bool is_sent) {
        const EnqueuedWith::Flow& flow = is_sent ? pair.sent : pair.received;
        return fmt::format("{} {}{} {} rank {}", human_count(static_cast<double>(flow.messages)),
                           is_sent ? "ncclSend" : "ncclRecv", in_brackets(line_text(job, flow.place)),
                           is_sent ? "to" : "from", is_sent ? pair.receiver : pair.sender);
    };
    const std::string on = communicator_text(job.groups[pair.group]);
    const std::string where = on.empty() ? on : " on " + on, time = human_time(static_cast<double>(pair.for_ns));
    if (pair.sent.messages == pair.received.messages)
        return fmt::format(
            "Ranks {} and {} {} enqueued a message at different places among the collectives{}: rank {} {}, after {}, "
            "rank {} {}, after {}. They {} nothing for {}, and their GPUs {} unless a group holds both",
            pair.sender, pair.receiver, has_ended ? "had" : "have", where, pair.sender, text_of(true),
            human_count(static_cast<double>(pair.sent.after)), pair.receiver, text_of(false),
            human_count(static_cast<double>(pair.received.after)), has_ended ? "had called" : "have called", time,
            has_ended ? "hung" : "hang");
    const bool is_not_sent = pair.received.messages > pair.sent.messages;
    const std::uint32_t ahead = is_not_sent ? pair.receiver : pair.sender;
    const std::uint32_t behind = is_not_sent ? pair.sender : pair.receiver;
    std::string text =
        fmt::format("Rank {} {} enqueued {}{}, which {} enqueued {}, for {}: the GPU of rank {} {} for it{}", ahead,
                    have, text_of(!is_not_sent), where, have, text_of(is_not_sent), time, ahead, waits,
                    is_not_sent ? "" : " unless NCCL has room for the message");
    const std::string instead = what_they_do({behind}, lines, has_ended);
    return instead.empty() ? text : text + fmt::format("; rank {}: {}", behind, instead);
}

struct SuspicionWords {
    const Job& job;
    const StandingLines& lines;
    bool has_ended;

    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(const MixedWait& wait) const { return who_waits_for_both(job, wait, has_ended); }
    std::string operator()(const WaitsInside& waits) const { return who_waits(job, waits.arrival, lines, has_ended); }
    std::string operator()(const Crossing& crossing) const { return who_crosses(job, crossing, has_ended); }
    std::string operator()(const Unlike& unlike) const { return who_differs(unlike, job, has_ended); }
    std::string operator()(const UnevenMessages& uneven) const { return who_misses(uneven, job, lines, has_ended); }
    std::string operator()(const NotEnqueued& missing) const { return who_lags(job, missing.lag, lines, has_ended); }
};

}  // namespace

std::string words_of(const Suspicion& suspicion, const Job& job, const StandingLines& lines, bool has_ended) {
    return std::visit(SuspicionWords{job, lines, has_ended}, suspicion);
}

std::string conclusion(const Analysed& all, const StandingLines& lines) {
    const Job& job = all.job;
    const bool all_finalized = std::ranges::all_of(job.ranks, [](const Rank& rank) {
        return rank.has_profile && rank.state == State::finalized && !rank.is_in_finalize;
    });
    if (job.is_text) return "mpitrace's text does not say where the ranks are";
    if (all_finalized)
        return fmt::format(
            "No hang: {} reached {}",
            job.ranks.size() == job.size ? "all ranks" : fmt::format("{} of {} ranks", job.ranks.size(), job.size),
            vocabulary_of(job).finalize);
    const bool is_over = report::is_over(job);
    const std::string ending = is_over ? end_of(job) : "";
    if (const auto& hang = all.hang()) {
        const std::string proven = words_of(*hang, job, is_over);
        return ending.empty() ? proven : proven + ". " + ending;
    }
    std::string text = words_of(all.suspicion(), job, lines, is_over);
    if (text.empty()) text = longest_wait(job, lines, is_over);
    const bool is_part = leaves_out_functions(job);
    if (const auto quiet = quiet_of(job); quiet && !is_over)
        text = fmt::format("No {}{} call has {} on any rank for {}. {}", is_part ? "recorded " : "",
                           vocabulary_of(job).library, quiet->are_all_inside ? "ended" : "begun",
                           human_time(static_cast<double>(quiet->for_ns)), text);
    if (is_part) text += ". MPIPROF_FUNCTIONS leaves out calls, so nothing is proven";
    return ending.empty() ? text : ending + ". " + text;
}

}  // namespace mpiprof::report
