// hang: where every rank stands, ranks that stand alike on one line, and who waits for whom. Of a running job, of one
// that was killed, and of one where nobody hangs.
#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <tuple>

#include "report/analysis/arrivals.h"
#include "report/analysis/hangs.h"
#include "report/model/units.h"
#include "report/sections/hang_words.h"
#include "report/sections/places.h"
#include "report/sections/sections.h"
#include "report/sections/vocabulary.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {
namespace {

constexpr std::uint64_t worth_a_word_ns = 1'000'000'000;  // a shorter wait is no hang
constexpr std::size_t lines_on_screen = 24;
constexpr std::size_t items_on_screen = 5;  // of a list of ranks in a column
constexpr std::size_t items_in_sentence = 12;
constexpr std::size_t most_others = 3;  // lines that the first sentence names
constexpr std::size_t items_in_data = 100'000;

using Ranks = std::vector<std::uint32_t>;

std::string ranks_text(const Ranks& ranks, At at = At::middle) { return ranks_text(ranks, items_in_sentence, at); }

// "0-6,8-15", for columns.
std::string short_list(const Ranks& ranks, std::size_t most_items) {
    std::string text;
    std::size_t items = 0;
    for (std::size_t i = 0; i < ranks.size(); ++items) {
        std::size_t end = i + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
        if (items == most_items) return text + fmt::format(",+{}", ranks.size() - i);
        if (end - i == 2) end = i + 1;
        text += fmt::format("{}{}", text.empty() ? "" : ",", ranks[i]);
        if (end - i > 1) text += fmt::format("-{}", ranks[end - 1]);
        i = end;
    }
    return text;
}

// How a rank is, or how it ended.
enum class Condition : std::uint8_t { no_profile, running, finalized, aborted, exited, killed, out_of_sight };

struct Ending {
    Condition condition = Condition::no_profile;
    int exit_code = 0;  // aborted only
    auto operator<=>(const Ending&) const = default;
};

Ending ending_of(const Rank& rank) {
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

std::string text_of(const Ending& ending) {
    switch (ending.condition) {
        case Condition::no_profile:
            return "no profile";
        case Condition::running:
            return "running";
        case Condition::finalized:
            return "finalized";
        case Condition::aborted:
            return fmt::format("called MPI_Abort({})", ending.exit_code);
        case Condition::exited:
            return "exited without MPI_Finalize";
        case Condition::killed:
            return "killed";
        case Condition::out_of_sight:
            break;
    }
    return "killed, or out of sight";
}

// No rank is known to run, and either none can be any more or one has ended them all by MPI_Abort.
bool has_ended(const Job& job) {
    bool may_run = false;
    bool has_abort = false;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile) continue;
        if (rank.is_in_finalize || (rank.state == State::running && rank.life == Life::running)) return false;
        may_run |= rank.state == State::running && rank.life == Life::unknown;
        has_abort |= rank.state == State::aborted;
    }
    return !may_run || has_abort;
}

