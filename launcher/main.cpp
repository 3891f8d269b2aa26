// mpiprof: runs a command under the profiler, whichever launcher it has, and says the verdict when it has ended. The
// job comes first: what is missing of ours is said in a line, and the command runs all the same.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "launcher/demo.h"
#include "launcher/descent.h"
#include "launcher/plan.h"
#include "launcher/process.h"
#include "report/read/installed.h"

namespace mpiprof::launcher {
namespace {

namespace fs = std::filesystem;
using report::installed_at;
using report::installed_library;
using namespace std::chrono_literals;
constexpr auto patience_for_an_answer = 5s;
constexpr const char* usual_directory = "mpiprof.%j";  // a job of 1,024 ranks leaves one name where it ran
constexpr std::string_view begin_of_usual = "mpiprof.";

struct Options {
    std::string directory;
    bool is_dry = false, is_quiet = false, fetches = false;
    Words command;
};

void say(const std::string& text) { fmt::print(stderr, "mpiprof: {}\n", text); }

std::string value_of(const char* variable) {
    const char* value = std::getenv(variable);
    return value ? value : "";
}

// Of launchers that tell each rank which one it is. SLURM_PROCID is also that of a batch script.
constexpr std::array ranks_variables{"OMPI_COMM_WORLD_RANK", "PMI_RANK",           "PMIX_RANK",
                                     "PALS_RANKID",          "SLURM_STEP_ID",      "JSM_NAMESPACE_RANK",
                                     "FLUX_TASK_RANK",       "TORCHELASTIC_RUN_ID"};

// The process is a rank: what it starts is one, and nobody is spoken to.
bool is_a_rank() {
    return std::any_of(ranks_variables.begin(), ranks_variables.end(),
                       [](const char* name) { return std::getenv(name); });
}

std::string installed_report() { return installed_at({"mpiprof-report", "../report/mpiprof-report"}); }

// What each rank has to have: the preload, and our settings, which not every launcher hands on to other nodes.
Variables variables_for_ranks(const Options& options) {
    Variables variables;
    const std::string library = installed_library();
    if (library.empty()) {
        say("libmpiprof.so was not found next to mpiprof: the command runs unprofiled; install mpiprof as a whole");
    } else {
        std::string preload = library;
        if (options.fetches) preload += ":" + (fs::path(library).parent_path() / "libmpiprof-dlsym.so").string();
        const std::string others = value_of("LD_PRELOAD");
        const bool is_there = (":" + others + ":").find(":" + library + ":") != std::string::npos;
        variables.emplace_back("LD_PRELOAD", is_there ? others : others.empty() ? preload : preload + ":" + others);
    }
    if (!options.directory.empty() || value_of("MPIPROF_DIR").empty())
        variables.emplace_back("MPIPROF_DIR", options.directory.empty() ? usual_directory : options.directory);
    // Who asks for a profile gets one, whatever samples and limits a file has for everyone.
    if (value_of("MPIPROF_CONFIG").empty()) variables.emplace_back("MPIPROF_CONFIG", "none");
    for (char** v = environ; v && *v; ++v) {
        const std::string_view variable(*v);
        const std::string name(variable.substr(0, variable.find('=')));
        const bool is_set =
            std::any_of(variables.begin(), variables.end(), [&](const auto& set) { return set.first == name; });
        if (name.starts_with("MPIPROF_") && !is_set) variables.emplace_back(name, value_of(name.c_str()));
    }
    return variables;
}

bool has_profile_since(const std::string& directory, fs::file_time_type moment) {
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
        std::error_code ignored;
        if (at->path().filename().string().starts_with("mpi_profile.") && at->last_write_time(ignored) >= moment)
            return true;
    }
    return false;
}

// The newest of those that ranks make, if it is this run's; else where it ran, as programs may go elsewhere.
std::string directory_of_this_run(fs::file_time_type began) {
    std::error_code error;
    fs::file_time_type newest = began;
    std::string found = ".";
    for (fs::directory_iterator at(".", error), end; !error && at != end; at.increment(error)) {
        std::error_code ignored;
        const std::string name = at->path().filename().string();
        if (!name.starts_with(begin_of_usual) || !at->is_directory(ignored) || !has_profile_since(name, began))
            continue;
        if (const auto time = at->last_write_time(ignored); time >= newest) {
            newest = time;
            found = name;
        }
    }
    return found;
}

// Why there is no profile, as far as it was seen.
std::string why_none(const Descent& descent, const Words& command, int code) {
    if (const std::string lost = descent.where_lost(command); !lost.empty()) return lost;
    if (code != 0) return fmt::format("the command ended with exit code {}", code);
    if (const std::string suspect = descent.script_that_may_lose_it(command); !suspect.empty())
        return "the preload may not have reached its ranks: " + suspect;
    return "the preload did not reach its ranks, or none called MPI or NCCL. mpiprof doctor names the usual causes";
}

void say_verdict(const std::string& directory, fs::file_time_type began, const std::function<std::string()>& why) {
    if (directory.find('%') != std::string::npos) return say("the profiles are below " + directory);
    if (!has_profile_since(directory, began))
        return say(fmt::format("no profile of this run in {}: {}", directory, why()));
    const std::string report = installed_report();
    if (!report.empty()) fmt::print(stderr, "{}", output_of({report, "--brief", directory}, patience_for_an_answer));
}

int show_demo(Words words) {
    const std::string directory = installed_at({"../share/mpiprof/demo", "../../share/demo"});
    const std::string report = installed_report();
    if (directory.empty() || report.empty()) {
        say(directory.empty() ? "the recorded jobs (share/mpiprof/demo) are not installed with this program"
                              : "mpiprof-report is not installed with this program");
        return 127;
    }
    if (words.empty()) {
        fmt::print("{}", demo_text(directory));
        return 0;
    }
    const Words command = demo_command(report, directory, words[0], {words.begin() + 1, words.end()});
    if (command.empty()) {
        say(fmt::format("no recorded job is called {}: mpiprof demo lists them", words[0]));
        return 2;
    }
    say(fmt::format("cannot run mpiprof-report: {}", std::strerror(become(command, {}))));
    return 127;
}

// Returns only if it cannot be run.
int become_report(const std::string& command, Words words) {
    if (!command.empty()) words.insert(words.begin(), command);
    words.insert(words.begin(), installed_report());
    say(fmt::format("cannot run mpiprof-report: {}", std::strerror(become(words, {}))));
    return 127;
}

constexpr std::pair<const char*, const char*> others[] = {
    {"doctor", "whether a program can be profiled, or why a run left no profile: mpiprof doctor ./app"},
    {"report", "mpiprof-report, with its own commands and options"},
    {"demo", "recorded jobs to look at: mpiprof demo slow-rank"},
};

int run_command(const Options& options) {
    const auto ask = [](const std::string& launcher) {
        return output_of({launcher, "--version"}, patience_for_an_answer);
    };
    const Plan plan = plan_of(options.command, variables_for_ranks(options), ask);
    if (options.is_dry) {
        fmt::print("{}\n", shell_line(plan));
        return 0;
    }
    if (is_a_rank() && plan.launcher.empty()) {
        const int error = become(plan.words, plan.environment);
        say(fmt::format("cannot run {}: {}", plan.words[0], std::strerror(error)));
        return error == ENOENT ? 127 : 126;
    }
    for (const std::string& remark : plan.remarks) say(remark);
    const auto began = fs::file_time_type::clock::now() - 2s;  // file systems have coarse clocks
    Descent descent(installed_library(), plan.launcher);
    const Ended ended = run(plan.words, plan.environment, [&](pid_t command) { return descent.look(command); });
    const std::string asked = options.directory.empty() ? value_of("MPIPROF_DIR") : options.directory;
    if (!options.is_quiet && ended.signal == 0 && ended.code != 126 && ended.code != 127)
        say_verdict(asked.empty() ? directory_of_this_run(began) : asked, began,
                    [&] { return why_none(descent, options.command, ended.code); });
    end_as(ended);
}

}  // namespace
}  // namespace mpiprof::launcher

