// `mpiprof-report html`: a job on one page, a file to look at, to mail and to keep, that other commands read as they
// read the job.
#include "report/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "report/commands/diff.h"
#include "report/commands/load.h"
#include "report/commands/operands.h"
#include "report/commands/page_blocks.h"
#include "report/commands/page_names.h"
#include "report/commands/private_job.h"
#include "report/commands/say.h"
#include "report/commands/scaling.h"
#include "report/compare/charts.h"
#include "report/compare/difference_tables.h"
#include "report/model/units.h"
#include "report/page/card.h"
#include "report/read/merged_writer.h"
#include "report/read/page_data.h"

namespace mpiprof::report {
namespace {

constexpr std::uint64_t most_data = 8 << 20;
constexpr std::size_t compared_lines = 20;

constexpr const char* what_it_holds =
    "This page holds the names of the program, its files, functions and nodes, and the command line: html --private leaves "
    "them out.";

class Html : public Command {
  public:
    void take(Arguments& arguments) override {
        arguments.text(
            "-o,--output", output_,
            "The page (default: mpiprof-<job>.html here); - is stdout; DIR/ puts html, css and js apart; F.pdf is "
            "a card of one page",
            "FILE");
        arguments.flag("--mail", is_for_mail_, "Without script, pictures and data, so that mail gateways let it pass");
        arguments.flag("--private", is_private_, "Nodes, paths, functions and labels as numbers, and no environment");
        arguments.choice("--data", data_,
                         "full: with the profiles, so that diff, summary and others read the page (default where they "
                         "take at most 8 MiB); none",
                         {"full", "none"}, "WHAT");
        arguments.texts("--against", against_, "What differs from these runs, on the page, too", "RUN...");
        arguments.footer(
            "html RUN is one job; html RUN RUN... is the first of them with how all of them scale; each [LABEL=]DIR[:JOB],\n"
            "a merged file or another page.");
    }

    int run(const Options& options) override {
        if (data_ == "full" && (is_for_mail_ || is_private_))
            return fail({"--data full", fmt::format("goes with neither --mail nor --private: the data hold names"),
                         "leave one of them out"},
                        usage_error);
        Options one = options;
        if (const bool is_series = is_series_of(options); is_series || (!against_.empty() && !options.paths.empty())) {
            const Operand operand = operand_of(options.paths.front());
            one.paths = {operand.path};
            if (!operand.job.empty()) one.choice.job = operand.job;
        }
        return with_loaded(one, false, [&](Loaded& loaded) { return write(loaded, options, one); });
    }

  private:
    // Files of ranks are one job, as a shell names them.
    static bool is_series_of(const Options& options) {
        return options.paths.size() > 1 && std::ranges::none_of(options.paths, [](const std::string& path) {
                   return std::filesystem::path(path).filename().string().starts_with("mpi_profile.");
               });
    }

    int write(Loaded& loaded, const Options& options, const Options& one) {
        Job& job = loaded.job;
        if (is_private_) make_private(job);
        const Analysed all(job);
        page::Page made = page_of(all, !is_for_mail_);
        made.is_private = is_private_;
        made.holds = is_private_ ? what_is_private : what_it_holds;
        made.has_script = !is_for_mail_;
        if (const int code = compare(made, options, one); code != fine) return code;
        if (output_.ends_with(".pdf")) return put(output_, card_of(made, job), options);
        if (const int code = add_data(made, loaded, options); code != fine) return code;
        const std::string path = output_.empty() ? fmt::format("mpiprof-{}.html", file_name_of(job)) : output_;
        if (path.ends_with('/')) return put_apart(made, path, options);
        return put(path == "-" ? "" : path, page::html_of(made), options);
    }

    // ---- other runs ----

