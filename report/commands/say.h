// What the reporter says beside its answers (on stderr), and where the answers go. For the commands.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/model/result.h"

namespace mpiprof::report {

enum ExitCode {
    fine = 0,
    check_failed = 1,
    usage_error = 2,
    no_profile = 3,
    cannot_tell = 4,  // what was to be checked
    stuck = 5,        // hang --until-stuck: the job
};

// One line each on stderr, so that a hostile name cannot begin one.
void say(std::string_view text);
int fail(const Problem& problem, ExitCode code);
// Each of them, unless --quiet forbids it.
void say_all(const std::vector<std::string>& lines, bool is_quiet);

// stdout, or the file that was asked for; says so if it cannot all be written.
class Output {
  public:
    static Result<Output> open(const std::string& path);
    void write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), file_.get()); }
    void flush() { std::fflush(file_.get()); }
    Result<std::monostate> finish();

  private:
    struct Close {
        void operator()(std::FILE* file) const {
            if (file != stdout) std::fclose(file);
        }
    };
    Output(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
    std::unique_ptr<std::FILE, Close> file_;
    std::string path_;
};

int finish(Output& output);

}  // namespace mpiprof::report
