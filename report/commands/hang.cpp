// `mpiprof-report hang`: the section, and --until-stuck 10m, which looks at a running job from its files until it ends
// or has hung for so long: for job scripts, which then see why and may end the job. A proof has to stand in three looks
// before anything follows from it, and a command is run on proof, of a job all of whose ranks are seen to live. Without
// a proof it is run only where the user asked for it with --without-proof, and nothing was seen to happen for that
// long.
#include "report/commands/section.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/analysis/analysed.h"
#include "report/analysis/doubts.h"
#include "report/analysis/hangs.h"
#include "report/analysis/silence.h"
#include "report/commands/follow.h"
#include "report/commands/load.h"
#include "report/commands/say.h"
#include "report/model/units.h"
#include "report/read/file.h"
#include "report/sections/section.h"
#include "report/views/terminal.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

constexpr int looks_for_proof = 3;

// What stays the same while a hang is the same.
using Identity = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
Identity identity_of(const Hang& hang) {
    Identity identity{{static_cast<std::uint32_t>(hang.kind), hang.group}};
    for (const Party& party : hang.parties)
        for (const std::uint32_t rank : party.ranks) identity.emplace_back(rank, party.call);
    for (const std::uint32_t rank : hang.gone) identity.emplace_back(rank, ~std::uint64_t{0});
    return identity;
}

// "T" or "t": stopped by a signal, or by a debugger.
bool is_stopped(std::uint32_t pid) {
    std::ifstream in(fmt::format("/proc/{}/stat", pid));
    std::string text;
    std::getline(in, text);
    const auto name = text.rfind(')');
    return name != std::string::npos && name + 2 < text.size() && (text[name + 2] == 'T' || text[name + 2] == 't');
}

// When its file last said something. What a living process of this machine has mapped is its memory; what it writes may
// be old all the same: over quota, on a file system that stands still.
std::uint64_t heard_of(const Rank& rank, const Launch& launch) {
    if (rank.is_written)
        for (const RankFile& file : launch.files)
            if (file.rank == rank.rank && !file.merged)
                return std::min(rank.updated_at_ns, FileReader::times(file.path.text()).modified_at_ns);
    return rank.updated_at_ns;
}

