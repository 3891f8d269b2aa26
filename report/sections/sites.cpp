// sites: from where in the program MPI is called, how often and how long, with the callers as far as they are the same
// for all these calls. Addresses become functions and lines here, from the files of the program on this machine.
#include <algorithm>
#include <map>
#include <set>

#include "report/analysis/figures.h"
#include "report/model/tally.h"
#include "report/model/units.h"
#include "report/sections/call_notes.h"
#include "report/sections/comm_labels.h"
#include "report/sections/ratio.h"
#include "report/sections/sections.h"
#include "report/sections/vocabulary.h"
#include "report/symbols/demangle.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t lines_on_screen = 20;
constexpr std::string_view not_told_apart = "(not told apart)";

enum class By { stack, line, function, file, call };

By by_of(const std::string& name) {
    if (name == "line") return By::line;
    if (name == "function") return By::function;
    if (name == "file") return By::file;
    return name == "call" ? By::call : By::stack;
}

std::string base(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// What the ranks that are shown spent.
struct Context {
    const Job& job;
    const CallSites& found;
    double ranks = 1;
    double mpi_ns = 0;

    Context(const Job& j, const Question& question) : job(j), found(j.kept_sites ? *j.kept_sites : j.sites) {
        const bool all = question.ranks.empty();
        for (const Rank& rank : job.ranks)
            if (rank.has_profile &&
                (all || std::binary_search(question.ranks.begin(), question.ranks.end(), rank.rank)))
                mpi_ns += static_cast<double>(rank.inside_ns());
        ranks =
            std::max<double>(1, all ? static_cast<double>(job.profiles()) : static_cast<double>(question.ranks.size()));
    }
};

// One site, or several of one line, function, file or call.
struct Line {
    const Context* context = nullptr;
    CallSite site;  // sums
    std::string name;
    std::set<std::string> calls;
    std::set<std::string> comms;
    std::size_t sites = 1;
    SourceLine source;  // of the call itself
    std::string module;
    std::string stack;               // on one line
    std::vector<std::string> below;  // the callers, one by one

    double time() const { return static_cast<double>(site.time_ns); }
};

std::string joined(const std::set<std::string>& words, std::size_t most) {
    std::string text;
    std::size_t n = 0;
    for (const std::string& word : words) {
        if (n++ == most) return text + fmt::format(", +{}", words.size() - most);
        text += (text.empty() ? "" : ", ") + word;
    }
    return text;
}

std::string source_text(const SourceLine& source, bool is_for_screen) {
    std::string text;
    if (!source.file.empty()) text = fmt::format("{}:{}", base(source.file), source.line);
    if (source.function.empty()) return text;
    return text + (text.empty() ? "" : " ") + (is_for_screen ? short_function(source.function) : source.function);
}

// What calls main is the same in every program.
bool is_outermost(const SourceLine& source) {
    return source.function == "main" || source.function.starts_with("__libc_start_");
}

// The lines of a file, found one after the other, and what was wrong with it.
class Places {
  public:
    explicit Places(const CallSites& found) : found_(found) {}

    // Inlined functions are lines of their own, innermost first.
    std::vector<SourceLine> lines_of(const Place& place) {
        const Module& module = found_.modules[place.module];
        const Symbol& symbol = symbols_.at(module, place.offset);
        const bool has_line = !symbol.lines.empty() && !symbol.lines.front().file.empty();
        if (!symbol.problem.empty())
            problems_.insert(fmt::format("{}: {}", module.path, symbol.problem));
        else if (!has_line && !module.path.empty())
            bare_.insert(base(module.path));
        return symbol.lines;
    }
    std::string address_of(const Place& place) const {
        return place_text({.lines = {}, .problem = {}}, found_.modules[place.module], place.offset);
    }
    std::string module_of(const Place& place) const { return found_.modules[place.module].path; }

    std::vector<std::string> notes() const {
        std::vector<std::string> notes(problems_.begin(), problems_.end());
        if (!bare_.empty())
            notes.push_back(fmt::format(
                "no debug information in {}: no lines, and functions as far as they have symbols", joined(bare_, 4)));
        return notes;
    }

  private:
    const CallSites& found_;
    Symbols symbols_;
    std::set<std::string> problems_, bare_;
};

// Frames in `with_address` have that, too.
void describe(Line& line, Places& places, bool is_for_screen, const std::set<std::size_t>& with_address = {}) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < line.site.frames.size(); ++i) {
        const Place& place = line.site.frames[i];
        const auto sources = places.lines_of(place);
        if (i == 0) {
            line.module = places.module_of(place);
            if (!sources.empty()) line.source = sources.front();
        }
        if (sources.empty()) texts.push_back(places.address_of(place));
        for (const SourceLine& source : sources) texts.push_back(source_text(source, is_for_screen));
        if (!sources.empty() && with_address.contains(i)) texts.back() += fmt::format(" ({:#x})", place.offset);
        if (!sources.empty() && is_outermost(sources.back())) break;
    }
    if (texts.empty()) texts.emplace_back(not_told_apart);
    line.stack = fmt::format("{}", fmt::join(texts, " < "));
    line.name = texts.front();
    line.below.assign(texts.begin() + 1, texts.end());
}

