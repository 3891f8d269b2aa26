// One sentence for each kind.
#include "report/sections/hang_words.h"

#include <fmt/format.h>

#include "report/model/units.h"
#include "report/sections/places.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_items = 12;  // of a list of ranks: a sentence may wrap
constexpr std::size_t most_parties = 4;

// "ranks 0 and 1 are in MPI_Barrier (halo.c:12)"
std::string party_text(const Party& party, const Job& job, bool is_over) {
    const bool is_one = party.ranks.size() == 1;
    return fmt::format("{} {} in {}{}", ranks_text(party.ranks, most_items),
                       is_over ? (is_one ? "was" : "were") : (is_one ? "is" : "are"), job.calls[party.call].name,
                       in_brackets(line_text(job, party.place)));
}

std::string parties_text(const Hang& hang, const Job& job, bool is_over) {
    std::string text;
    for (std::size_t i = 0; i < std::min(hang.parties.size(), most_parties); ++i)
        text += (i ? ", " : "") + party_text(hang.parties[i], job, is_over);
    if (hang.parties.size() > most_parties) text += fmt::format(", and {} more", hang.parties.size() - most_parties);
    return text;
}

// What those who will never come have done.
std::string gone_text(const std::vector<std::uint32_t>& gone, const Job& job) {
    const Rank& first = *job.find(gone.front());
    const bool is_one = gone.size() == 1;
    const std::string who = ranks_text(gone, most_items) + (is_one ? " has" : " have");
    if (first.is_in_finalize || first.state == State::finalized)
        return fmt::format("{} called {}", who, vocabulary_of(job).finalize);
    if (first.state == State::aborted) return who + " called MPI_Abort";
    if (first.state == State::exited) return who + " exited";
    return ranks_text(gone, most_items) + (is_one ? " was killed" : " were killed");
}

}  // namespace

std::string communicator_text(const Group& group) {
    if (group.is_world) return group.name.empty() ? "MPI_COMM_WORLD" : group.name;
    if (group.id == 0) return "";
    return group.name.empty() ? fmt::format("a communicator of {}", plural(group.size, "rank", "ranks")) : group.name;
}

std::string words_of(const Hang& hang, const Job& job, bool is_over) {
    const std::string begin = is_over ? "It hung" : "It hangs";
    const std::string time = human_time(static_cast<double>(hang.for_ns));
    switch (hang.kind) {
        case Hang::Kind::different_collectives:
            return fmt::format("{}: different collectives on {}: {}, for {}", begin,
                               communicator_text(job.groups[hang.group]), parties_text(hang, job, is_over), time);
        case Hang::Kind::member_is_gone:
            return fmt::format("{}: not everybody comes to a collective on {}: {}, for {}; {}", begin,
                               communicator_text(job.groups[hang.group]), parties_text(hang, job, is_over), time,
                               gone_text(hang.gone, job));
        case Hang::Kind::nobody_is_left:
            break;
    }
    return fmt::format("{}: nobody is left to answer: {}, for {}; {}", begin, parties_text(hang, job, is_over), time,
                       gone_text(hang.gone, job));
}

}  // namespace mpiprof::report
