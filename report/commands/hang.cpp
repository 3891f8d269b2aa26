// `mpiprof-report hang`: the section, and --until-stuck 10m, which looks at a running job from its files until it ends
// or has hung for so long: for job scripts, which then see why and may end the job. A proof has to stand in three looks
// before anything follows from it, and a command is run on proof alone, of a job all of whose ranks are seen to live:
// what is suspected is only told.
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
#include "report/analysis/hangs.h"
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
                return std::min(rank.updated_at_ns, FileReader::times(file.path).modified_at_ns);
    return rank.updated_at_ns;
}

// Why what the files say may not be all: empty, or a reason.
std::string why_not_sure(const Loaded& loaded) {
    const Job& job = loaded.job;
    const Launch& launch = loaded.launch();
    if (job.lacks_ranks()) return "not every rank has a profile";
    const std::uint64_t now = now_ns();
    for (const Rank& rank : job.ranks) {
        if (rank.state != State::running) continue;
        const std::string who = fmt::format("rank {}", rank.rank);
        if (rank.paused_ns != 0) return who + " has paused its recording";
        if (rank.life == Life::running && is_stopped(rank.pid)) return who + " is stopped, perhaps by a debugger";
        const std::uint64_t patience = 3 * std::max<std::uint64_t>(rank.store_period_ns, 1'000'000'000);
        if (heard_of(rank, launch) + patience < now) return who + " has shown no sign of life for a while";
    }
    return "";
}

class Watchdog {
  public:
    // `command`: for /bin/sh; empty: none.
    Watchdog(const Options& options, double limit_s, const std::string& command)
        : options_(options), limit_ns_(static_cast<std::uint64_t>(limit_s * 1e9)), command_(command) {}

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
        const auto quiet = hang ? std::nullopt : quiet_of(loaded.job);
        is_quiet_ = quiet && quiet->for_ns >= limit_ns_;
        if (!is_proven_ && !is_quiet_) return false;
        show(all);
        if (!command_.empty()) run_command(loaded);
        return true;
    }

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

    void run_command(const Loaded& loaded) const {
        const std::string reason = is_proven_ ? why_not_sure(loaded) : "the hang is not proven";
        if (!reason.empty()) return say(fmt::format("not running {}: {}", command_, reason));
        execl("/bin/sh", "sh", "-c", command_.c_str(), nullptr);
        say(fmt::format("cannot run /bin/sh: {}", std::strerror(errno)));
    }

    const Options& options_;
    std::uint64_t limit_ns_;
    const std::string& command_;
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
        arguments.text("--run", command_,
                       "A command for /bin/sh, run once where it is proven that the job hangs: "
                       "'scancel $SLURM_JOB_ID'",
                       "COMMAND");
        arguments.needs("--until-stuck");
        arguments.interval(interval_s_);
    }

    int run(const Options& options) override {
        if (!until_stuck_s_) return SectionCommand::run(options);
        // Reading a large job takes a while; of a short limit each look is a fraction.
        const double interval_s = interval_s_.value_or(std::clamp(*until_stuck_s_ / 10, 0.1, 60.0));
        return Watchdog(options, *until_stuck_s_, command_).run(interval_s);
    }

  private:
    std::optional<double> until_stuck_s_, interval_s_;
    std::string command_;
};

}  // namespace

std::unique_ptr<Command> make_hang(const Section& section) { return std::make_unique<HangCommand>(section); }

}  // namespace mpiprof::report
