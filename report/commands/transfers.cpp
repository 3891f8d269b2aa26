// `mpiprof-report transfers`: operands to runs, runs to lines or tables; or the lines of a job while it runs.
#include "report/commands/transfers.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "report/commands/command.h"
#include "report/commands/follow.h"
#include "report/commands/operands.h"
#include "report/commands/present.h"
#include "report/commands/say.h"
#include "report/compare/transfer_tables.h"
#include "report/compare/transfers.h"
#include "report/merge/merge.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t pairs_on_screen = 12;

int show_lines(const Options& options, const TransferRun& run, LineBy by) {
    auto output = Output::open("");
    std::size_t left = options.top.value_or(~std::size_t{0});
    for (const Transfer& transfer : run.transfers) {
        if (left-- == 0) break;
        output->write(line_of(transfer, by) + "\n");
    }
    return finish(*output);
}

int show_tables(const Options& options, const std::vector<TransferRun>& runs, const Peaks& peaks) {
    const View& view = view_of(options);
    const std::size_t everything = ~std::size_t{0};
    const TransferQuestion question{.peaks = peaks,
                                    .top = options.top.value_or(view.is_for_screen ? pairs_on_screen : everything),
                                    .is_for_screen = view.is_for_screen,
                                    .shows_messages = !view.is_for_screen || options.top.has_value()};
    return present(options, "transfers",
                   runs.size() > 1 ? transfer_comparison(runs) : transfer_tables(runs.front(), question));
}

// Each message once, as soon as both its ends are known.
int show_while_running(const Options& options, double interval_s, LineBy by) {
    std::unordered_set<std::uint64_t> shown;
    bool was_traced = false;
    auto output = Output::open("");
    const int code = follow(options, interval_s, [&](std::unique_ptr<Loaded> now, bool ends) {
        const TransferRun run = transfers_of(now->job, now->launch(), "");
        was_traced |= run.is_traced;
        for (const Transfer& transfer : run.transfers)
            if (shown.insert(transfer.key).second) output->write(line_of(transfer, by) + "\n");
        output->flush();
        if (ends) say_all(remarks_of(run), options.is_quiet);
        return !std::ferror(stdout);
    });
    if (code != fine) return code;
    if (!was_traced) return fail({"--follow", "no rank has a trace", "run the job with MPIPROF_TRACE=on"}, no_profile);
    return finish(*output);
}

}  // namespace

TransferRun transfers_of(const Job& job, const Launch& launch, std::string label) {
    TransferReader reader(job);
    RankReader ranks(launch);
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile || rank.is_text) continue;
        if (const auto profile = ranks.profile(rank.rank, Detail::events)) reader.add(*profile);
    }
    return reader.finish(std::move(label));
}

namespace {

class Transfers : public Command {
  public:
    void take(Arguments& arguments) override {
        arguments.view();
        arguments.flag("--messages", wants_messages_, "One line per message, as benchmarks print them");
        arguments.choice("--by", by_, "With --messages: the rank that a line names, receiver (default) or sender",
                         {"receiver", "sender"}, "SIDE");
        arguments.text("--peak", peak_, "Peak bandwidth of net, memory, h2d, d2h, d2d: net=10Gbit,memory=12GB",
                       "RATES");
        arguments.flag("--follow", follows_, "Print lines while the job runs, and end with it");
        arguments.interval(interval_s_);
        arguments.all_launches("Each launch in a directory is a run, not only the newest");
        arguments.footer(
            "Single messages need MPIPROF_TRACE=on in the job. Several runs, each [LABEL=]DIR[:JOB], are compared by size.");
    }

    int run(const Options& options) override {
        const LineBy by = by_ == "sender" ? LineBy::sender : LineBy::receiver;
        Peaks peaks;
        if (!peak_.empty()) {
            const auto known = peaks_of(peak_);
            if (!known) return fail(known.error(), usage_error);
            peaks = *known;
        }
        if (follows_) {
            if (options.paths.size() > 1 || !options.format.empty() || peaks.are_known())
                return fail({"--follow", "prints the lines of one job", "leave --format, --peak and further runs out"},
                            usage_error);
            return show_while_running(options, interval_s_.value_or(usual_interval_s), by);
        }
        const bool lists_messages = wants_messages_ || !by_.empty();
        if (lists_messages && (!options.format.empty() || peaks.are_known()))
            return fail(
                {"--messages", "prints lines", "leave --format and --peak out, or have messages in --format csv"},
                usage_error);
        std::vector<TransferRun> runs;
        LoadRemarks remarks;
        Labels labels;
        const auto add = [&](LoadedRun&& loaded) {
            runs.push_back(transfers_of(loaded.job, *loaded.launch, labels.apart(loaded.label)));
        };
        if (const int code = load_each(options, words_of(options), "transfers takes jobs", add, remarks); code != fine)
            return code;
        if (lists_messages && runs.size() > 1)
            return fail({"--messages", "lists those of one job", "name one"}, usage_error);
        if (lists_messages && !runs.front().is_traced)
            return fail({"--messages", "no rank has a trace", "run the job with MPIPROF_TRACE=on"}, no_profile);
        say_all(remarks.lines, options.is_quiet);
        for (const TransferRun& run : runs) say_all(remarks_of(run), options.is_quiet);
        const bool is_one_node =
            std::ranges::none_of(runs, [](const TransferRun& run) { return run.has_several_nodes; });
        if (peaks.net && is_one_node && !options.is_quiet)
            say("--peak net is of messages between nodes, and there is one node: memory=RATE is for those within it");
        const int code = lists_messages ? show_lines(options, runs.front(), by) : show_tables(options, runs, peaks);
        return code == fine && options.is_strict && !remarks.is_complete ? check_failed : code;
    }

  private:
    bool wants_messages_ = false;
    std::string by_;    // "sender"; empty: the receiver
    std::string peak_;  // net=10Gbit
    bool follows_ = false;
    std::optional<double> interval_s_;
};

}  // namespace

std::unique_ptr<Command> make_transfers() { return std::make_unique<Transfers>(); }

}  // namespace mpiprof::report
