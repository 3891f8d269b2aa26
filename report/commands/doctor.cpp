// Three questions: of a program, of a command that starts one, and, behind a run, of the directory where it ran.
// Nothing is run.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/commands/command.h"
#include "report/commands/say.h"
#include "report/commands/symptoms.h"
#include "report/views/fitting.h"
#include "report/views/terminal.h"

namespace mpiprof::report {
namespace {

// As a shell finds it.
std::string found_in_path(const std::string& name) {
    namespace fs = std::filesystem;
    if (name.find('/') != std::string::npos) return name;
    const char* variable = std::getenv("PATH");
    std::string_view path = variable ? variable : "";
    while (!path.empty()) {
        const auto end = std::min(path.find(':'), path.size());
        const std::string candidate = fmt::format("{}/{}", path.substr(0, end), name);
        if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return fs::exists(name) ? "./" + name : name;
}

// As it is installed beside this program.
std::string library() {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const char* place : {"../lib/libmpiprof.so", "../libmpiprof/libmpiprof.so"})
        if (const fs::path path = (own / place).lexically_normal(); fs::exists(path, error)) return path.string();
    return "/path/libmpiprof.so";
}

bool is_hopeless(const Symptoms& symptoms) {
    return std::ranges::any_of(symptoms, [](const Symptom& s) { return s.weight == Weight::fatal; });
}

void write(Output& output, const Symptoms& symptoms, std::size_t width) {
    for (const Symptom& symptom : symptoms) {
        std::string margin = fmt::format("  {} ", static_cast<char>(symptom.weight));
        for (const std::string& line : wrapped(symptom.text, width - margin.size())) {
            output.write(margin + line + "\n");
            margin.assign(margin.size(), ' ');
        }
    }
}

// A number, an option or an assignment is an argument of what stands before it, whatever lies in this directory.
bool may_be_program(const std::string& word) {
    return !word.empty() && word[0] != '-' && word.find('=') == std::string::npos &&
           !std::isdigit(static_cast<unsigned char>(word[0]));
}

// Of the programs of a command line the first that has MPI or NCCL, else the last, and those before it that stand in
// its way.
std::vector<std::string> programs_of(const std::vector<std::string>& command) {
    std::vector<std::string> programs;
    std::string last;
    for (const std::string& word : command) {
        const std::string path = found_in_path(word);
        std::error_code error;
        if (!may_be_program(word) || access(path.c_str(), X_OK) != 0 || std::filesystem::is_directory(path, error))
            continue;
        const auto file = read_program(path);
        if (!file || (!file->is_elf && file->interpreter.empty())) continue;
        last = path;
        const Symptoms symptoms = symptoms_of_program(path, *file);
        const bool is_seen = std::ranges::any_of(symptoms, &Symptom::is_seen);
        if (is_seen || is_hopeless(symptoms)) programs.push_back(path);
        if (is_seen) return programs;
    }
    if (!last.empty() && (programs.empty() || programs.back() != last)) programs.push_back(last);
    return programs;
}

class Doctor : public Command {
  public:
    int run(const Options& options) override {
        width_ = screen_for(stdout, options.screen).width;
        if (options.paths.empty()) return after_a_run();
        if (options.is_command_line && options.paths.size() > 1) return of_command(options.paths);
        if (options.paths.size() > 1)
            return fail({"doctor", "names one program", "mpiprof-report doctor ./app, or doctor -- mpirun -n 4 ./app"},
                        usage_error);
        const int code = of_program(found_in_path(options.paths.front()), *output_);
        return code == usage_error ? code : end(symptoms_of_environment(), code != fine);
    }

  private:
    int end(const Symptoms& symptoms, bool is_hopeless_already) {
        write(*output_, symptoms, width_);
        const int code = finish(*output_);
        return code == fine && (is_hopeless_already || is_hopeless(symptoms)) ? check_failed : code;
    }

    int of_program(const std::string& path, Output& output) const {
        const auto file = read_program(path);
        if (!file) return fail({path, "cannot be read", "name the program that mpirun starts"}, usage_error);
        const Symptoms symptoms = symptoms_of_program(path, *file);
        const bool is_none = is_hopeless(symptoms);
        output.write(path + (is_none ? ": cannot be profiled as it is\n"
                                     : fmt::format(": can be profiled by LD_PRELOAD={}\n", library())));
        write(output, symptoms, width_);
        return is_none ? check_failed : fine;
    }

    int of_command(const std::vector<std::string>& command) {
        const std::vector<std::string> programs = programs_of(command);
        if (programs.empty())
            return fail({command.front(), "is no program that can be found", "name it as the job's script does"},
                        usage_error);
        int worst = fine;
        for (const std::string& path : programs) worst = std::max(worst, of_program(path, *output_));
        return end(symptoms_of_environment(), worst != fine);
    }

    int after_a_run() {
        std::error_code error;
        output_->write(fmt::format("{}:\n", std::filesystem::current_path(error).string()));
        Symptoms symptoms = symptoms_after_a_run();
        const bool has_profiles = std::ranges::any_of(symptoms, &Symptom::is_seen);
        add(symptoms, symptoms_of_environment());
        return end(symptoms, !has_profiles);
    }

    std::size_t width_ = 80;
    Result<Output> output_ = Output::open("");
};

}  // namespace

std::unique_ptr<Command> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace mpiprof::report
