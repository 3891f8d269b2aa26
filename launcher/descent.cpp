// A process is looked at again after each exec, since the same one may have the preload as a shell and lose it as the
// program. The time between two looks is a quarter of the time that the command has run: what lives that long is seen,
// and a job of a day costs a few hundred looks.
#include "launcher/descent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>

#include "report/model/base_name.h"
#include "report/read/installed.h"
#include "report/read/losing_line.h"

namespace mpiprof::launcher {
namespace {

namespace fs = std::filesystem;
using report::base_name;
using report::is_script;
using report::losing_line;
using namespace std::chrono_literals;
constexpr std::chrono::milliseconds soonest = 10ms, latest = 60s;
constexpr std::size_t most_processes = 2000, most_scripts = 100;

std::string link_of(pid_t process, const char* name) {
    std::error_code error;
    return fs::read_symlink(fmt::format("/proc/{}/{}", process, name), error).string();
}

// Words that end with a zero byte each, as the kernel shows arguments and variables.
Words words_of(pid_t process, const char* name) {
    std::ifstream file(fmt::format("/proc/{}/{}", process, name), std::ios::binary);
    Words words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    return words;
}

// All that any thread of it has started.
std::vector<pid_t> children_of(pid_t process) {
    std::vector<pid_t> children;
    std::error_code error;
    for (fs::directory_iterator task(fmt::format("/proc/{}/task", process), error), end; !error && task != end;
         task.increment(error)) {
        std::ifstream file(task->path() / "children");
        for (pid_t child; file >> child;) children.push_back(child);
    }
    return children;
}

// The script that an interpreter runs: its first argument that is no option, if that is a script.
std::string script_of(pid_t process, const Words& arguments) {
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        if (arguments[i].starts_with('-')) continue;
        const fs::path path = fs::path(link_of(process, "cwd")) / arguments[i];
        return is_script(path) ? path.string() : "";
    }
    return "";
}

// Empty: there is none.
std::string first_program_behind(const std::string& launcher, const Words& words) {
    auto at = std::find(words.begin(), words.end(), launcher);
    for (at = at == words.end() ? at : at + 1; at != words.end(); ++at)
        if (!report::found_in_path(*at).empty()) return *at;
    return "";
}

constexpr std::array communication_libraries{"libmpi.so", "libmpi_", "libmpich", "libnccl.so", "librccl.so"};

bool communicates(const std::string& file) {
    return std::any_of(communication_libraries.begin(), communication_libraries.end(),
                       [&](const char* name) { return file.starts_with(name); });
}

}  // namespace

std::string Descent::Program::name() const { return base_name(script.empty() ? executable : script); }

Descent::Descent(std::string library, std::string launcher)
    : library_(std::move(library)), launcher_(std::move(launcher)), began_(std::chrono::steady_clock::now()) {}

void Descent::look_at(pid_t process, pid_t parent) {
    const Words arguments = words_of(process, "cmdline");
    const std::string executable = link_of(process, "exe");
    std::string identity = executable;
    for (const std::string& argument : arguments) identity += '\0' + argument;
    Process& known = processes_[process];
    known.parent = parent;
    if (known.programs.empty() || known.programs.back().identity != identity) {
        Program started{.identity = identity, .executable = executable, .script = script_of(process, arguments)};
        for (const std::string& variable : words_of(process, "environ"))
            if (variable.starts_with("LD_PRELOAD=") && variable.find(library_) != std::string::npos)
                started.was_given = true;
        known.programs.push_back(std::move(started));
    }
    Program& program = known.programs.back();
    if (program.is_loaded && program.uses_mpi_or_nccl) return;
    std::ifstream maps(fmt::format("/proc/{}/maps", process));
    bool has_loader = false, has_c_library = false, is_legible = false;
    for (std::string line; std::getline(maps, line);) {
        is_legible = true;
        const auto path = line.find('/');
        if (path == std::string::npos) continue;
        const std::string file = base_name(line.substr(path));
        if (file.starts_with("libmpiprof.so")) program.is_loaded = true;
        if (communicates(file)) program.uses_mpi_or_nccl = true;
        has_loader |= file.starts_with("ld-");
        has_c_library |= file.starts_with("libc.so") || file.starts_with("libc-") || file.starts_with("ld-musl");
    }
    program.is_past_its_loader = is_legible && (has_c_library || !has_loader);
    has_reached_a_rank_ |= program.is_loaded && program.uses_mpi_or_nccl;
}

