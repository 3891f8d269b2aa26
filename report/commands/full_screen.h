// A terminal as a screen of our own: what was there before comes back at the end, keys arrive as they are pressed. For
// watch.
#pragma once

#include <termios.h>

#include <optional>
#include <string>
#include <vector>

namespace mpiprof::report {

// What is printed stands for itself.
enum Key : int { enter = '\n', escape = 0x1b, backspace = 0x7f, up = 256, down, page_up, page_down };

class FullScreen {
  public:
    FullScreen();  // stdin and stdout are terminals
    ~FullScreen();
    FullScreen(const FullScreen&) = delete;

    // The next key, within so many seconds; empty: none, or a signal came.
    std::optional<int> key(double seconds);
    // As many lines as there are rows, from `first` on, and `foot` in the last row.
    void show(const std::vector<std::string>& lines, std::size_t first, const std::string& foot) const;
    static bool is_possible();
    static std::size_t rows();

  private:
    termios before_{};
    std::string typed_;  // and not yet taken
};

}  // namespace mpiprof::report
