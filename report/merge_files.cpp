// Finding, writing, and a line on what became of it.
#include "report/merge_files.h"

#include <fmt/format.h>

#include "report/load.h"
#include "report/model/units.h"
#include "report/no_profile.h"
#include "report/read/merged_writer.h"
#include "report/say.h"
#include "report/views/progress_line.h"

namespace mpiprof::report {

int merge_files(const Options& options) {
    if (options.output == "-")
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
        sizes = write_merged(found, found.launches[chosen], options.output, options.threads, progress);
    }
    if (!sizes) return fail(sizes.error(), check_failed);
    const Launch& launch = found.launches[chosen];
    if (!options.is_quiet) {
        say(fmt::format("{}: {} of {} ranks in {}, {} as single files; mpiprof-report {} reads it", options.output,
                        sizes->files, launch.size, human_bytes(static_cast<double>(sizes->file_bytes)),
                        human_bytes(static_cast<double>(sizes->bytes_in_use)), options.output));
        if (found.launches.size() > 1)
            say(fmt::format("this is launch {} of {} here (job {}); the others are not in it: --launch N", chosen + 1,
                            found.launches.size(), launch.job));
        for (const std::string& line : found.problems) say(line);
    }
    return fine;
}

}  // namespace mpiprof::report
