// Standings of one job are gathered by what a line says of them.
#include "report/sections/standing_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/arrivals.h"
#include "report/sections/hang_words.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_ranks = 100'000;  // of one line

RankEnd end_of_rank(const Rank& rank) {
    if (!rank.has_profile) return {Condition::no_profile};
    if (rank.is_in_finalize) return {Condition::running};
    switch (rank.state) {
        case State::finalized:
            return {Condition::finalized};
        case State::aborted:
            return {Condition::aborted, rank.exit_code};
        case State::exited:
            return {Condition::exited};
        case State::running:
            break;
    }
    if (rank.life == Life::running) return {Condition::running};
    return {rank.life == Life::ended ? Condition::killed : Condition::out_of_sight};
}

StandingLine plain(RankEnd ending) {
    return {.ending = ending, .call = {}, .group = {}, .ranks = {}, .symbol = {}, .from = {}, .line = {}};
}

}  // namespace

std::string text_of(const RankEnd& end) {
    switch (end.condition) {
        case Condition::no_profile:
            return "no profile";
        case Condition::running:
            return "running";
        case Condition::finalized:
            return "finalized";
        case Condition::aborted:
            return fmt::format("called MPI_Abort({})", end.exit_code);
        case Condition::exited:
            return "exited without MPI_Finalize";
        case Condition::killed:
            return "killed";
        case Condition::out_of_sight:
            break;
    }
    return "killed, or on a node that cannot be checked from here";
}

std::string group_name(const Group& group) { return group.is_world ? "" : communicator_text(group); }

StandingLines::StandingLines(const Job& job) : job_(job) {
    std::uint32_t next = 0;
    auto standing = job.standings.begin();
    for (const Rank& rank : job.ranks) {
        missing(next, rank.rank);
        next = rank.rank + 1;
        while (standing != job.standings.end() && standing->rank < rank.rank) ++standing;
        const bool stands = standing != job.standings.end() && standing->rank == rank.rank;
        if (!stands) add_without(rank);
        for (; standing != job.standings.end() && standing->rank == rank.rank; ++standing) add(rank, *standing);
    }
    missing(next, job.size);
    find_places();
    sort();
}

const StandingLine* StandingLines::of(std::uint32_t rank) const {
    for (const StandingLine& line : lines_)
        if (std::binary_search(line.ranks.begin(), line.ranks.end(), rank)) return &line;
    return nullptr;
}

StandingLine& StandingLines::line_like(const StandingLine& wanted) {
    const auto [found, is_new] = index_.try_emplace(wanted.key(), lines_.size());
    if (is_new) lines_.push_back(wanted);
    return lines_[found->second];
}

void StandingLines::add(const Rank& rank, const Standing& standing) {
    StandingLine like = plain(end_of_rank(rank));
    like.is_inside = standing.is_inside;
    if (standing.call) {
        like.call = job_.calls[*standing.call].name;
        like.is_of_nccl = job_.calls[*standing.call].family == Family::nccl;
    }
    if (standing.is_inside) like.group = group_name(job_.groups[standing.group]);
    like.place = standing.place;
    like.thread = standing.thread;
    StandingLine& line = line_like(like);
    line.take(standing.since_ns, standing.since_ns || !standing.call ? standing.for_ns : 0);
    if (line.ranks.empty() || line.ranks.back() != rank.rank) line.ranks.push_back(rank.rank);
    if (!standing.is_inside || standing.group == 0 || !is_collective(job_.calls[*standing.call].traffic)) return;
    const std::uint64_t entered = entered_by(job_, standing.group, *standing.call, rank.rank);
    line.least_entered = std::min(line.least_entered, entered);
    line.most_entered = std::max(line.most_entered, entered);
}

void StandingLines::add_without(const Rank& rank) {
    StandingLine like = plain(end_of_rank(rank));
    if (rank.is_in_finalize) {
        like.is_inside = true;
        like.call = "MPI_Finalize";
    }
    StandingLine& line = line_like(like);
    line.take(rank.is_in_finalize ? rank.elapsed_ns : 0, rank.is_in_finalize ? rank.finalize_ns : 0);
    line.ranks.push_back(rank.rank);
}

void StandingLines::missing(std::uint32_t from, std::uint32_t to) {
    if (from >= to || job_.is_partial_on_purpose) return;
    const NumberList expected = job_.expected_within({from, to - 1});
    for (const NumberList::Range& range : expected.ranges()) {
        StandingLine& line = line_like(plain({Condition::no_profile}));
        for (std::uint64_t rank = range.first; rank <= range.last && line.ranks.size() < most_ranks; ++rank)
            line.ranks.push_back(static_cast<std::uint32_t>(rank));
    }
}

void StandingLines::find_places() {
    Symbols symbols;
    for (StandingLine& line : lines_) {
        if (line.place == 0) continue;
        line.at = &job_.places[line.place];
        line.module = &job_.modules[line.at->module];
        line.symbol = symbols.at(*line.module, line.at->offset);
        line.from = place_text(line.symbol, *line.module, line.at->offset);
        line.line = short_place_text(line.symbol, *line.module, line.at->offset);
        if (!line.symbol.problem.empty())
            problems_.insert(fmt::format("{}: {}", line.module->path, line.symbol.problem));
    }
}

// Inside MPI, in the program, ended; the largest groups first.
void StandingLines::sort() {
    const auto order = [](const StandingLine& line) {
        return line.is_inside ? 0 : !line.call.empty() || line.ending.condition == Condition::running ? 1 : 2;
    };
    std::stable_sort(lines_.begin(), lines_.end(), [&](const StandingLine& a, const StandingLine& b) {
        return std::make_tuple(order(a), b.ranks.size(), b.for_ns) <
               std::make_tuple(order(b), a.ranks.size(), a.for_ns);
    });
}

}  // namespace mpiprof::report
