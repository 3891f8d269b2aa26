// Signs of life, the latest of which counts.
#include "report/read/liveness.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "libmpiprof/format/facts.h"

namespace mpiprof::report {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

std::uint64_t wall_clock() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
}

// CLOCK_MONOTONIC, on which profiles have their beginning and end, too.
std::uint64_t monotonic_clock() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
}

std::uint64_t boot_time_ns() {
    std::ifstream stat("/proc/stat");
    std::uint64_t seconds = 0;
    for (std::string word; stat >> word;) {
        if (word == "btime") return stat >> seconds ? seconds * second : 0;
        stat.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return 0;
}

// When a process of this machine began, in ticks after boot; 0 = there is none of that number. The 22nd field of its
// stat line, counted behind the name, which may hold blanks and parentheses.
std::uint64_t process_start_ticks(std::uint32_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(file, line);
    const auto name_end = line.rfind(')');
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(line.substr(name_end + 1));
    std::string state;
    fields >> state;
    if (state == "Z" || state == "X") return 0;
    for (int i = 4; i < 22; ++i) fields >> state;
    std::uint64_t ticks = 0;
    return fields >> ticks ? ticks : 0;
}

std::uint64_t process_start_ns(std::uint32_t pid) {
    const std::uint64_t ticks = process_start_ticks(pid);
    if (ticks == 0) return 0;
    static const std::uint64_t boot = boot_time_ns();
    return boot + ticks * (second / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)));
}

// The PID namespace and the start that the process has had by its own word; zeros where it did not say.
struct KernelsName {
    std::uint64_t pid_namespace = 0, start = 0;
};
KernelsName kernels_name_of(const Profile& profile) {
    KernelsName name;
    for (const Fact& fact : profile.facts)
        if (fact.kind == FactKind::process && fact.name == format::facts::kernels_name)
            std::istringstream(fact.value) >> name.pid_namespace >> name.start;
    return name;
}

std::uint64_t own_pid_namespace() {
    char link[64] = "";
    std::uint64_t inode = 0;
    const ssize_t n = readlink("/proc/self/ns/pid", link, sizeof link - 1);
    if (n > 5) std::istringstream(std::string(link + 5)) >> inode;  // behind "pid:["
    return inode;
}

// In another PID namespace than ours a number means another process, or none; on another machine, too, whatever its
// name.
bool can_be_looked_at(const Profile& profile, std::uint64_t pid_namespace) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    static const std::uint64_t own = own_pid_namespace();
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    if (profile.pid == 0 || profile.host != host) return false;
    if (pid_namespace == 0 || own == 0) return true;
    return pid_namespace == own && (boot.empty() || profile.node.starts_with(boot));
}

Life life_of(const Profile& profile) {
    const auto [pid_namespace, start] = kernels_name_of(profile);
    if (!can_be_looked_at(profile, pid_namespace)) return Life::unknown;
    if (start != 0) return process_start_ticks(profile.pid) == start ? Life::running : Life::ended;
    if (profile.process_ns == 0) return Life::unknown;
    const std::uint64_t began = process_start_ns(profile.pid);
    const std::uint64_t recorded = profile.updated_at_ns - std::min(profile.updated_at_ns, profile.process_ns);
    // The boot time is in whole seconds; another process with this number began later than that.
    const bool is_the_same = began != 0 && std::max(began, recorded) - std::min(began, recorded) < 2 * second;
    return is_the_same ? Life::running : Life::ended;
}

// A file's time of change is a sign of life unless it is a copy, which was born after the process began.
bool is_original(const Profile& profile, const FileTimes& times) {
    return times.born_at_ns != 0 && profile.started_at_ns != 0 &&
           times.born_at_ns < profile.started_at_ns + 10 * second &&
           times.born_at_ns + 600 * second > profile.started_at_ns;
}

void lives_until(Profile& profile, std::uint64_t moment_ns, std::uint64_t longer_at_most = ~std::uint64_t{0}) {
    if (moment_ns <= profile.updated_at_ns || profile.updated_at_ns == 0) return;
    const std::uint64_t longer = std::min(moment_ns - profile.updated_at_ns, longer_at_most);
    profile.updated_at_ns = moment_ns;
    profile.elapsed_ns += longer;
    if (profile.process_ns) profile.process_ns += longer;
}

// How long ago it was updated, by a clock that nobody sets and that stands while the machine sleeps: the wall clock may
// have been set ahead since. Of processes of this machine; a clock that is behind the profile's is another one.
std::uint64_t longer_at_most(const Profile& profile, const SignsOfLife& signs) {
    const std::uint64_t updated = profile.started_monotonic_ns + profile.elapsed_ns;
    const bool is_known =
        signs.process == Life::running && profile.started_monotonic_ns != 0 && signs.monotonic_ns != 0;
    return is_known && signs.monotonic_ns >= updated ? signs.monotonic_ns - updated : ~std::uint64_t{0};
}

// What the profile itself has seen: the beginning of the call it is in, the calls of its main thread, and its regions
// and iterations. A program that only marks has no others.
std::uint64_t seen_ns(const Profile& profile) {
    std::uint64_t seen = 0;
    std::uint64_t in_main = 0;
    for (const Thread& thread : profile.threads) seen = std::max(seen, thread.in_call_since_ns);
    for (const Cell& cell : profile.cells)
        if (profile.threads[cell.thread].kind == ThreadKind::main) in_main += cell.time_ns;
    for (const Region& region : profile.regions) seen = std::max(seen, region.time_ns);
    return std::max(seen, in_main);
}

// Of a rank on another machine: it was updated a moment ago. (One that was not may be stopped, or out of sight.)
bool was_seen_just_now(const Profile& profile, std::uint64_t now) {
    const std::uint64_t patience = 5 * second + 2 * profile.store_period_ns;
    return profile.tells_its_life && profile.updated_at_ns < now + patience && now < profile.updated_at_ns + patience;
}

}  // namespace

SignsOfLife signs_here(const Profile& profile, const FileTimes& times) {
    return {.times = times, .now_ns = wall_clock(), .monotonic_ns = monotonic_clock(), .process = life_of(profile)};
}

void look_for_life(Profile& profile, const SignsOfLife& signs) {
    profile.life = signs.process;
    if (profile.life == Life::unknown && was_seen_just_now(profile, signs.now_ns)) profile.life = Life::running;
    if (profile.state == State::finalized) {
        profile.is_in_finalize = profile.life == Life::running;
        if (profile.is_in_finalize && signs.now_ns > profile.updated_at_ns)
            profile.finalize_ns = signs.now_ns - profile.updated_at_ns;
        return;
    }
    profile.is_end_estimated = profile.life != Life::running;
    if (profile.life == Life::running) return lives_until(profile, signs.now_ns, longer_at_most(profile, signs));
    const std::uint64_t seen = seen_ns(profile);
    if (seen > profile.elapsed_ns) lives_until(profile, profile.updated_at_ns + (seen - profile.elapsed_ns));
    if (!profile.tells_its_life && is_original(profile, signs.times)) lives_until(profile, signs.times.modified_at_ns);
}

}  // namespace mpiprof::report
