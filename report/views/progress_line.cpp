// A thread that looks at the counters four times a second.
#include "report/views/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "report/model/units.h"

namespace mpiprof::report {

using namespace std::chrono_literals;

ProgressLine::ProgressLine(const Progress& progress, bool is_wanted) : progress_(progress) {
    if (is_wanted && isatty(STDERR_FILENO)) thread_ = std::jthread([this](const std::stop_token& stop) { show(stop); });
}

ProgressLine::~ProgressLine() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
    if (is_shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(const std::stop_token& stop) {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    const auto stopped = [&] { return stop.stop_requested(); };
    if (wake_.wait_for(lock, stop, 500ms, stopped)) return;
    do {
        const auto done = static_cast<double>(progress_.files.load());
        const auto total = static_cast<double>(progress_.total_files.load());
        std::string left;
        if (done > 0 && done < total) {
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
            left = fmt::format("  {}/s  {:.0f} s left", human_count(std::round(done / spent.count())),
                               spent.count() / done * (total - done));
        }
        const std::string line = fmt::format("\r\x1b[Kreading {}/{} ranks  {}{}", human_count(done), human_count(total),
                                             human_bytes(static_cast<double>(progress_.bytes.load())), left);
        std::fputs(line.c_str(), stderr);
        std::fflush(stderr);
        is_shown_ = true;
    } while (!wake_.wait_for(lock, stop, 250ms, stopped));
}

}  // namespace mpiprof::report
