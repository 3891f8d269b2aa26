// `mpiprof-report merge`: finding, writing, and a line on what became of it.
#include "report/commands/command.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "report/commands/load.h"
#include "report/commands/say.h"
#include "report/model/units.h"
#include "report/read/merged_writer.h"
#include "report/views/progress_line.h"

namespace mpiprof::report {
namespace {

struct PartOf {
    std::size_t part = 1, of = 1;
};

// "3/16"
std::optional<PartOf> part_of(const std::string& word) {
    PartOf part;
    const char* const end = word.data() + word.size();
    const auto [slash, first] = std::from_chars(word.data(), end, part.part);
    if (first != std::errc{} || slash == end || *slash != '/') return std::nullopt;
    const auto [rest, second] = std::from_chars(slash + 1, end, part.of);
    if (second != std::errc{} || rest != end || part.part < 1 || part.part > part.of) return std::nullopt;
    return part;
}

// A launch has no more parts than blocks of 64 ranks.
int has_no_rank(const Options& options, const std::string& output, PartOf part) {
    if (!options.is_quiet)
        say(fmt::format("{}: is not written: part {} of {} has no rank of this launch", output, part.part, part.of));
    return fine;
}

int merge_files(const Options& options, const std::string& output, PartOf part) {
    if (output == "-")
        return fail({"merge -o -", "a merged file is not written to stdout", "name a file, such as job.mpiprof"},
                    usage_error);
    if (options.wait_s) load_when_final(options);
    Progress progress;
    std::optional<ProgressLine> line;
    line.emplace(progress, !options.is_quiet);
    return with_launch(options, progress, [&](const Found& found, Launch& launch) {
        keep_part(launch, part.part, part.of);
        if (launch.files.empty()) return has_no_rank(options, output, part);
        const auto sizes = write_merged(found, launch, output, options.threads, progress);
        line.reset();
        if (!sizes) return fail(sizes.error(), check_failed);
        if (options.is_quiet) return static_cast<int>(fine);
        say(fmt::format("{}: {} of {} ranks in {}, {} as single files; mpiprof-report {} reads it", output,
                        sizes->files, launch.size, human_bytes(static_cast<double>(sizes->file_bytes)),
                        human_bytes(static_cast<double>(sizes->bytes_in_use)), output));
        if (found.launches.size() > 1)
            say(fmt::format("this is launch {} of {} here (job {}); the others are not in it: --launch N",
                            &launch - found.launches.data() + 1, found.launches.size(), launch.job));
        say_all(found.problems, false);
        return static_cast<int>(fine);
    });
}

class Merge : public Command {
  public:
    void take(Arguments& arguments) override {
        arguments.text("-o,--output", output_, "Write to this file; the name usually ends in .mpiprof", "FILE");
        arguments.is_required();
        arguments.text("--part", part_, "Only the K-th of N parts of the ranks, as nodes of a job may share the work",
                       "K/N");
        arguments.footer("What the parts are merged to is the file that merging all at once makes, byte for byte.");
    }
    int run(const Options& options) override {
        const auto part = part_.empty() ? PartOf{} : part_of(part_);
        if (!part)
            return fail({"--part " + part_, "is not one of so many parts", "the third of sixteen is 3/16"},
                        usage_error);
        return merge_files(options, output_, *part);
    }

  private:
    std::string output_, part_;  // part_: "3/16"
};

}  // namespace

std::unique_ptr<Command> make_merge() { return std::make_unique<Merge>(); }

}  // namespace mpiprof::report
