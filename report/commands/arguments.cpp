// Each kind of option in CLI11's terms; a word that is no value is said with its option.
#include "report/commands/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <utility>

#include "report/model/number_list.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

struct NoValue : CLI::ParseError {
    explicit NoValue(std::string text)
        : CLI::ParseError("ValidationError", std::move(text), CLI::ExitCodes::ValidationError) {}
};

// "0,5-7" as numbers; empty on anything else.
std::vector<std::uint32_t> ranks_of(const std::string& text) {
    constexpr std::uint64_t most = 1'000'000;
    std::vector<std::uint32_t> ranks;
    const NumberList list = NumberList::parse(text);
    if (list.count() > most) return ranks;
    for (const NumberList::Range& range : list.ranges())
        for (std::uint64_t rank = range.first; rank <= range.last; ++rank)
            ranks.push_back(static_cast<std::uint32_t>(rank));
    return ranks;
}

// "mpi", "region:solve"; empty on anything else.
std::optional<TimeChoice> time_of(const std::string& text) {
    using Kind = TimeChoice::Kind;
    constexpr std::pair<std::string_view, Kind> kinds[] = {
        {"process", Kind::process}, {"mpi", Kind::mpi}, {"iteration", Kind::iteration}};
    for (const auto& [word, kind] : kinds)
        if (text == word) return TimeChoice{kind, {}};
    constexpr std::string_view region = "region:";
    if (text.starts_with(region) && text.size() > region.size())
        return TimeChoice{Kind::region, text.substr(region.size())};
    return std::nullopt;
}

}  // namespace

void Arguments::flag(const char* names, bool& to, const std::string& about) { last_ = app_.add_flag(names, to, about); }

void Arguments::text(const char* names, std::string& to, const std::string& about, const char* type) {
    last_ = app_.add_option(names, to, about)->type_name(type);
}

void Arguments::texts(const char* names, std::vector<std::string>& to, const std::string& about, const char* type) {
    last_ = app_.add_option(names, to, about)->type_name(type);
}

void Arguments::choice(const char* names, std::string& to, const std::string& about,
                       const std::vector<std::string>& words, const char* type) {
    last_ = app_.add_option(names, to, about)->check(CLI::IsMember(words))->type_name(type);
    choices_[last_] = words;
}

void Arguments::number(const char* names, std::optional<double>& to, const std::string& about, double least,
                       double most, const char* type) {
    last_ = app_.add_option(names, to, about)->check(CLI::Range(least, most))->type_name(type);
}

void Arguments::duration(const char* names, std::optional<double>& to, const std::string& about) {
    const std::map<std::string, double> units{{"s", 1}, {"m", 60}, {"h", 3600}};
    last_ = app_.add_option(names, to, about);
    last_->transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::UNIT_OPTIONAL, "TIME"));
}

void Arguments::value(const char* names, const std::string& about, const char* type,
                      std::function<std::string(const std::string& word)> read) {
    const auto take = [name = std::string(names), read = std::move(read)](const std::string& word) {
        if (const std::string wrong = read(word); !wrong.empty())
            throw NoValue(fmt::format("{} {}: {}", name, word, wrong));
    };
    last_ = app_.add_option_function<std::string>(names, take, about)->type_name(type);
}

void Arguments::is_required() { last_->required(); }
void Arguments::needs(const char* name) { last_->needs(app_.get_option(name)); }

void Arguments::view() {
    std::vector<std::string> names;
    for (const View& view : views()) names.emplace_back(view.name);
    choice("--format", options_.format, fmt::format("How tables are shown: {}", fmt::join(names, ", ")), names,
           "FORMAT");
    value("--schema", fmt::format("Of --format json, the schema that a script was written for: {}", section_schema),
          "N", [](const std::string& word) -> std::string {
              return word == fmt::format("{}", section_schema)
                         ? ""
                         : fmt::format(
                               "is not written any more; this mpiprof-report writes schema {}: "
                               "share/mpiprof/schemas/section-{}.schema.json",
                               section_schema, section_schema);
          });
    last_ = app_.add_option("--top", options_.top, "Show at most N rows")
                ->check(CLI::Range(1, 1'000'000'000))
                ->type_name("N");
}

void Arguments::ranks(std::vector<std::uint32_t>& to, const std::string& about, bool* all) {
    value("--rank", about, "LIST", [&to, all](const std::string& word) -> std::string {
        if (all && word == "all") {
            *all = true;
            return "";
        }
        to = ranks_of(word);
        return to.empty() ? "not a list of ranks; try 3 or 0,5-7" : "";
    });
}

void Arguments::all_launches(const std::string& about) { flag("--all-launches", options_.takes_all_launches, about); }

void Arguments::interval(std::optional<double>& to) {
    number("--interval", to, "Refresh interval in seconds (default 2)", 0.1, 3600.0, "SECONDS");
}

void Arguments::compared(std::optional<TimeChoice>& time) {
    view();
    value(
        "--time",
        "What is compared: process (from its start to MPI_Finalize), mpi (from MPI_Init on), iteration (the mean one), "
        "or region:NAME",
        "TIME", [&time](const std::string& word) -> std::string {
            time = time_of(word);
            return time ? "" : "must be process, mpi, iteration or region:NAME";
        });
    all_launches("Each launch in a directory is a run, not only the newest");
}

void Arguments::footer(const char* text) { app_.footer(text); }

Arguments Arguments::kind(const char* name, const char* about, std::function<void()> chosen) {
    app_.require_subcommand(1);
    CLI::App& command = *app_.add_subcommand(name, about);
    command.fallthrough();
    command.callback(std::move(chosen));
    return {command, options_, choices_};
}

}  // namespace mpiprof::report