// Several calls in one line, or one that the compiler made several of, read alike: their addresses tell them apart.
void tell_apart(std::vector<Line>& lines, Places& places, bool is_for_screen) {
    std::map<std::pair<std::uint16_t, std::string>, std::vector<Line*>> by_text;
    for (Line& line : lines) by_text[{line.site.call, line.stack}].push_back(&line);
    for (const auto& [text, alike] : by_text) {
        std::set<std::size_t> differing;
        for (const Line* line : alike)
            for (std::size_t i = 0; i < line->site.frames.size(); ++i)
                if (const auto& first = alike.front()->site.frames;
                    i >= first.size() || line->site.frames[i] != first[i])
                    differing.insert(i);
        if (!differing.empty())
            for (Line* line : alike) describe(*line, places, is_for_screen, differing);
    }
}

Line line_of(const Context& context, const CommLabels& labels, const CallSite& site) {
    Line line{.context = &context,
              .site = site,
              .name = {},
              .calls = {},
              .comms = {},
              .source = {},
              .module = {},
              .stack = {},
              .below = {}};
    line.calls.insert(context.job.calls[site.call].name);
    for (const CommRef& comm : site.comms)
        if (const std::string label = labels.of(comm); !label.empty()) line.comms.insert(label);
    if (site.has_more_comms) line.comms.insert("...");
    return line;
}

// What lines have in common that become one: its name; and of a line of the source, which may hold several calls, the
// call.
using GroupKey = std::pair<std::string, std::string>;

GroupKey group_of(const Line& line, By by, const Job& job) {
    const std::string module = line.module.empty() ? std::string(not_told_apart) : base(line.module);
    switch (by) {
        case By::function:
            return {!line.source.function.empty() ? short_function(line.source.function) : module, ""};
        case By::file:
            return {!line.source.file.empty() ? line.source.file : module, ""};
        case By::call:
            return {job.calls[line.site.call].name, ""};
        case By::line:
        case By::stack:
            break;
    }
    return {line.name, *line.calls.begin()};
}

// How many ranks, and which spent most, is known of single sites alone.
void add(Line& to, const Line& from) {
    add_tally(to.site, from.site);
    to.site.judged_ns += from.site.judged_ns;
    to.site.waiting_ns += from.site.waiting_ns;
    to.site.ranks = to.site.largest_rank = 0;
    to.site.largest_ns = 0;
    to.calls.insert(from.calls.begin(), from.calls.end());
    to.comms.insert(from.comms.begin(), from.comms.end());
    to.sites += from.sites;
    to.stack.clear();
}

std::vector<Line> grouped(const std::vector<Line>& lines, By by, const Job& job) {
    std::vector<Line> groups;
    std::map<GroupKey, std::size_t> index;
    for (const Line& line : lines) {
        const GroupKey key = group_of(line, by, job);
        const auto [at, is_new] = index.try_emplace(key, groups.size());
        if (!is_new) {
            add(groups[at->second], line);
            continue;
        }
        Line& group = groups.emplace_back(line);
        group.name = key.first;
        if (by != By::line) group.source = {};
        if (by == By::call) group.module.clear();
        group.below.clear();
    }
    return groups;
}

std::vector<Field<Line>> time_fields(By by, const Vocabulary& words) {
    using L = const Line&;
    return {
        {{.id = "call",
          .title = by == By::function || by == By::file ? "CALLS OF" : "CALL",
          .drop = by == By::function || by == By::file ? 3 : 0},
         [](L l) { return joined(l.calls, 2); }},
        {{.id = "all_calls", .title = "CALLS", .unit = Unit::count, .only_screen = true},
         [](L l) { return l.site.calls; }},
        {{.id = "calls", .title = {}, .unit = Unit::count, .only_data = true},
         [](L l) { return static_cast<double>(l.site.calls) / l.context->ranks; }},
        {{.id = "avg_bytes", .title = "AVG SIZE", .unit = Unit::bytes, .drop = 4},
         [](L l) {
             return l.site.bytes ? ratio(static_cast<double>(l.site.bytes), static_cast<double>(l.site.calls))
                                 : Value();
         }},
        {{.id = "time_ns", .title = "TIME", .unit = Unit::time, .same_unit = true},
         [](L l) { return l.time() / l.context->ranks; }},
        {{.id = "mpi_share", .title = std::string(words.share), .unit = Unit::share},
         [](L l) { return ratio(l.time(), l.context->mpi_ns); }},
        {{.id = "waiting_share", .title = "WAITING", .unit = Unit::share, .drop = 1},
         [](L l) { return waiting_share(l.site.waiting_ns, l.site.judged_ns, l.site.time_ns); }},
        {{.id = "imbalance", .title = "IMBAL", .unit = Unit::share, .drop = 2},
         [](L l) {  // of the ranks that call from here
             if (l.site.ranks < 2 || l.site.time_ns == 0) return Value();
             return Value(static_cast<double>(l.site.largest_ns) * l.site.ranks / l.time() - 1);
         }},
    };
}

