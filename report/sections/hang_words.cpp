// One sentence for each kind.
#include "report/sections/hang_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/model/units.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_items = 12;  // of a list of ranks: a sentence may wrap
constexpr std::size_t most_parties = 4;

// " from rank 1 with tag 7 on rows"
std::string partner_text(const Message& message, const Job& job) {
    std::string text;
    if (!message.is_collective)
        text += message.peer == any_rank ? std::string(" from any rank")
                                         : fmt::format(" {} rank {}", message.is_sent ? "to" : "from", message.peer);
    if (!message.is_collective)
        text += message.tag == any_tag ? std::string(" with any tag") : fmt::format(" with tag {}", message.tag);
    const std::string on = communicator_text(job.groups[message.group]);
    return on.empty() ? text : text + " on " + on;
}

// What makes the difference, as far as the class needs it.
std::string details_text(const Party& party, const Job& job, Hang::Kind kind) {
    constexpr std::size_t most_messages = 2;
    std::string text;
    if (kind == Hang::Kind::different_roots && party.root != any_rank) text += fmt::format(" with root {}", party.root);
    if (kind == Hang::Kind::different_arguments) text += " of " + given_text(party.given);
    if (kind == Hang::Kind::different_communicators && party.messages.empty() && party.group)
        text += " on " + communicator_text(job.groups[*party.group]);
    for (std::size_t i = 0; i < std::min(party.messages.size(), most_messages); ++i) {
        const Message& message = party.messages[i];
        if (i != 0) text += ",";
        if (message.place != 0 || message.is_collective)  // a request's
            text +=
                fmt::format(" for its {}{}", job.calls[*message.call].name, in_brackets(line_text(job, message.place)));
        text += partner_text(message, job);
    }
    if (party.messages.size() > most_messages)
        text += fmt::format(" and {} more", party.messages.size() - most_messages);
    return text;
}

// "ranks 0 and 1 are in MPI_Barrier (halo.c:12)"
std::string party_text(const Party& party, const Job& job, bool is_over, Hang::Kind kind) {
    const bool is_one = party.ranks.size() == 1;
    const std::string details = details_text(party, job, kind);
    if (party.has_passed && job.calls[party.call].family == Family::nccl)
        return fmt::format("{} {} enqueued {}{}{}", ranks_text(party.ranks, most_items),
                           is_over ? "had" : (is_one ? "has" : "have"), job.calls[party.call].name,
                           in_brackets(line_text(job, party.place)), details);
    if (party.has_passed)
        return fmt::format("{} {} already passed {}{}{} there", ranks_text(party.ranks, most_items),
                           is_over ? "had" : (is_one ? "has" : "have"), job.calls[party.call].name,
                           in_brackets(line_text(job, party.place)), details);
    return fmt::format("{} {} in {}{}{}", ranks_text(party.ranks, most_items),
                       is_over ? (is_one ? "was" : "were") : (is_one ? "is" : "are"), job.calls[party.call].name,
                       in_brackets(line_text(job, party.place)), details);
}

std::string parties_text(const Hang& hang, const Job& job, bool is_over) {
    std::string text;
    for (std::size_t i = 0; i < std::min(hang.parties.size(), most_parties); ++i)
        text += (i ? ", " : "") + party_text(hang.parties[i], job, is_over, hang.kind);
    if (hang.parties.size() > most_parties) text += fmt::format(", and {} more", hang.parties.size() - most_parties);
    return text;
}