std::chrono::milliseconds Descent::look(pid_t command) {
    std::vector<std::pair<pid_t, pid_t>> to_see{{command, getpid()}};
    for (std::size_t i = 0; i < to_see.size() && to_see.size() < most_processes; ++i) {
        look_at(to_see[i].first, to_see[i].second);
        if (has_reached_a_rank_) return 0ms;
        for (const pid_t child : children_of(to_see[i].first)) to_see.emplace_back(child, to_see[i].first);
    }
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_);
    return std::clamp(age / 4, soonest, latest);
}

template <class Is>
const Descent::Program* Descent::first_that(Is is, Place& place) const {
    for (const auto& [process, known] : processes_)
        for (std::size_t i = 0; i < known.programs.size(); ++i)
            if (is(known.programs[i])) {
                place = {process, i};
                return &known.programs[i];
            }
    return nullptr;
}

// The nearest program that is so, before it in its own process or above it.
template <class Is>
const Descent::Program* Descent::nearest_above(Is is, Place place) const {
    for (std::size_t before = place.program;;) {
        const auto known = processes_.find(place.process);
        if (known == processes_.end()) return nullptr;
        const auto& programs = known->second.programs;
        for (std::size_t i = std::min(before, programs.size()); i-- > 0;)
            if (is(programs[i])) return &programs[i];
        place.process = known->second.parent;
        before = SIZE_MAX;
    }
}

std::string Descent::script_that_may_lose_it(const Words& words) const {
    Words scripts = words;
    for (const auto& [process, known] : processes_)
        for (const Program& program : known.programs) scripts.push_back(program.script);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < scripts.size() && i < most_scripts; ++i) {
        if (!seen.insert(scripts[i]).second) continue;
        if (const std::string line = losing_line(scripts[i]); !line.empty())
            return fmt::format("{} may have lost it ({})", base_name(scripts[i]), line);
        for (std::string& named : report::scripts_named_in(scripts[i], ".")) scripts.push_back(std::move(named));
    }
    return "";
}

// Of a script that was seen to have it, and what it starts not, a line that loses it is why. Of others it may be; else
// it is known between which two it was lost, as what is between them may not have been seen.
std::string Descent::who_lost_it(Place place, const Words& words) const {
    const Program* script = nearest_above([](auto& p) { return p.was_given && !p.script.empty(); }, place);
    if (const std::string line = script ? losing_line(script->script) : ""; !line.empty())
        return fmt::format("{} lost it ({})", script->name(), line);
    if (const std::string suspect = script_that_may_lose_it(words); !suspect.empty()) return suspect;
    const std::string rank = processes_.at(place.process).programs[place.program].name();
    const Program* had_it = nearest_above([](auto& p) { return p.was_given; }, place);
    if (had_it) return fmt::format("it was lost between {} and {}", had_it->name(), rank);
    const std::string first = base_name(launcher_.empty() ? words.front() : launcher_);
    if (first == rank) return "";
    if (!launcher_.empty() && base_name(first_program_behind(launcher_, words)) == rank)
        return first + " did not pass it on";
    return fmt::format("it was lost between {} and {}", first, rank);
}

std::string Descent::where_lost(const Words& words) const {
    Place place;
    if (const Program* rank = first_that([](auto& p) { return p.uses_mpi_or_nccl && p.is_loaded; }, place))
        return fmt::format(
            "the preload reached {}, which ended before MPI_Init, was left out by a setting or writes its "
            "profiles elsewhere; mpiprof doctor {}",
            rank->name(), rank->executable);
    if (const Program* rank = first_that([](auto& p) { return p.uses_mpi_or_nccl && !p.was_given; }, place)) {
        const std::string who = who_lost_it(place, words);
        return fmt::format("the preload did not reach {}{}{}", rank->name(), who.empty() ? "" : ": ", who);
    }
    if (const Program* rank =
            first_that([](auto& p) { return p.was_given && !p.is_loaded && p.is_past_its_loader; }, place))
        return fmt::format("{} was started with LD_PRELOAD, and its loader did not load the library; mpiprof doctor {}",
                           rank->name(), rank->executable);
    return "";
}

}  // namespace mpiprof::launcher
