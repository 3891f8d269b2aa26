// `mpiprof-report text`: a rank, or the whole job, in a layout that other tools made known.
#include <fmt/format.h>

#include <filesystem>

#include "report/commands/command.h"
#include "report/commands/ddp.h"
#include "report/commands/load.h"
#include "report/commands/say.h"
#include "report/layouts/layout.h"

namespace mpiprof::report {
namespace {

// `what`: a rank, or the layout of the whole job.
std::string text_path(const Job& job, std::string_view what, const std::string& directory) {
    // A job's name comes from a file: it must not lead out of the directory.
    std::string name = fmt::format("mpi_profile.{}.{}.txt", job.job.empty() ? "job" : job.job, what);
    for (char& c : name)
        if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '_';
    return (std::filesystem::path(directory) / name).string();
}

class Text : public Command {
  public:
    void take(Arguments& arguments) override {
        arguments.ranks(ranks_, "Ranks: 3, 0,5-7 or all (default: the lowest)", &wants_all_);
        std::string about = "Layout:";
        std::vector<std::string> names;
        for (const Layout& layout : layouts()) {
            about += fmt::format(" {} ({});", layout.name, layout.about);
            names.emplace_back(layout.name);
        }
        about.pop_back();
        arguments.choice("--layout", layout_, about, names, "NAME");
        arguments.all_launches("ddp: each launch in a directory is a run, as each of several paths is");
        arguments.choice("--all-ranks-table", job_part_, "Print the all-ranks table: rank0, always or never",
                         {"rank0", "always", "never"}, "WHERE");
        arguments.text("-o,--output", directory_, "Write mpi_profile.<job>.<rank>.txt files into this directory",
                       "DIR");
    }

    int run(const Options& options) override {
        const Layout& layout = layout_.empty() ? layouts().front() : *find_layout(layout_);
        if (layout.name == ddp_layout && are_several_runs(options)) return ddp_text(options);
        return with_job(options, false, [&](Job& job, RankReader& reader) {
            return layout.of_job ? show_job(job, layout) : show_ranks(job, reader, layout, options.is_quiet);
        });
    }

  private:
    Result<Output> open(const Job& job, std::string_view what) const {
        std::error_code error;
        if (!directory_.empty()) std::filesystem::create_directories(directory_, error);
        return Output::open(directory_.empty() ? "" : text_path(job, what, directory_));
    }

    int show_job(const Job& job, const Layout& layout) const {
        if (!ranks_.empty() || wants_all_)
            return fail({"--rank", "has no effect with this layout", "it covers all ranks"}, usage_error);
        const auto text = layout.of_job(job);
        if (!text) return fail(text.error(), usage_error);
        auto output = open(job, layout.name);
        if (!output) return fail(output.error(), check_failed);
        output->write(*text);
        return finish(*output);
    }

    std::vector<std::uint32_t> ranks_of(const Job& job) const {
        if (!ranks_.empty()) return ranks_;
        std::vector<std::uint32_t> ranks;
        for (const Rank& rank : job.ranks)
            if (rank.has_profile && (wants_all_ || ranks.empty())) ranks.push_back(rank.rank);
        return ranks;
    }

    int show_ranks(Job& job, RankReader& reader, const Layout& layout, bool is_quiet) const {
        const auto ranks = ranks_of(job);
        const Listing listing(job, layout);
        const JobPart part = job_part_ == "always"  ? JobPart::always
                             : job_part_ == "never" ? JobPart::never
                                                    : JobPart::with_rank_0;
        bool is_first = true;
        for (const std::uint32_t rank : ranks) {
            // One rank's cells at a time: a large job does not fit at once.
            job.kept_cells.clear();
            if (const auto ok = load_cells(job, reader, {rank}); !ok) return fail(ok.error(), usage_error);
            const auto text = listing.text(rank, part);
            if (!text) return fail(text.error(), usage_error);
            auto output = open(job, std::to_string(rank));
            if (!output) return fail(output.error(), check_failed);
            if (directory_.empty() && !is_first) output->write("\n");
            output->write(*text);
            is_first = false;
            if (const int code = finish(*output); code != fine) return code;
        }
        if (!directory_.empty() && !is_quiet)
            say(fmt::format("{} written to {}", ranks.size() == 1 ? "1 file" : fmt::format("{} files", ranks.size()),
                            directory_));
        return fine;
    }

    std::vector<std::uint32_t> ranks_;
    bool wants_all_ = false;
    std::string layout_;  // empty: the first
    std::string job_part_ = "rank0";
    std::string directory_;  // empty: stdout
};

}  // namespace

std::unique_ptr<Command> make_text() { return std::make_unique<Text>(); }

}  // namespace mpiprof::report