// "; ranks 3 and 5 were in MPI_Waitall (halo.c:12)": who stands in a call elsewhere, where they are not too many
// places.
std::string others_text(const Hang& hang, const Job& job, bool is_over) {
    constexpr std::size_t most_places = 2;
    const auto has = [](const std::vector<std::uint32_t>& ranks, std::uint32_t rank) {
        return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    };
    std::vector<Party> others;
    for (const Standing& standing : job.standings) {
        if (!standing.is_inside || !standing.call || has(hang.gone, standing.rank)) continue;
        bool is_said = false;
        for (const Party& party : hang.parties) is_said |= has(party.ranks, standing.rank);
        if (is_said) continue;
        Party at;
        at.call = *standing.call;
        at.place = standing.place;
        Party* same = nullptr;
        for (Party& other : others)
            if (other.call == at.call && other.place == at.place) same = &other;
        if (!same) same = &others.emplace_back(at);
        if (!has(same->ranks, standing.rank)) same->ranks.push_back(standing.rank);
    }
    if (others.size() > most_places) return "";
    std::string text;
    for (const Party& other : others) text += "; " + party_text(other, job, is_over, Hang::Kind::cycle);
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

// "; it has sent from MPI_Send (halo.c:12)"
std::string made_text(const Hang& hang, const Job& job) {
    std::string text;
    for (std::size_t i = 0; i < hang.made.size(); ++i) {
        const Made& made = hang.made[i];
        const std::string line = in_brackets(line_text(job, made.place));
        const bool is_elsewhere = made.group != 0 && made.group != hang.group;
        const std::string what = job.calls[made.call].name + line +
                                 (is_elsewhere ? " on " + communicator_text(job.groups[made.group]) : std::string());
        text += i == 0 ? "; " : ", and ";
        if (hang.gone != std::vector{made.rank}) text += fmt::format("rank {} ", made.rank);
        if (i == 0 && hang.gone == std::vector{made.rank}) text += "it ";
        text += made.calls == 0 ? fmt::format("has initialised {} but never started it", what)
                                : fmt::format("has sent from {}", what);
    }
    return text;
}

std::string class_text(const Hang& hang, const Job& job) {
    const std::string group = communicator_text(job.groups[hang.group]);
    const std::string on = group.empty() ? group : " on " + group;
    switch (hang.kind) {
        case Hang::Kind::different_collectives:
            return "different collectives" + on;
        case Hang::Kind::member_is_gone:
            return "a collective that not all ranks entered" + on;
        case Hang::Kind::nobody_is_left:
            return "no rank is left to answer";
        case Hang::Kind::different_roots:
            return "different roots" + on;
        case Hang::Kind::different_arguments:
            return "different arguments of a collective" + on;
        case Hang::Kind::different_order:
            return "collectives in different order" + on;
        case Hang::Kind::different_communicators:
            return "different communicators";
        case Hang::Kind::different_tags:
            return "different tags";
        case Hang::Kind::not_started:
            return "a persistent request that was never started";
        case Hang::Kind::collective_and_message:
            return "a collective and a message wait for each other";
        case Hang::Kind::cycle:
            return "circular wait";
        case Hang::Kind::not_sent:
            return "unmatched receive";
        case Hang::Kind::not_received:
            break;
    }
    return "unmatched send";
}

}  // namespace

std::string of_all(std::size_t ranks, const Job& job) {
    if (ranks != job.size) return fmt::format("{} of {} ranks", ranks, job.size);
    return ranks == 1 ? "The only rank" : ranks == 2 ? "Both ranks" : fmt::format("All {} ranks", ranks);
}

std::string communicator_text(const Group& group) {
    if (group.is_world) return group.name.empty() ? "MPI_COMM_WORLD" : group.name;
    if (group.id == 0) return "";
    return group.name.empty() ? fmt::format("a communicator of {}", plural(group.size, "rank", "ranks")) : group.name;
}

std::string words_of(const Hang& hang, const Job& job, bool is_over) {
    const std::string time = human_time(static_cast<double>(hang.for_ns));
    std::string text =
        fmt::format("Deadlock: {}: {}, for {}", class_text(hang, job), parties_text(hang, job, is_over), time);
    if (hang.at > 1) text += fmt::format("; it is collective number {} on that communicator", hang.at);
    if (!hang.gone.empty()) text += "; " + gone_text(hang.gone, job);
    return text + made_text(hang, job) + others_text(hang, job, is_over);
}

namespace {

// Numbers that are not known here belong to a newer NCCL.
constexpr const char* types[] = {"int8",    "uint8",   "int32",   "uint32",   "int64",      "uint64",
                                 "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};
constexpr const char* reductions[] = {"", " (sum)", " (product)", " (max)", " (min)", " (average)", " (own reduction)"};

}  // namespace

std::string given_text(const Given& given) {
    const std::string type =
        given.type < std::size(types) ? types[given.type] : fmt::format("of type {}", unsigned{given.type});
    return fmt::format("{} {}{}", given.count, type,
                       given.reduction < std::size(reductions) ? reductions[given.reduction] : " (new reduction)");
}

// Symbols are asked for one place at a time: a sentence has two or three.
std::string line_text(const Job& job, std::uint32_t place) {
    if (place == 0 || place >= job.places.size()) return "";
    Symbols symbols;
    const Module& module = job.modules[job.places[place].module];
    return short_place_text(symbols.at(module, job.places[place].offset), module, job.places[place].offset);
}

std::string in_brackets(const std::string& line) { return line.empty() ? "" : " (" + line + ")"; }

}  // namespace mpiprof::report
