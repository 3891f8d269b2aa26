// `mpiprof-report merge`: finding, writing, and a line on what became of it.
#include "report/commands/command.h"

#include <fmt/format.h>

#include "report/commands/load.h"
#include "report/commands/no_profile.h"
#include "report/commands/say.h"
#include "report/model/units.h"
#include "report/read/merged_writer.h"
#include "report/views/progress_line.h"

namespace mpiprof::report {
namespace {

int merge_files(const Options& options, const std::string& output) {
    if (output == "-")
        return fail({"merge -o -", "a merged file is not written to stdout", "name a file, such as job.mpiprof"},
                    usage_error);
    if (options.wait_s) load_when_final(options);
    Progress progress;
    Result<MergedSizes> sizes;
    Found found;
    std::size_t chosen = 0;
    {
        const ProgressLine line(progress, !options.is_quiet);
        found = find_profiles(options.paths, options.threads, progress);
        if (found.launches.empty()) {
            say(explain_no_profile(found));
            return no_profile;
        }
        const auto choice = choose_launch(found.launches, options.choice);
        if (!choice) return fail(choice.error(), no_profile);
        chosen = *choice;
        sizes = write_merged(found, found.launches[chosen], output, options.threads, progress);
    }
    if (!sizes) return fail(sizes.error(), check_failed);
    const Launch& launch = found.launches[chosen];
    if (!options.is_quiet) {
        say(fmt::format("{}: {} of {} ranks in {}, {} as single files; mpiprof-report {} reads it", output,
                        sizes->files, launch.size, human_bytes(static_cast<double>(sizes->file_bytes)),
                        human_bytes(static_cast<double>(sizes->bytes_in_use)), output));
        if (found.launches.size() > 1)
            say(fmt::format("this is launch {} of {} here (job {}); the others are not in it: --launch N", chosen + 1,
                            found.launches.size(), launch.job));
        for (const std::string& line : found.problems) say(line);
    }
    return fine;
}

class Merge : public Command {
  public:
    void take(Arguments& arguments) override {
        arguments.text("-o,--output", output_, "Write to this file; the name usually ends in .mpiprof", "FILE");
        arguments.is_required();
    }
    int run(const Options& options) override { return merge_files(options, output_); }

  private:
    std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_merge() { return std::make_unique<Merge>(); }

}  // namespace mpiprof::report
