// Sequences of ECMA-48 that every terminal of today knows; none is looked up.
#include "report/commands/full_screen.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "report/views/terminal.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t usual_rows = 24;

void write_all(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

struct Sequence {
    std::string_view bytes;
    int key;
};
constexpr std::array sequences{
    Sequence{"\x1b[A", up},       Sequence{"\x1b[B", down},       Sequence{"\x1bOA", up}, Sequence{"\x1bOB", down},
    Sequence{"\x1b[5~", page_up}, Sequence{"\x1b[6~", page_down}, Sequence{"\r", enter},  Sequence{"\b", backspace},
};

}  // namespace

bool FullScreen::is_possible() { return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO); }

std::size_t FullScreen::rows() {
    const unsigned rows = rows_of(stdout);
    return rows == 0 ? usual_rows : rows;
}

FullScreen::FullScreen() {
    tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE;  // stopped, it would leave the terminal as it is now
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    write_all("\x1b[?1049h\x1b[?25l");
}

FullScreen::~FullScreen() {
    write_all("\x1b[?25h\x1b[?1049l");
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::optional<int> FullScreen::key(double seconds) {
    if (typed_.empty()) {
        pollfd input{STDIN_FILENO, POLLIN, 0};
        if (poll(&input, 1, static_cast<int>(std::max(0.0, seconds) * 1000)) != 1) return std::nullopt;
        std::array<char, 256> bytes{};
        const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
        if (count <= 0) return 'q';  // the terminal is gone
        typed_.assign(bytes.data(), static_cast<std::size_t>(count));
    }
    for (const Sequence& known : sequences) {
        if (!typed_.starts_with(known.bytes)) continue;
        typed_.erase(0, known.bytes.size());
        return known.key;
    }
    // An unknown sequence is one key that means nothing; the escape key alone is no beginning of one.
    const int key = static_cast<unsigned char>(typed_.front());
    const bool is_sequence = typed_.starts_with("\x1b[") || typed_.starts_with("\x1bO");
    typed_.erase(0, is_sequence ? std::string::npos : 1);
    return is_sequence ? 0 : key;
}

void FullScreen::show(const std::vector<std::string>& lines, std::size_t first, const std::string& foot) const {
    const std::size_t room = rows() - 1;
    std::string screen = "\x1b[H";
    for (std::size_t i = 0; i < room; ++i) {
        if (first + i < lines.size()) screen += lines[first + i];
        screen += "\x1b[K\r\n";  // what is left of the line before is cleared: no flicker
    }
    write_all(screen + "\x1b[7m" + foot + "\x1b[K\x1b[0m");
}

}  // namespace mpiprof::report