    int compare(page::Page& made, const Options& options, const Options& one) {
        std::vector<page::Block> blocks;
        if (!against_.empty()) {
            if (is_private_)
                return fail(
                    {"--private", "goes with one run: names of the others would be on the page", "leave --against out"},
                    usage_error);
            ReadSides sides;
            const Sides words{.a = against_, .b = {options.paths.empty() ? "." : options.paths.front()}};
            if (const int code = read_sides(one, words, sides); code != fine) return code;
            const RunDifference difference = difference_of(sides.a, sides.b, {});
            page::Block& block = blocks.emplace_back();
            block = {.id = "against",
                     .title = fmt::format("Against {}", sides.a.name),
                     .caption = "What differs from it. A is the base, B is this run.",
                     .command = fmt::format("mpiprof-report diff {} {}", against_.front(), words.b.front()),
                     .tables = difference_tables(sides.a, sides.b, difference, {.top = compared_lines})};
            if (!is_for_mail_) block.pictures = {svg_of(difference_bars(sides.a, sides.b, difference))};
        }
        if (is_series_of(options)) {
            if (is_private_)
                return fail(
                    {"--private", "goes with one run: names of the others would be on the page", "name one run"},
                    usage_error);
            ScalingReport report;
            if (const int code = read_scaling(options, {}, report); code != fine) return code;
            page::Block& block = blocks.emplace_back();
            block = {.id = "series",
                     .title = "The series",
                     .caption = "How the runs that were named scale; the page shows the first of them.",
                     .command = "mpiprof-report scaling",
                     .tables = scaling_tables(report)};
            for (const std::string& word : options.paths) block.command += " " + word;
            if (!is_for_mail_) block.pictures = {svg_of(scaling_chart(report))};
        }
        const auto after_verdict = std::ranges::find(made.blocks, "verdict", &page::Block::id) + 1;
        made.blocks.insert(after_verdict, std::make_move_iterator(blocks.begin()),
                           std::make_move_iterator(blocks.end()));
        return fine;
    }

    // ---- data ----

    int add_data(page::Page& made, const Loaded& loaded, const Options& options) const {
        if (data_ == "none" || is_for_mail_ || is_private_) return fine;
        Progress progress;
        auto bytes = merged_bytes(loaded.found, loaded.launch(), data_ == "full" ? ~std::uint64_t{0} / 2 : most_data,
                                  options.threads, progress);
        if (!bytes) return fail(bytes.error(), check_failed);
        if (bytes->empty() && !options.is_quiet)
            say(fmt::format(
                "the profiles take more than {}: the page is without them, and other commands cannot read it "
                "(--data full)",
                human_bytes(static_cast<double>(most_data))));
        if (bytes->empty()) return fine;
        made.launch = launch_text(*bytes);
        made.names = names_text(names_of(loaded.job));
        return fine;
    }

    // ---- files ----

    int put(const std::string& path, const std::string& text, const Options& options) const {
        auto output = Output::open(path);
        if (!output) return fail(output.error(), check_failed);
        output->write(text);
        const int code = finish(*output);
        if (code == fine && !path.empty() && !options.is_quiet)
            say(fmt::format("{}: {}, to be opened in a browser", path, human_bytes(static_cast<double>(text.size()))));
        return code;
    }

    int put_apart(page::Page& made, const std::string& directory, const Options& options) const {
        std::error_code error;
        std::filesystem::create_directories(directory, error);
        if (error) return fail({directory, fmt::format("cannot be made: {}", error.message()), ""}, check_failed);
        made.is_one_file = false;
        Options quiet = options;
        quiet.is_quiet = true;
        for (const page::File& file : page::files_beside(made))
            if (const int code = put(directory + std::string(file.name), std::string(file.text), quiet); code != fine)
                return code;
        return put(directory + "index.html", page::html_of(made), options);
    }

    static std::string card_of(const page::Page& made, const Job& job) {
        std::vector<double> outside;
        for (const Rank& rank : job.ranks)
            if (rank.elapsed_ns != 0) outside.push_back(static_cast<double>(rank.outside_ns()));
        return page::card_of(made, outside, fmt::format("time outside {}, rank by rank", vocabulary_of(job).library));
    }

    static std::string file_name_of(const Job& job) {
        std::string name = job.job.empty() ? "report" : job.job;
        std::ranges::replace_if(
            name, [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '-' && c != '_'; }, '_');
        return name;
    }

    std::string output_, data_;
    std::vector<std::string> against_;
    bool is_for_mail_ = false, is_private_ = false;
};

}  // namespace

std::unique_ptr<Command> make_html() { return std::make_unique<Html>(); }

}  // namespace mpiprof::report