std::vector<Field<Line>> rank_fields(By by, bool some_ranks_only, bool has_errors) {
    using L = const Line&;
    return {
        {{.id = "largest_ns", .title = "MOST", .unit = Unit::time, .drop = 7, .same_unit = true},
         [](L l) { return known(l.site.largest_ns); }},
        {{.id = "largest_rank", .title = "RANK", .unit = Unit::rank, .drop = 7},
         [](L l) { return l.site.largest_ns ? Value(std::uint64_t{l.site.largest_rank}) : Value(); }},
        {{.id = "ranks", .title = "RANKS", .unit = Unit::count, .drop = 5, .only_data = !some_ranks_only},
         [](L l) { return known(std::uint64_t{l.site.ranks}); }},
        {{.id = "communicators", .title = "ON", .drop = 6}, [](L l) { return joined(l.comms, 2); }},
        {{.id = "sites", .title = "SITES", .unit = Unit::count, .drop = 8, .only_data = by == By::stack},
         [](L l) { return std::uint64_t{l.sites}; }},
        {{.id = "errors", .title = "ERRORS", .unit = Unit::count, .only_data = !has_errors},
         [](L l) { return l.site.errors; }},
    };
}

std::vector<Field<Line>> place_fields(By by) {
    using L = const Line&;
    constexpr std::string_view titles[] = {"CALLED FROM", "LINE", "FUNCTION", "FILE", "CALL"};
    return {
        {{.id = "from",
          .title = std::string(titles[static_cast<int>(by)]),
          .only_screen = true,
          .is_place = by != By::file},
         [](L l) { return l.name; }},
        {{.id = "function", .title = {}, .only_data = true}, [](L l) { return l.source.function; }},
        {{.id = "file", .title = {}, .only_data = true}, [](L l) { return l.source.file; }},
        {{.id = "line", .title = {}, .unit = Unit::count, .only_data = true},
         [](L l) { return known(std::uint64_t{l.source.line}); }},
        {{.id = "module", .title = {}, .only_data = true}, [](L l) { return l.module; }},
        {{.id = "offset", .title = {}, .only_data = true},
         [](L l) {
             return l.sites == 1 && !l.site.frames.empty() ? fmt::format("{:#x}", l.site.frames.front().offset)
                                                           : std::string();
         }},
        {{.id = "stack", .title = {}, .only_data = true}, [](L l) { return l.stack; }},
    };
}

std::vector<Field<Line>> total_fields() {
    using L = const Line&;
    return {
        {{.id = "min_ns", .title = {}, .unit = Unit::time, .only_data = true},
         [](L l) { return value_of(l.site.min_ns); }},
        {{.id = "max_ns", .title = {}, .unit = Unit::time, .only_data = true},
         [](L l) { return known(l.site.max_ns); }},
        {{.id = "waiting_ns", .title = {}, .unit = Unit::time, .only_data = true},
         [](L l) { return l.site.judged_ns ? Value(l.site.waiting_ns) : Value(); }},
        {{.id = "total_calls", .title = {}, .unit = Unit::count, .only_data = true}, [](L l) { return l.site.calls; }},
        {{.id = "total_bytes", .title = {}, .unit = Unit::bytes, .only_data = true}, [](L l) { return l.site.bytes; }},
        {{.id = "total_time_ns", .title = {}, .unit = Unit::time, .only_data = true},
         [](L l) { return l.site.time_ns; }},
    };
}

std::vector<Field<Line>> fields(By by, bool some_ranks_only, bool has_errors, const Vocabulary& words) {
    auto fields = side_by_side<Line>(
        {time_fields(by, words), rank_fields(by, some_ranks_only, has_errors), place_fields(by), total_fields()});
    const std::string_view own = by == By::function ? "function_name" : by == By::file ? "file_name" : "";
    if (!own.empty())
        fields.insert(fields.begin(),
                      {{.id = std::string(own), .title = {}, .only_data = true}, [](const Line& l) { return l.name; }});
    if (by == By::call) std::erase_if(fields, [](const auto& field) { return field.column.id == "from"; });
    return fields;
}