// Ranks that stand alike.
struct Line {
    Ending ending;
    bool is_inside = false;
    std::string call;  // the one they are in, or were in last
    std::string group;
    std::uint32_t place = 0;
    ThreadKind thread = ThreadKind::main;
    Ranks ranks;
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

std::string group_name(const Group& group) {
    if (group.id == 0 || group.is_world) return "";
    return group.name.empty() ? fmt::format("a communicator of {}", plural(group.size, "rank", "ranks")) : group.name;
}

class Lines {
  public:
    explicit Lines(const Job& job) : job_(job) {
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

    const std::vector<Line>& all() const { return lines_; }
    const Vocabulary& words() const { return vocabulary_of(job_); }
    std::vector<std::string> problems() const { return {problems_.begin(), problems_.end()}; }

    // The line that a rank is on; the one inside MPI where it has several.
    const Line* of(std::uint32_t rank) const {
        for (const Line& line : lines_)
            if (std::binary_search(line.ranks.begin(), line.ranks.end(), rank)) return &line;
        return nullptr;
    }

  private:
    Line& line_like(const Line& wanted) {
        const auto [found, is_new] = index_.try_emplace(
            std::make_tuple(wanted.ending, wanted.is_inside, wanted.call, wanted.group, wanted.place, wanted.thread),
            lines_.size());
        if (is_new) lines_.push_back(wanted);
        return lines_[found->second];
    }

    static Line plain(Ending ending) {
        return {.ending = ending, .call = {}, .group = {}, .ranks = {}, .symbol = {}, .from = {}, .line = {}};
    }

    void add(const Rank& rank, const Standing& standing) {
        Line like = plain(ending_of(rank));
        like.is_inside = standing.is_inside;
        if (standing.call) like.call = job_.calls[*standing.call].name;
        if (standing.is_inside) like.group = group_name(job_.groups[standing.group]);
        like.place = standing.place;
        like.thread = standing.thread;
        Line& line = line_like(like);
        line.take(standing.since_ns, standing.since_ns || !standing.call ? standing.for_ns : 0);
        if (line.ranks.empty() || line.ranks.back() != rank.rank) line.ranks.push_back(rank.rank);
        if (!standing.is_inside || standing.group == 0 || !is_collective(job_.calls[*standing.call].traffic)) return;
        const std::uint64_t entered = entered_by(job_, standing.group, *standing.call, rank.rank);
        line.least_entered = std::min(line.least_entered, entered);
        line.most_entered = std::max(line.most_entered, entered);
    }

    void add_without(const Rank& rank) {
        Line like = plain(ending_of(rank));
        if (rank.is_in_finalize) {
            like.is_inside = true;
            like.call = "MPI_Finalize";
        }
        Line& line = line_like(like);
        line.take(rank.is_in_finalize ? rank.elapsed_ns : 0, rank.is_in_finalize ? rank.finalize_ns : 0);
        line.ranks.push_back(rank.rank);
    }

    void missing(std::uint32_t from, std::uint32_t to) {
        if (from >= to || job_.is_partial_on_purpose) return;
        const NumberList expected = job_.expected_within({from, to - 1});
        for (const NumberList::Range& range : expected.ranges()) {
            Line& line = line_like(plain({Condition::no_profile}));
            for (std::uint64_t rank = range.first; rank <= range.last && line.ranks.size() < items_in_data; ++rank)
                line.ranks.push_back(static_cast<std::uint32_t>(rank));
        }
    }

    void find_places() {
        Symbols symbols;
        for (Line& line : lines_) {
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
    void sort() {
        const auto order = [](const Line& line) {
            return line.is_inside ? 0 : !line.call.empty() || line.ending.condition == Condition::running ? 1 : 2;
        };
        std::stable_sort(lines_.begin(), lines_.end(), [&](const Line& a, const Line& b) {
            return std::make_tuple(order(a), b.ranks.size(), b.for_ns) <
                   std::make_tuple(order(b), a.ranks.size(), a.for_ns);
        });
    }

    const Job& job_;
    std::vector<Line> lines_;
    std::map<std::tuple<Ending, bool, std::string, std::string, std::uint32_t, ThreadKind>, std::size_t> index_;
    std::set<std::string> problems_;
};

std::string where(const Line& line) {
    if (line.is_inside) return line.call + (line.group.empty() ? "" : " on " + line.group);
    const Condition condition = line.ending.condition;
    if (condition == Condition::finalized || condition == Condition::no_profile) return "";
    if (line.call.empty()) return "program";
    return "program, after " + line.call;
}

std::string times_text(const Line& line) {
    if (line.most_entered == 0) return "";
    if (line.least_entered == line.most_entered) return human_count(static_cast<double>(line.most_entered));
    return fmt::format("{}-{}", line.least_entered, line.most_entered);
}

std::vector<Field<Line>> fields(bool is_for_screen) {
    using L = const Line&;
    const std::size_t items = is_for_screen ? items_on_screen : items_in_data;
    const auto source = [](L l) { return l.symbol.lines.empty() ? SourceLine{} : l.symbol.lines.front(); };
    return {
        {{.id = "ranks", .title = "RANKS"}, [items](L l) { return short_list(l.ranks, items); }},
        {{.id = "number", .title = "NO.", .unit = Unit::count}, [](L l) { return std::uint64_t{l.ranks.size()}; }},
        {{.id = "where", .title = "WHERE", .only_screen = true}, [](L l) { return where(l); }},
        {{.id = "times", .title = "TIMES", .drop = 4, .only_screen = true}, [](L l) { return times_text(l); }},
        {{.id = "since_ns", .title = "SINCE", .unit = Unit::time, .drop = 3}, [](L l) { return known(l.since_ns); }},
        {{.id = "for_ns", .title = "FOR", .unit = Unit::time}, [](L l) { return known(l.for_ns); }},
        {{.id = "state", .title = "STATE", .drop = 2}, [](L l) { return text_of(l.ending); }},
        {{.id = "from", .title = "CALLED FROM", .drop = 1, .only_screen = true, .is_place = true},
         [](L l) { return l.from; }},
        {{.id = "inside", .title = {}, .only_data = true}, [](L l) { return std::string(l.is_inside ? "yes" : "no"); }},
        {{.id = "call", .title = {}, .only_data = true}, [](L l) { return l.call; }},
        {{.id = "communicator", .title = {}, .only_data = true}, [](L l) { return l.group; }},
        {{.id = "least_for_ns", .title = {}, .unit = Unit::time, .only_data = true},
         [](L l) { return l.for_ns ? Value(l.least_for_ns) : Value(); }},
        {{.id = "least_entered", .title = {}, .unit = Unit::count, .only_data = true},
         [](L l) { return l.most_entered ? Value(l.least_entered) : Value(); }},
        {{.id = "most_entered", .title = {}, .unit = Unit::count, .only_data = true},
         [](L l) { return known(l.most_entered); }},
        {{.id = "function", .title = {}, .only_data = true}, [source](L l) { return source(l).function; }},
        {{.id = "file", .title = {}, .only_data = true}, [source](L l) { return source(l).file; }},
        {{.id = "line", .title = {}, .unit = Unit::count, .only_data = true},
         [source](L l) { return known(std::uint64_t{source(l).line}); }},
        {{.id = "module", .title = {}, .only_data = true}, [](L l) { return l.module ? l.module->path : ""; }},
        {{.id = "offset", .title = {}, .unit = Unit::count, .only_data = true},
         [](L l) { return l.at ? Value(l.at->offset) : Value(); }},
        {{.id = "thread", .title = "THREAD", .drop = 5},
         [](L l) { return std::string(l.thread == ThreadKind::main ? "main" : "other"); }},
    };
}

// Where the ranks that everyone waits for are instead.
std::string what_they_do(const Ranks& ranks, const Lines& lines, bool has_ended) {
    const Line* line = lines.of(ranks.front());
    if (!line) return "";
    const bool alike = std::all_of(ranks.begin(), ranks.end(), [&](std::uint32_t r) { return lines.of(r) == line; });
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

std::string of_all(const Job& job, std::size_t ranks) {
    if (ranks == job.size) return job.size == 1 ? "The only rank" : fmt::format("All {} ranks", job.size);
    return fmt::format("{} of {} ranks", ranks, job.size);
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

std::string who_waits(const Job& job, const Arrival& arrival, const Lines& lines, bool has_ended) {
    std::string text = of_all(job, arrival.inside.size()) + (has_ended ? " waited in " : " wait in ") + arrival.call;
    if (arrival.inside.size() == 1)
        text = fmt::format("Rank {} {} in {}", arrival.inside[0], has_ended ? "waited" : "waits", arrival.call);
    const std::string group = group_name(job.groups[arrival.group]);
    if (!group.empty()) text += " on " + group;
    if (!arrival.inside.empty())
        if (const Line* line = lines.of(arrival.inside.front())) text += in_brackets(line->line);
    text += ", for " + human_time(static_cast<double>(arrival.for_ns));
    if (arrival.missing.empty()) {
        if (arrival.passed == 0)
            return text + fmt::format(", and nobody is missing: {} does not finish it", vocabulary_of(job).library);
        return text + ", and nobody is missing: other ranks have left it";
    }
    text += ", for " + ranks_text(arrival.missing);
    const std::string instead = what_they_do(arrival.missing, lines, has_ended);
    return instead.empty() ? text : text + ": " + instead;
}

std::string longest_wait(const Job& job, const Lines& lines, bool has_ended) {
    const Line* longest = nullptr;
    Ranks inside;
    for (const Line& line : lines.all()) {
        if (!line.is_inside) continue;
        inside.insert(inside.end(), line.ranks.begin(), line.ranks.end());
        if (!longest || line.for_ns > longest->for_ns) longest = &line;
    }
    std::sort(inside.begin(), inside.end());
    inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
    const std::string_view library = vocabulary_of(job).library;
    if (!longest)
        return has_ended ? fmt::format("No rank was inside {}", library)
                         : fmt::format("Nobody hangs: no rank is inside {} at this moment", library);
    const std::string time = human_time(static_cast<double>(longest->for_ns));
    if (longest->for_ns < worth_a_word_ns)
        return has_ended
                   ? fmt::format("No rank was inside one {} call for longer than {}", library, time)
                   : fmt::format("Nobody hangs: no rank has been inside one {} call for longer than {}", library, time);
    std::string text = fmt::format("{} {} been inside {}{} for {}", ranks_text(longest->ranks, At::begin),
                                   has_ended                    ? "had"
                                   : longest->ranks.size() == 1 ? "has"
                                                                : "have",
                                   longest->call, in_brackets(longest->line), time);
    std::size_t others = 0;
    for (const Line& line : lines.all())
        if (line.is_inside && &line != longest && others++ < most_others)
            text += fmt::format(", {} inside {}{}", ranks_text(line.ranks), line.call, in_brackets(line.line));
    if (inside.size() == job.size && job.size > 1)
        text += fmt::format("; every rank {} inside {}, waiting for others", has_ended ? "was" : "is", library);
    return text;
}

// NCCL's calls return at once; it is the GPUs that wait.
std::string who_lags(const Job& job, const Arrival& lag, const Lines& lines, bool has_ended) {
    const std::string group = group_name(job.groups[lag.group]);
    std::string text = fmt::format(
        "{} {} enqueued {} {}{}, {} {}: their GPUs {} for it", ranks_text(lag.inside, At::begin),
        lag.inside.size() == 1 ? "has" : "have", lag.call, plural(lag.entered, "time", "times"),
        group.empty() ? "" : " on " + group, ranks_text(lag.missing),
        lag.missing.size() == 1 ? std::to_string(lag.least_entered) : "fewer", has_ended ? "waited" : "wait");
    const std::string instead = what_they_do(lag.missing, lines, has_ended);
    return instead.empty() ? text : text + "; " + instead;
}

std::string conclusion(const Job& job, const Lines& lines, const std::vector<Arrival>& arrivals,
                       const std::vector<Arrival>& lags) {
    const bool all_finalized = std::all_of(job.ranks.begin(), job.ranks.end(), [](const Rank& rank) {
        return rank.has_profile && rank.state == State::finalized && !rank.is_in_finalize;
    });
    if (job.is_text) return "mpitrace's text does not say where ranks stand";
    if (all_finalized)
        return fmt::format(
            "Nobody hangs: {} reached {}",
            job.ranks.size() == job.size ? "all ranks" : fmt::format("{} of {} ranks", job.ranks.size(), job.size),
            vocabulary_of(job).finalize);
    const bool is_over = has_ended(job);
    const std::string ending = is_over ? end_of(job) : "";
    if (const auto hang = hang_of(job)) {
        const std::string proven = words_of(*hang, job, is_over);
        return ending.empty() ? proven : proven + ". " + ending;
    }
    std::string text;
    const auto worst = std::find_if(arrivals.begin(), arrivals.end(),
                                    [](const Arrival& a) { return a.for_ns >= worth_a_word_ns && !a.inside.empty(); });
    const auto lag =
        std::find_if(lags.begin(), lags.end(), [](const Arrival& a) { return a.for_ns >= worth_a_word_ns; });
    if (worst != arrivals.end())
        text = who_waits(job, *worst, lines, is_over);
    else if (lag != lags.end())
        text = who_lags(job, *lag, lines, is_over);
    else
        text = longest_wait(job, lines, is_over);
    if (const auto quiet = quiet_of(job); quiet && !is_over)
        text = fmt::format("No {} call has {} on any rank for {}. ", vocabulary_of(job).library,
                           quiet->are_all_inside ? "ended" : "begun", human_time(static_cast<double>(quiet->for_ns))) +
               text;
    return ending.empty() ? text : ending + ". " + text;
}

Table lag_table(const Job& job, const std::vector<Arrival>& lags, bool is_for_screen) {
    using A = const Arrival&;
    const std::size_t items = is_for_screen ? items_on_screen : items_in_data;
    Table table = table_of(
        "nccl_lags",
        std::vector<Field<Arrival>>{
            {{.id = "call", .title = "COLLECTIVE"}, [](A a) { return a.call; }},
            {{.id = "communicator", .title = "ON", .drop = 2}, [&job](A a) { return group_name(job.groups[a.group]); }},
            {{.id = "entered", .title = "TIMES", .unit = Unit::count}, [](A a) { return a.entered; }},
            {{.id = "enqueued_by", .title = "BY RANKS", .drop = 1},
             [items](A a) { return short_list(a.inside, items); }},
            {{.id = "least_entered", .title = "FEWER", .unit = Unit::count}, [](A a) { return a.least_entered; }},
            {{.id = "missing", .title = "BY RANKS"}, [items](A a) { return short_list(a.missing, items); }},
        },
        lags);
    table.title = "ENQUEUED BY SOME MEMBERS MORE OFTEN THAN BY OTHERS: THEIR GPUS WAIT";
    return table;
}

Table arrival_table(const Job& job, const std::vector<Arrival>& arrivals, bool is_for_screen) {
    using A = const Arrival&;
    const std::size_t items = is_for_screen ? items_on_screen : items_in_data;
    const std::vector<Field<Arrival>> columns{
        {{.id = "call", .title = "COLLECTIVE"}, [](A a) { return a.call; }},
        {{.id = "communicator", .title = "ON", .drop = 2},
         [&job](A a) {
             if (a.group == 0) return std::string();
             const std::string name = group_name(job.groups[a.group]);
             return name.empty() ? std::string("MPI_COMM_WORLD") : name;
         }},
        {{.id = "entered", .title = "TIMES", .unit = Unit::count, .drop = 3}, [](A a) { return a.entered; }},
        {{.id = "for_ns", .title = "FOR", .unit = Unit::time}, [](A a) { return known(a.for_ns); }},
        {{.id = "inside", .title = "RANKS IN IT", .drop = 1}, [items](A a) { return short_list(a.inside, items); }},
        {{.id = "missing", .title = "NOT ARRIVED"}, [items](A a) { return short_list(a.missing, items); }},
        {{.id = "least_entered", .title = "TIMES", .unit = Unit::count, .drop = 3},
         [](A a) { return a.missing.empty() ? Value() : Value(a.least_entered); }},
        {{.id = "passed", .title = {}, .unit = Unit::count, .only_data = true},
         [](A a) { return std::uint64_t{a.passed}; }},
    };
    return table_of("arrivals", columns, arrivals);
}

}  // namespace

Result<std::vector<Table>> hang(const Job& job, const Question& question) {
    const Lines lines(job);
    std::vector<Arrival> arrivals = arrivals_of(job);
    const std::vector<Arrival> lags = not_enqueued_by_all(job);
    std::vector<Line> shown = lines.all();
    std::erase_if(shown, [&](const Line& line) {
        return !question.ranks.empty() &&
               std::none_of(question.ranks.begin(), question.ranks.end(), [&](std::uint32_t r) {
                   return std::binary_search(line.ranks.begin(), line.ranks.end(), r);
               });
    });
    Table table = table_of("standings", fields(question.is_for_screen), shown);
    const bool has_threads =
        std::any_of(shown.begin(), shown.end(), [](const Line& l) { return l.thread != ThreadKind::main; });
    const bool all_run =
        std::all_of(shown.begin(), shown.end(), [](const Line& l) { return l.ending.condition == Condition::running; });
    for (Column& column : table.columns)
        if ((column.id == "thread" && !has_threads) || (column.id == "state" && all_run)) column.only_data = true;
    table.title = conclusion(job, lines, arrivals, lags);
    const std::size_t most = question.top.value_or(question.is_for_screen ? lines_on_screen : table.rows.size());
    if (const std::size_t left_out = keep_top(table, most); left_out && question.is_for_screen)
        table.notes.push_back(
            fmt::format("{} more: hang --top {}", plural(left_out, "line", "lines"), most + left_out));
    const bool any_times = std::any_of(shown.begin(), shown.end(), [](const Line& l) { return l.for_ns != 0; });
    if (any_times)
        table.notes.push_back(
            Note{{fmt::format("after {}, of the rank that is there longest", vocabulary_of(job).init), "since_ns"},
                 {"until now, or its last sign of life", "for_ns"}});
    for (const std::string& problem : lines.problems()) table.notes.push_back(problem);
    std::vector<Table> tables{std::move(table)};
    std::erase_if(arrivals, [](const Arrival& a) { return a.missing.empty(); });
    if (!arrivals.empty()) tables.push_back(arrival_table(job, arrivals, question.is_for_screen));
    if (!lags.empty()) tables.push_back(lag_table(job, lags, question.is_for_screen));
    return tables;
}

}  // namespace mpiprof::report
