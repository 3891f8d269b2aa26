// `mpiprof-report split`: the ranks of a launch as a file each, from the files of its nodes or from a merged one.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "report/commands/command.h"
#include "report/commands/load.h"
#include "report/commands/say.h"
#include "report/model/units.h"
#include "report/read/rank_writer.h"

namespace mpiprof::report {
namespace {

class Split : public Command {
  public:
    void take(Arguments& arguments) override {
        arguments.text("-o,--output", directory_, "Write mpi_profile.<job>.<rank> files into this directory", "DIR");
        arguments.is_required();
        arguments.ranks(ranks_, "Only these ranks: 3, 0,5-7 or all (the default)", &wants_all_);
        arguments.footer("Nothing that exists is overwritten; the files that are read stay as they are.");
    }

    int run(const Options& options) override {
        Progress progress;
        return with_launch(options, progress, [&](const Found& found, const Launch& launch) {
            const int code = split(launch, progress, options.is_quiet);
            say_all(found.problems, options.is_quiet);
            return code;
        });
    }

  private:
    static bool has(const Launch& launch, std::uint32_t rank) {
        return std::ranges::any_of(launch.files, [&](const RankFile& file) { return file.rank == rank; });
    }

    int split(const Launch& launch, Progress& progress, bool is_quiet) const {
        if (const auto missing = std::ranges::find_if(ranks_, [&](auto rank) { return !has(launch, rank); });
            missing != ranks_.end())
            return fail({fmt::format("rank {}", *missing), "has no profile", ""}, usage_error);
        std::error_code error;
        std::filesystem::create_directories(directory_, error);
        if (error) return fail({directory_, fmt::format("cannot be made: {}", error.message()), ""}, check_failed);
        return write(launch, progress, is_quiet);
    }

    int write(const Launch& launch, Progress& progress, bool is_quiet) const {
        RankFileReader reader;
        std::uint64_t files = 0, bytes = 0;
        progress.files = 0;
        progress.total_files = launch.files.size();
        for (const RankFile& file : launch.files) {
            if (!ranks_.empty() && std::ranges::find(ranks_, file.rank) == ranks_.end()) continue;
            const auto path = std::filesystem::path(directory_) / file_name_of(launch, file);
            const auto written = write_rank(reader, file, path.string());
            if (!written) return fail(written.error(), check_failed);
            ++files;
            bytes += *written;
            ++progress.files;
        }
        if (!is_quiet)
            say(fmt::format("{}: {} of {} ranks, {}", directory_, files, launch.size,
                            human_bytes(static_cast<double>(bytes))));
        return fine;
    }

    std::vector<std::uint32_t> ranks_;  // empty: all
    bool wants_all_ = false;
    std::string directory_;
};

}  // namespace

std::unique_ptr<Command> make_split() { return std::make_unique<Split>(); }

}  // namespace mpiprof::report