int main(int argc, char** argv) {
    using namespace mpiprof::launcher;
    CLI::App app("Runs a command under mpiprof and reports where its time went.", "mpiprof");
    app.set_version_flag("--version", "mpiprof " MPIPROF_VERSION);
    app.require_subcommand(1);
    Options options;
    CLI::App* run = app.add_subcommand(
        "run", "profile a command: mpiprof run -- mpirun -n 64 ./app, or mpirun -n 64 mpiprof run -- ./app");
    run->add_option("--dir", options.directory,
                    "Where the profiles go, as MPIPROF_DIR (default: mpiprof.<job> in the working directory)");
    run->add_flag("--dlsym", options.fetches,
                  "Preload libmpiprof-dlsym.so as well: for MPI.jl, ctypes, and host times of JAX");
    run->add_flag("--dry-run", options.is_dry, "Only print the command as it would be run");
    run->add_flag("--quiet", options.is_quiet, "Do not print the verdict when the command has ended");
    run->add_option("command", options.command, "The command, behind --")->required();
    run->positionals_at_end();
    for (const auto& [name, about] : others) app.add_subcommand(name, about);
    // What these are given is theirs, -- and options of the same names included.
    const Words words(argv + std::min(argc, 2), argv + argc);
    const std::string_view asked = argc > 1 ? argv[1] : "";
    if (asked == "demo") return show_demo(words);
    if (asked == "doctor" || asked == "report") return become_report(asked == "doctor" ? "doctor" : "", words);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) ? 2 : 0;
    }
    return run_command(options);
}
