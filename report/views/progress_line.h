// One line on stderr that says how far a slow read is; only on a terminal and only after half a second.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "report/model/progress.h"

namespace mpiprof::report {

class ProgressLine {
  public:
    ProgressLine(const Progress& progress, bool is_wanted);
    ~ProgressLine();  // wipes the line
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

  private:
    void show(const std::stop_token& stop);

    const Progress& progress_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    bool is_shown_ = false;
    std::jthread thread_;  // last: it uses the others
};

}  // namespace mpiprof::report
