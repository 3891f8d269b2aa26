// The one file that reads CLI11's headers: each kind of option in its terms, and of what the command line consists:
// what every command takes, and the commands of each section and of commands.def.
#include "report/commands/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <map>
#include <thread>
#include <utility>

#include "report/commands/brief.h"
#include "report/model/joined.h"
#include "report/model/number_list.h"
#include "report/sections/column_meanings.h"
#include "report/sections/section.h"
#include "report/views/fitting.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t help_width = 76;

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

// How --help is laid out: that of a command explains its own options, and names those that every command takes. It
// knows no option by its name.
class Help : public CLI::Formatter {
  public:
    std::string make_usage(const CLI::App* app, std::string name) const override {
        std::string usage = CLI::Formatter::make_usage(app, std::move(name));
        if (const CLI::App* parent = app->get_parent())
            for (const CLI::Option* paths :
                 parent->get_options([](const CLI::Option* o) { return o->get_positional(); }))
                usage.insert(usage.find_last_not_of('\n') + 1, " " + make_option_usage(paths));
        return usage;
    }

    std::string make_positionals(const CLI::App* app) const override {
        return CLI::Formatter::make_positionals(app->get_parent() ? app->get_parent() : app);
    }

    // What every command takes stands where a command has no commands of its own.
    std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
        const CLI::App* parent = app->get_parent();
        if (!parent) return CLI::Formatter::make_subcommands(app, mode);
        const auto is_taken_too = [&](const CLI::Option* option) {
            return option->nonpositional() && option != parent->get_help_ptr() && option != parent->get_version_ptr() &&
                   !app->get_option_no_throw(option->get_name());
        };
        std::vector<std::string> names;
        for (const CLI::Option* option : parent->get_options(is_taken_too))
            names.push_back(option->get_lnames().empty() ? "-" + option->get_snames().front()
                                                         : "--" + option->get_lnames().front());
        return fmt::format("\nOptions of every command, see mpiprof-report --help:\n  {}\n",
                           joined(wrapped(joined(names, " "), help_width), "\n  "));
    }
};

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

void Arguments::view(const char* more) {
    std::vector<std::string> names;
    for (const View& view : views()) names.emplace_back(view.name);
    std::string about = fmt::format("How tables are shown: {}", joined(names, ", "));
    if (more) {
        names.emplace_back(more);
        about += fmt::format("; {}: with --brief, six lines for mails and scripts", more);
    }
    choice("--format", options_.format, about, names, "FORMAT");
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

// ---- the command line ----

namespace {

Arguments arguments_of(CommandLine& line, CLI::App& app) { return {app, line.options, line.choices}; }

void add_where_to_look(CommandLine& line) {
    line.app
        ->add_option(
            "paths", line.options.paths,
            "Directories of jobs, their mpi_profile.* files, or what merge made of them (default: this directory)")
        ->type_name("DIR|FILE");
    Arguments all = arguments_of(line, *line.app);
    all.text("--job", line.options.choice.job,
             "Job, as its profiles or its scheduler call it (4711_3, 4711[3], raw id, 4711.STEP)", "ID");
    all.text("--launch", line.options.choice.launch,
             "Launch within the job: a number as listed (1 = newest), or its ID", "N|ID");
}

void add_how_to_show(CommandLine& line) {
    Arguments all = arguments_of(line, *line.app);
    line.app->add_option("--width", line.options.screen.width, "Columns of the screen (default: the terminal's)")
        ->check(CLI::Range(40u, 1000u))
        ->type_name("N");
    all.flag("--ascii", line.options.screen.is_ascii, "Draw with ASCII only");
    line.app->add_flag("!--no-pager", line.options.screen.has_pager,
                       "Never page by $PAGER (default: less), where the screen is too small");
    all.choice("--color", line.color, "auto, always or never; NO_COLOR is respected", {"auto", "always", "never"},
               "WHEN");
    line.app->add_option("-j", line.options.threads, "Reader threads (default: all cores)")
        ->check(CLI::Range(1u, 1024u))
        ->type_name("N");
    line.app->add_flag("--brief", line.is_brief, "A few lines, for the end of a job's own output; the exit code is 0")
        ->excludes(line.app->get_option("--width"));
    all.flag("-q,--quiet", line.options.is_quiet, "Suppress messages on stderr");
    all.flag("--strict", line.options.is_strict, "Exit code 1 if a rank is missing, unfinished or unreadable");
    all.number("--wait", line.options.wait_s, "Wait up to SECONDS for all ranks to finish", 0.0, 1e6, "SECONDS");
    all.view(note_format);
}

// What the headings of a section's tables mean, each once.
std::string columns_of(std::string_view section) {
    std::vector<const ColumnMeaning*> columns;
    std::size_t widest = 0;
    for (const ColumnMeaning& column : column_meanings()) {
        const auto is_same = [&](const ColumnMeaning* known) {
            return known->title == column.title && known->text == column.text;
        };
        if (column.section != section || column.title.empty() || std::ranges::any_of(columns, is_same)) continue;
        columns.push_back(&column);
        widest = std::max(widest, first_title(column).size());
    }
    std::string text;
    for (const ColumnMeaning* column : columns) {
        std::string_view name = first_title(*column);
        for (const std::string& line : wrapped(std::string(column->text), help_width - widest - 2)) {
            text += fmt::format("\n  {:{}}  {}", name, widest, line);
            name = "";
        }
    }
    return text.empty() ? "" : "Columns:" + text;
}

// Behind what the command says of itself.
std::string with_examples(std::string footer, std::string_view name, std::string_view examples) {
    for (const std::string& part : {columns_of(name), std::string("Examples:")})
        if (!part.empty()) footer += (footer.empty() ? "" : "\n\n") + part;
    for (std::size_t begin = 0; begin < examples.size();) {
        const std::size_t end = std::min(examples.find('\n', begin), examples.size());
        footer += fmt::format("\n  mpiprof-report {}", examples.substr(begin, end - begin));
        begin = end + 1;
    }
    return footer;
}

void add_command(CommandLine& line, std::string_view name, std::string_view about, std::string_view examples,
                 Operands operands, std::unique_ptr<Command> command) {
    CLI::App& app = *line.app->add_subcommand(std::string(name), std::string(about));
    app.fallthrough();
    Arguments arguments = arguments_of(line, app);
    command->take(arguments);
    app.footer(with_examples(app.get_footer(), name, examples));
    line.commands.push_back({app.get_name(), operands, std::move(command)});
}

// ---- as text ----

OptionText text_of(const CLI::Option& option, const CLI::App& app, const Choices& choices) {
    OptionText text;
    for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
    text.type = option.get_type_name();
    text.about = option.get_description();
    text.takes_value = option.get_items_expected_max() > 0;
    text.is_help = &option == app.get_help_ptr();
    if (const auto found = choices.find(&option); found != choices.end()) text.choices = found->second;
    return text;
}

CommandText text_of(const CLI::App& app, const Choices& choices) {
    CommandText text{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
    for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return o->nonpositional(); }))
        text.options.push_back(text_of(*option, app, choices));
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        text.commands.push_back(text_of(*command, choices));
    return text;
}

}  // namespace

