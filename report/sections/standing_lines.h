// Where every rank stands, ranks that stand alike as one line, with its place in the source. What the section `hang`
// shows as a table and tells in a sentence; the sentence is in hang_conclusion.h.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "report/model/job.h"
#include "report/model/symbol.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {

// How a rank is, or how it ended.
enum class Condition : std::uint8_t { no_profile, running, finalized, aborted, exited, killed, out_of_sight };

struct RankEnd {
    Condition condition = Condition::no_profile;
    int exit_code = 0;  // aborted only
    auto operator<=>(const RankEnd&) const = default;
};

std::string text_of(const RankEnd& end);

// Ranks that stand alike.
struct StandingLine {
    RankEnd ending;
    bool is_inside = false;
    std::string call;         // the one they are in, or were in last
    bool is_of_nccl = false;  // which only enqueues
    std::string group;
    std::uint32_t place = 0;
    ThreadKind thread = ThreadKind::main;
    std::vector<std::uint32_t> ranks;
    std::uint64_t since_ns = 0;  // of the one that is there longest
    std::uint64_t for_ns = 0;
    std::uint64_t least_for_ns = ~std::uint64_t{0};
    std::uint64_t least_entered = ~std::uint64_t{0};
    std::uint64_t most_entered = 0;  // collective calls only
    Symbol symbol;
    std::string from;
    std::string line;  // the same in one word
    const Place* at = nullptr;
    const Module* module = nullptr;

    auto key() const { return std::tie(ending, is_inside, call, group, place, thread); }
    void take(std::uint64_t since, std::uint64_t for_so_long) {
        if (ranks.empty() || for_so_long > for_ns) {
            since_ns = since;
            for_ns = for_so_long;
        }
        least_for_ns = std::min(least_for_ns, for_so_long);
    }
};

// "rows", "a communicator of 4 ranks"; empty of MPI_COMM_WORLD, and where it is not known.
std::string group_name(const Group& group);

class StandingLines {
  public:
    explicit StandingLines(const Job& job);

    const std::vector<StandingLine>& all() const { return lines_; }
    const Vocabulary& words() const { return vocabulary_of(job_); }
    std::vector<std::string> problems() const { return {problems_.begin(), problems_.end()}; }

    // The line that a rank is on; the one inside MPI where it has several.
    const StandingLine* of(std::uint32_t rank) const;

  private:
    StandingLine& line_like(const StandingLine& wanted);
    void add(const Rank& rank, const Standing& standing);
    void add_without(const Rank& rank);
    void missing(std::uint32_t from, std::uint32_t to);
    void find_places();
    void sort();

    const Job& job_;
    std::vector<StandingLine> lines_;
    std::map<std::tuple<RankEnd, bool, std::string, std::string, std::uint32_t, ThreadKind>, std::size_t> index_;
    std::set<std::string> problems_;
};

}  // namespace mpiprof::report
