// `mpiprof-report export`: opening what is written to, and what is said beside it.
#include "report/analysis/analysed.h"
#include "report/analysis/completeness.h"
#include "report/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/commands/ddp.h"
#include "report/commands/load.h"
#include "report/commands/no_profile.h"
#include "report/commands/private_job.h"
#include "report/commands/say.h"
#include "report/exports/export.h"
#include "report/read/choose_launch.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_problems = 5;  // that are said; each line counts its own

// Opened when there is something to write: an export that cannot be made leaves an older file as it is.
class LateOutput {
  public:
    explicit LateOutput(std::string path) : path_(std::move(path)) {}

    void write(std::string_view text) {
        if (!output_ && !is_refused_) {
            auto opened = Output::open(path_);
            if (opened)
                output_.emplace(std::move(*opened));
            else
                fail(opened.error(), check_failed);
            is_refused_ = !opened;
        }
        if (output_) output_->write(text);
    }
    int finish() {
        if (is_refused_) return check_failed;
        return output_ ? report::finish(*output_) : fine;
    }

  private:
    std::string path_;
    std::optional<Output> output_;
    bool is_refused_ = false;
};

int write_one(const Analysed& all, RankReader& reader, const Options& options, const Export& chosen,
              LateOutput& output) {
    int code = fine;
    const Detail detail = chosen.wants_events ? Detail::events : Detail::sums;
    const std::vector<std::string> remarks = chosen.write(
        all, [&](std::uint32_t rank) { return reader.profile(rank, detail); },
        [&](std::string_view text) { output.write(text); },
        [&](const Problem& problem) { code = fail(problem, check_failed); });
    say_all(remarks, options.is_quiet);
    return code;
}

int export_one(const Job& job, RankReader& reader, const Options& options, const Export& chosen,
               const std::string& to) {
    LateOutput output(to);
    const int code = write_one(job, reader, options, chosen, output);
    const int written = output.finish();
    return code != fine ? code : written;
}

// The launches that are found, or those of the job that was asked for, in the order in which they began.
int export_launches(const Options& options, const Export& format, const std::string& to, bool is_private) {
    if (options.wait_s) load_when_final(options);
    Progress progress;
    const Found found = find_profiles(options.paths, options.threads, progress);
    if (found.launches.empty()) {
        say(explain_no_profile(found));
        return no_profile;
    }
    const auto chosen = choose_launches(found.launches, options.choice);
    if (!chosen) return fail(chosen.error(), no_profile);
    if (!options.is_quiet)
        for (std::size_t i = 0; i < std::min(found.problems.size(), most_problems); ++i) say(found.problems[i]);
    LateOutput output(to);
    int code = fine;
    for (const std::size_t i : *chosen) {
        Result<Job> job = job_of(found, i, options.threads, progress);
        if (!job) {
            code = fail(job.error(), check_failed);
            continue;
        }
        if (is_private) make_private(*job);
        RankReader reader(found.launches[i]);
        if (const int one = write_one(*job, reader, options, format, output); one != fine) code = one;
        if (options.is_strict && !completeness_of(*job).is_complete) code = check_failed;
    }
    const int written = output.finish();
    return code != fine ? code : written;
}

class ExportCommand : public Command {
  public:
    void take(Arguments& arguments) override {
        std::string about = "Format:";
        std::vector<std::string> names;
        for (const Export& one : exports()) {
            about += fmt::format(" {} ({});", one.name, one.about);
            names.emplace_back(one.name);
        }
        about.pop_back();
        arguments.choice("-f,--format", format_, about, names, "FORMAT");
        arguments.is_required();
        arguments.text("-o,--output", output_, "Write to this file", "FILE");
        arguments.flag("--private", is_private_, "line: nodes, paths and labels as numbers, times to the day");
        arguments.all_launches("ddp-json: each launch in a directory is a run, as each of several paths is");
    }

    int run(const Options& options) override {
        const Export& format = *find_export(format_);
        if (is_private_ && !format.is_of_launches)
            return fail(
                {"--private", "goes with -f line", "leave it out, or mail a page: mpiprof-report html --private"},
                usage_error);
        if (format.is_of_launches) return export_launches(options, format, output_, is_private_);
        if (format.name == ddp_export && are_several_runs(options)) return ddp_json(options, output_);
        return with_job(options, false, [&](Job& job, RankReader& reader) {
            return export_one(job, reader, options, format, output_);
        });
    }

  private:
    std::string format_, output_;
    bool is_private_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export() { return std::make_unique<ExportCommand>(); }

}  // namespace mpiprof::report