CommandLine::CommandLine()
    : app(std::make_unique<CLI::App>(
          "Reads the profiles of an MPI job (mpi_profile.<job>.<rank>) and says where its time went.",
          "mpiprof-report")) {
    options.threads = std::max(1u, std::thread::hardware_concurrency());
    app->formatter(std::make_shared<Help>());  // the commands take it over
    app->set_version_flag("--version", std::string("mpiprof-report ") + MPIPROF_VERSION, "Print the version");
    add_where_to_look(*this);
    add_how_to_show(*this);
    for (const Section& section : sections())
        add_command(*this, section.name, section.about, section.examples, Operands::one_job,
                    section.name == "hang" ? make_hang(section) : make_section(section));
#define COMMAND(name, operands, about, examples) \
    add_command(*this, #name, about, examples, Operands::operands, make_##name());
#include "report/commands/commands.def"
#undef COMMAND
    Arguments all = arguments_of(*this, *app);
    all.flag("--manual", is_manual, "Print the manual page, for man: mpiprof-report --manual | man -l -");
    all.choice("--completion", completion, "Print the completion for this shell: bash, fish or zsh",
               {std::begin(completed_shells), std::end(completed_shells)}, "SHELL");
    app->require_subcommand(0, 1);
    app->footer(
        "Without a command: summary of the newest launch found. A directory with the name of a command is\n"
        "reached as ./NAME. Exit code: 0 fine, 1 a check failed, 2 wrong usage, 3 no readable profile,\n"
        "4 inconclusive, 5 a job is stuck (hang --until-stuck).");
}

CommandLine::~CommandLine() = default;

std::optional<Misread> CommandLine::read(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    try {
        app->parse(std::move(words));
    } catch (const CLI::ExtrasError& error) {
        return Misread{Misread::Kind::unexpected_word, error.what()};
    } catch (const CLI::RequiredError& error) {
        return Misread{Misread::Kind::missing_word, error.what()};
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) return Misread{Misread::Kind::wrong, error.what()};
        app->exit(error);
        return Misread{Misread::Kind::answered, ""};
    }
    return std::nullopt;
}

CommandText CommandLine::text() const { return text_of(*app, choices); }

std::vector<std::string> CommandLine::named() const {
    std::vector<std::string> names;
    for (const CLI::App* command : app->get_subcommands()) names.push_back(command->get_name());
    return names;
}

std::vector<std::string> CommandLine::unexpected_words() const { return app->remaining(true); }

}  // namespace mpiprof::report
