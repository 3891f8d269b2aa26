// Lines on stderr, and output that is checked to its last byte.
#include "report/commands/say.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "report/model/visible.h"
#include "report/views/terminal.h"

namespace mpiprof::report {

void say(std::string_view text) {
    const bool utf8 = screen_for(stderr, {}).has_utf8;
    std::string_view prefix = "mpiprof-report: ";
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string line = visible(text.substr(0, end), utf8);
        fmt::print(stderr, "{}{}\n", prefix, line);
        text.remove_prefix(std::min(end + 1, text.size()));
        prefix = "";
    }
}

int fail(const Problem& problem, ExitCode code) {
    say(problem.line());
    return code;
}

void say_all(const std::vector<std::string>& lines, bool is_quiet) {
    if (is_quiet) return;
    for (const std::string& line : lines) say(line);
}

Result<Output> Output::open(const std::string& path) {
    if (path.empty() || path == "-") return Output(stdout, "stdout");
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (!file) return problem(path, fmt::format("cannot be written: {}", std::strerror(errno)));
    return Output(file, path);
}

Result<std::monostate> Output::finish() {
    if (std::fflush(file_.get()) == 0 && !std::ferror(file_.get())) return std::monostate{};
    return problem(path_, fmt::format("cannot be written: {}", std::strerror(errno)));
}

int finish(Output& output) {
    if (const auto ok = output.finish(); !ok) return fail(ok.error(), check_failed);
    return fine;
}

}  // namespace mpiprof::report
