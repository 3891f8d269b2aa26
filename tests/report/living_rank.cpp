#include "tests/report/living_rank.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "tests/report/stories.h"

namespace mpiprof::test {

std::uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

LivingRank::LivingRank() : process_(fork()) {
    if (process_ == 0) {
        pause();
        _exit(0);
    }
}

void LivingRank::end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
}

ProfileSpec LivingRank::profile() const {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    ProfileSpec spec = uneven_work()[0];
    spec.size = 1;
    spec.host = host;
    spec.pid = static_cast<std::uint32_t>(process_);
    spec.state = format::State::running;
    spec.before_init_ns = spec.init_ns = 1'000'000;
    spec.start_realtime_ns = now_ns();
    spec.elapsed_ns = 1'000'000;
    return spec;
}

}  // namespace mpiprof::test
