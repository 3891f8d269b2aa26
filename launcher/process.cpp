// The signals that a command should get are taken synchronously while it runs. Those that a terminal sends go to the
// whole foreground group, the command included: they are not sent twice.
#include "launcher/process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace mpiprof::launcher {
namespace {

constexpr std::array handed_on{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT};

std::vector<char*> arguments(const Words& words) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    return argv;
}

Ended ended_by(int status) {
    if (WIFSIGNALED(status)) return {.code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
    return {.code = WEXITSTATUS(status), .signal = 0};
}

[[noreturn]] void start(const Words& words, const Variables& environment) {
    const int error = become(words, environment);
    fmt::print(stderr, "mpiprof: cannot run {}: {}\n", words[0], std::strerror(error));
    _exit(error == ENOENT ? 127 : 126);
}

}  // namespace

int become(const Words& words, const Variables& environment) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    auto argv = arguments(words);
    execvp(argv[0], argv.data());
    return errno;
}

Ended run(const Words& words, const Variables& environment, const Look& look) {
    sigset_t watched, before;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    for (const int signal : handed_on) sigaddset(&watched, signal);
    sigprocmask(SIG_BLOCK, &watched, &before);
    const pid_t child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, nullptr);
        start(words, environment);
    }
    if (child < 0) return {.code = 126, .signal = 0};
    int status = 0;
    for (auto pause = std::chrono::milliseconds(1); true;) {
        siginfo_t info{};
        const timespec limit{pause.count() / 1000, pause.count() % 1000 * 1'000'000};
        const int signal = pause.count() > 0 ? sigtimedwait(&watched, &info, &limit) : sigwaitinfo(&watched, &info);
        if (signal < 0 && errno == EAGAIN) pause = look(child);
        if (waitpid(child, &status, WNOHANG) == child) break;
        const bool is_by_terminal = info.si_code == SI_KERNEL && (signal == SIGINT || signal == SIGQUIT);
        if (signal > 0 && signal != SIGCHLD && !is_by_terminal) kill(child, signal);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return ended_by(status);
}

std::string output_of(const Words& words, std::chrono::milliseconds limit) {
    int ends[2];
    if (pipe(ends) != 0) return "";
    const pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        if (!freopen("/dev/null", "r", stdin)) _exit(127);
        (void)become(words, {});
        _exit(127);
    }
    close(ends[1]);
    std::string text;
    const auto end = std::chrono::steady_clock::now() + limit;
    pollfd from{ends[0], POLLIN, 0};
    while (child > 0) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        char some[4096];
        if (left.count() <= 0 || poll(&from, 1, static_cast<int>(left.count())) <= 0) break;
        const ssize_t n = read(ends[0], some, sizeof some);
        if (n <= 0) break;
        text.append(some, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    if (child > 0) {
        kill(-child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    return text;
}

void end_as(const Ended& ended) {
    if (ended.signal == 0) std::exit(ended.code);
    // Whoever waits for this process sees the signal; a core is the command's own.
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(ended.signal, SIG_DFL);
    raise(ended.signal);
    std::exit(128 + ended.signal);
}

}  // namespace mpiprof::launcher
