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
#include "report/read/installed.h"
#include "report/views/fitting.h"
#include "report/views/terminal.h"

namespace mpiprof::report {
namespace {

// As a shell finds it, else in this directory.
std::string path_of(const std::string& word) {
    const std::string found = found_in_path(word);
    return !found.empty() ? found : word.find('/') == std::string::npos ? "./" + word : word;
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

struct Examined {
    std::string path;
    Symptoms symptoms;
};

// Of the programs of a command line the first that has MPI or NCCL, else the last, and those before it that stand in
// its way.
std::vector<Examined> programs_of(const std::vector<std::string>& command) {
    std::vector<Examined> programs;
    Examined last;
    for (const std::string& word : command) {
        const std::string path = may_be_program(word) ? found_in_path(word) : "";
        const auto file = path.empty() ? std::nullopt : read_program(path);
        if (!file || (!file->is_elf && file->interpreter.empty())) continue;
        last = {path, symptoms_of_program(path, *file)};
        const bool is_seen = std::ranges::any_of(last.symptoms, &Symptom::is_seen);
        if (is_seen || is_hopeless(last.symptoms)) programs.push_back(last);
        if (is_seen) return programs;
    }
    if (!last.path.empty() && (programs.empty() || programs.back().path != last.path)) programs.push_back(last);
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
        return of_program(path_of(options.paths.front()));
    }

  private:
    int end(const Symptoms& symptoms, bool is_hopeless_already) {
        write(*output_, symptoms, width_);
        const int code = finish(*output_);
        return code == fine && (is_hopeless_already || is_hopeless(symptoms)) ? check_failed : code;
    }

    int of_program(const std::string& path) {
        const auto file = read_program(path);
        if (!file) return fail({path, "cannot be read", "name the program that mpirun starts"}, usage_error);
        return of_all({{path, symptoms_of_program(path, *file)}});
    }

    int of_command(const std::vector<std::string>& command) {
        const std::vector<Examined> programs = programs_of(command);
        if (programs.empty())
            return fail({command.front(), "is no program that can be found", "name it as the job's script does"},
                        usage_error);
        return of_all(programs);
    }

    int of_all(const std::vector<Examined>& programs) {
        bool is_none = false;
        const std::string library = installed_library();
        for (const Examined& program : programs) {
            const bool is_not = is_hopeless(program.symptoms);
            is_none |= is_not;
            output_->write(program.path + (is_not ? ": cannot be profiled as it is\n"
                                                  : fmt::format(": can be profiled by LD_PRELOAD={}\n",
                                                                library.empty() ? "/path/libmpiprof.so" : library)));
            write(*output_, program.symptoms, width_);
        }
        return end(symptoms_of_environment(), is_none);
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