// The callers below each row, indented. Rows keep the number of their line in the last column.
void show_callers(Table& table, const std::vector<Line>& lines) {
    const auto from = static_cast<std::size_t>(
        std::find_if(table.columns.begin(), table.columns.end(), [](const Column& c) { return c.id == "from"; }) -
        table.columns.begin());
    std::vector<std::vector<Value>> rows;
    for (auto& row : table.rows) {
        const Line& line = lines[std::get<std::uint64_t>(row.back())];
        rows.push_back(std::move(row));
        for (const std::string& caller : line.below) {
            std::vector<Value>& below = rows.emplace_back(table.columns.size(), std::string());
            below[from] = "  " + caller;
        }
    }
    table.rows = std::move(rows);
}

void add_notes(Table& table, const Context& context, const std::vector<Line>& lines, By by) {
    const auto any = [&](auto wanted) { return std::any_of(lines.begin(), lines.end(), wanted); };
    const Job& job = context.job;
    const auto ranks = static_cast<std::uint64_t>(context.ranks);
    Note shown(ranks == 1 ? std::string("CALLS and TIME: 1 rank")
                          : fmt::format("CALLS: {} ranks together; TIME: their mean", ranks));
    if (by == By::stack)
        shown.parts.push_back({"the rank that spent most, above the mean of those that call there", "imbalance"});
    table.notes.push_back(std::move(shown));
    if (any([](const Line& l) { return l.site.waiting_ns != 0; }))
        table.notes.push_back(Note::on(
            "waiting_share", "an estimate, at most: time above that of the fastest call of its size; see calls"));
    if (!unfinished_rows(job, {}).empty()) table.notes.push_back(std::string(unfinished_left_out));
    if (any([](const Line& l) { return l.site.frames.empty(); }))
        table.notes.push_back(job.is_text
                                  ? "mpitrace's text knows no call sites"
                                  : "(not told apart): places for which there was no room, and of calls that are "
                                    "asked in loops (Test, Probe) those that were not timed");
}

}  // namespace

Result<std::vector<Table>> sites(const Job& job, const Question& question) {
    const By by = by_of(question.by);
    const Context context(job, question);
    const CommLabels labels(job);
    Places places(context.found);
    const std::size_t most =
        question.top.value_or(question.is_for_screen ? lines_on_screen : context.found.sites.size());
    // Sites come by their time: only those that are shown are looked up.
    const bool is_cut = by == By::stack && question.sort.empty();
    const std::size_t wanted = is_cut ? std::min(most, context.found.sites.size()) : context.found.sites.size();
    std::vector<Line> lines;
    for (std::size_t i = 0; i < wanted; ++i) {
        lines.push_back(line_of(context, labels, context.found.sites[i]));
        if (by != By::call) describe(lines.back(), places, question.is_for_screen);
    }
    if (by != By::stack)
        lines = grouped(lines, by, job);
    else
        tell_apart(lines, places, question.is_for_screen);

    const bool some_only = std::any_of(
        lines.begin(), lines.end(), [&](const Line& l) { return l.site.ranks != 0 && l.site.ranks < context.ranks; });
    const bool has_errors = std::any_of(lines.begin(), lines.end(), [](const Line& l) { return l.site.errors != 0; });
    auto columns = fields(by, some_only, has_errors, vocabulary_of(job));
    const Line* first = lines.data();
    columns.push_back({{.id = "number", .title = {}, .unit = Unit::count, .only_data = true, .only_screen = true},
                       [first](const Line& l) { return static_cast<std::uint64_t>(&l - first); }});
    Table table = table_of("sites", columns, lines);
    if (auto ok = sort_rows(table, question.sort.empty() ? "total_time_ns" : question.sort); !ok)
        return tl::make_unexpected(ok.error());
    keep_top(table, most);
    const std::size_t all = is_cut ? context.found.sites.size() : lines.size();
    const std::size_t left_out = all - std::min(all, table.rows.size());
    if (question.is_for_screen && by == By::stack) show_callers(table, lines);
    std::set<std::uint16_t> of_calls;
    for (const Line& line : lines) of_calls.insert(line.site.call);
    note_exchanges(table.notes, job, of_calls);
    if (!lines.empty()) add_notes(table, context, lines, by);
    if (left_out) table.notes.push_back(fmt::format("{} more: --top {}", left_out, all));
    for (std::string& note : places.notes()) table.notes.push_back(std::move(note));
    return std::vector{std::move(table)};
}

}  // namespace mpiprof::report