// Of the ranks that have not ended: whether each of them is seen to live.
std::optional<Doubt> doubt_of_life(const Loaded& loaded) {
    const Launch& launch = loaded.launch();
    const std::uint64_t now = steady_now_ns();
    for (const Rank& rank : loaded.job.ranks) {
        if (rank.state != State::running) continue;
        if (rank.life == Life::running && is_stopped(rank.pid))
            return Doubt{.kind = Doubt::Kind::stopped, .rank = rank.rank};
        const std::uint64_t patience = 3 * std::max<std::uint64_t>(rank.store_period_ns, 1'000'000'000);
        if (heard_of(rank, launch) + patience < now) return Doubt{.kind = Doubt::Kind::silent, .rank = rank.rank};
    }
    return std::nullopt;
}

std::string words_of(const Doubt& doubt) {
    using K = Doubt::Kind;
    const std::string who = fmt::format("rank {}", doubt.rank);
    switch (doubt.kind) {
        case K::no_profile:
            return "not every rank has a profile";
        case K::not_chosen:
            return "not every rank is profiled (MPIPROF_RANKS, MPIPROF_MAX_FILES, MPIPROF_MAX_BYTES)";
        case K::left_out:
            return fmt::format("calls may be missing in the profiles (MPIPROF_{})", doubt.setting);
        case K::paused:
            return who + " has paused its recording";
        case K::stopped:
            return who + " is stopped, perhaps by a debugger";
        case K::silent:
            return who + " has shown no sign of life for a while";
        case K::meets_others:
            return who + " is in a call that waits for another job";
        case K::any_source:
            return who + " has an open receive from MPI_ANY_SOURCE";
        case K::unknown_requests:
            return who + " waits for requests of which not all are known";
        case K::other_group:
            return who + " waits on an intercommunicator, perhaps for another job";
    }
    return "";
}

// A command for /bin/sh, and when it is run.
struct Ending {
    std::string command;  // empty: there is none
    std::optional<double> without_proof_s;
};

class Watchdog {
  public:
    Watchdog(const Options& options, double limit_s, const Ending& ending)
        : options_(options),
          limit_ns_(static_cast<std::uint64_t>(limit_s * 1e9)),
          quiet_limit_ns_(static_cast<std::uint64_t>(ending.without_proof_s.value_or(limit_s) * 1e9)),
          ending_(ending) {}

    int run(double interval_s) {
        const int code = follow(options_, interval_s,
                                [&](std::unique_ptr<Loaded> now, bool ends) { return ends || !is_stuck(*now); });
        return is_proven_ ? stuck : is_quiet_ ? cannot_tell : code;
    }

  private:
    // Whether there is nothing more to be waited for.
    bool is_stuck(const Loaded& loaded) {
        const Analysed all(loaded.job);
        const std::optional<Hang>& hang = all.hang();
        const Identity identity = hang ? identity_of(*hang) : Identity{};
        looks_ = hang && identity == before_ ? looks_ + 1 : 1;
        before_ = identity;
        is_proven_ = hang && hang->for_ns >= limit_ns_ && looks_ >= looks_for_proof;
        silence_.look(loaded.job, steady_now_ns());
        const auto quiet = hang ? std::nullopt : quiet_of(loaded.job);
        is_quiet_ = quiet && quiet->for_ns >= quiet_limit_ns_ && (!ending_.without_proof_s || is_silent_long_enough());
        if (!is_proven_ && !is_quiet_) return false;
        show(all);
        if (!ending_.command.empty()) run_command(loaded);
        return true;
    }

    // What a command is run for without a proof was seen from here all the time.
    bool is_silent_long_enough() const { return silence_.for_ns() >= quiet_limit_ns_; }

    void show(const Analysed& all) const {
        Question question;
        question.top = options_.top;
        question.is_for_screen = true;
        if (const auto tables = find_section("hang")->answer(all, question)) {
            const std::string text = find_view("text")->show({"hang", *tables}, screen_for(stdout, options_.screen));
            std::fwrite(text.data(), 1, text.size(), stdout);
            std::fflush(stdout);
        }
    }

    // Why it is not to be run: empty, or a reason.
    std::string why_not(const Loaded& loaded) const {
        const bool needs_proof = !is_proven_ && !ending_.without_proof_s;
        auto doubt = is_proven_ || needs_proof ? doubt_of_recording(loaded.job) : doubt_of_silence(loaded.job);
        if (!doubt && !needs_proof) doubt = doubt_of_life(loaded);
        const std::string reason = doubt ? words_of(*doubt) : "";
        if (needs_proof) return "the hang is not proven" + (reason.empty() ? "" : ": " + reason);
        return reason;
    }

    void run_command(const Loaded& loaded) const {
        const std::string& command = ending_.command;
        if (const std::string reason = why_not(loaded); !reason.empty())
            return say(fmt::format("not running {}: {}", command, reason));
        if (!is_proven_)
            say(fmt::format("running {} without a proof of a hang: no call has begun or ended for {} (--without-proof)",
                            command, human_time(static_cast<double>(silence_.for_ns()))));
        execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        say(fmt::format("cannot run /bin/sh: {}", std::strerror(errno)));
    }

    const Options& options_;
    std::uint64_t limit_ns_, quiet_limit_ns_;
    const Ending& ending_;
    Silence silence_;
    Identity before_;
    int looks_ = 0;
    bool is_proven_ = false, is_quiet_ = false;
};

class HangCommand : public SectionCommand {
  public:
    explicit HangCommand(const Section& section) : SectionCommand(section) {}

    void take(Arguments& arguments) override {
        SectionCommand::take(arguments);
        arguments.duration("--until-stuck", until_stuck_s_,
                           "Watch the running job until it ends, or has hung for so long, and say why: exit code 5 "
                           "if that is proven, 4 if nothing but silence is known");
        arguments.text("--run", ending_.command,
                       "A command for /bin/sh, run once where it is proven that the job hangs: "
                       "'scancel $SLURM_JOB_ID'",
                       "COMMAND");
        arguments.needs("--until-stuck");
        arguments.duration("--without-proof", ending_.without_proof_s,
                           "Run it also where nothing is proven, but no call of any rank has begun or ended for so "
                           "long: 2h. A computation may take as long");
        arguments.needs("--run");
        arguments.interval(interval_s_);
    }

    int run(const Options& options) override {
        if (!until_stuck_s_) return SectionCommand::run(options);
        if (ending_.without_proof_s.value_or(*until_stuck_s_) < *until_stuck_s_)
            return fail({"--without-proof", "is shorter than --until-stuck", "it takes at least as long as a proof"},
                        usage_error);
        // Reading a large job takes a while; of a short limit each look is a fraction.
        const double interval_s = interval_s_.value_or(std::clamp(*until_stuck_s_ / 10, 0.1, 60.0));
        return Watchdog(options, *until_stuck_s_, ending_).run(interval_s);
    }

  private:
    std::optional<double> until_stuck_s_, interval_s_;
    Ending ending_;
};

}  // namespace

std::unique_ptr<Command> make_hang(const Section& section) { return std::make_unique<HangCommand>(section); }

}  // namespace mpiprof::report
