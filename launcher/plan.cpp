// Launchers are known by what they say of themselves, since every MPI calls its own mpirun or mpiexec.
#include "launcher/plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>

#include "report/model/base_name.h"

namespace mpiprof::launcher {
namespace {

using report::base_name;

// What may stand before a launcher on its line.
constexpr std::array before_launchers{"env",     "nohup",   "time",   "timeout", "nice", "ionice",
                                      "taskset", "numactl", "stdbuf", "strace",  "chrt", "setsid"};
constexpr std::array launchers{"mpirun", "mpiexec", "orterun", "prterun", "srun", "jsrun", "flux", "aprun", "ibrun"};

enum class How { words_with_equals, three_words, export_list };

struct Kind {
    std::string_view says;    // in its answer about its version, or its name where nobody is asked
    std::string_view option;  // in front of a variable
    How how;
};
constexpr std::array kinds{
    Kind{"Open MPI", "-x", How::words_with_equals},  Kind{"OpenRTE", "-x", How::words_with_equals},
    Kind{"PRRTE", "-x", How::words_with_equals},     Kind{"HYDRA", "-genv", How::three_words},
    Kind{"Intel(R) MPI", "-genv", How::three_words}, Kind{"PALS", "--env", How::words_with_equals},
    Kind{"srun", "--export", How::export_list},      Kind{"jsrun", "-E", How::words_with_equals},
    Kind{"flux", "--env", How::words_with_equals},
};

template <class Names>
bool is_one_of(const Names& names, std::string_view word) {
    // "mpirun.openmpi", "mpiexec.hydra": distributions call them so.
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return word == name || word.starts_with(fmt::format("{}.", name));
    });
}

// An option, an assignment or a number in front of the command proper: `timeout 60`, `env -i A=b`, `nice -n 5`.
bool is_an_argument(std::string_view word) {
    return word.starts_with('-') || word.find('=') != std::string_view::npos ||
           (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])));
}

std::optional<std::size_t> place_of_launcher(const Words& command) {
    for (std::size_t i = 0; i < command.size(); ++i) {
        const std::string word = base_name(command[i]);
        if (is_one_of(launchers, word)) return i;
        const bool may_stand_before = is_one_of(before_launchers, word) || (i > 0 && is_an_argument(command[i]));
        if (!may_stand_before) return {};
    }
    return {};
}

const Kind* kind_of(const std::string& launcher, const std::function<std::string(const std::string&)>& ask) {
    const std::string name = base_name(launcher);
    for (const Kind& kind : kinds)
        if (name == kind.says) return &kind;
    const std::string answer = ask(launcher);
    for (const Kind& kind : kinds)
        if (answer.find(kind.says) != std::string::npos) return &kind;
    return nullptr;
}

bool is_program(const std::string& word) {
    std::error_code error;
    return !word.starts_with('-') && access(word.c_str(), X_OK) == 0 && !std::filesystem::is_directory(word, error);
}

// srun hands its whole environment on unless it is told otherwise. Behind the program are the program's own words.
void export_by_srun(Plan& plan, std::size_t at, const Variables& variables) {
    plan.environment = variables;
    const auto first = plan.words.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    const auto program = std::find_if(first, plan.words.end(), is_program);
    const auto option =
        std::find_if(first, program, [](const std::string& word) { return word.starts_with("--export="); });
    if (option == program) {
        plan.words.insert(plan.words.begin() + static_cast<std::ptrdiff_t>(at) + 1, "--export=ALL");
        return;
    }
    if (*option == "--export=ALL" || option->starts_with("--export=ALL,")) return;
    const std::string asked = *option;
    if (*option == "--export=NONE") *option = "--export=";
    for (const auto& [name, value] : variables) *option += (option->back() == '=' ? "" : ",") + name;
    plan.remarks.push_back(fmt::format("{} became {}, for the preload to reach the ranks", asked, *option));
}

}  // namespace

Plan plan_of(const Words& command, const Variables& variables,
             const std::function<std::string(const std::string&)>& ask) {
    Plan plan{.words = command, .environment = variables, .remarks = {}, .launcher = {}};
    const auto at = place_of_launcher(command);
    if (!at) return plan;
    plan.launcher = command[*at];
    const Kind* kind = kind_of(command[*at], ask);
    if (!kind) {
        plan.remarks.push_back(fmt::format(
            "{} is an unknown launcher: LD_PRELOAD is in its environment alone; if no profiles appear, pass it by the "
            "launcher's own option",
            command[*at]));
        return plan;
    }
    if (kind->how == How::export_list) {
        export_by_srun(plan, *at, variables);
        return plan;
    }
    plan.environment.clear();
    Words options;
    for (const auto& [name, value] : variables) {
        options.emplace_back(kind->option);
        if (kind->how == How::words_with_equals) options.push_back(fmt::format("{}={}", name, value));
        if (kind->how == How::three_words) options.insert(options.end(), {name, value});
    }
    // `flux run`: its options come behind its own command.
    const std::size_t behind = *at + (kind->says == "flux" && command.size() > *at + 1 ? 2 : 1);
    const auto insert = [&](std::size_t place) {
        plan.words.insert(plan.words.begin() + static_cast<std::ptrdiff_t>(place), options.begin(), options.end());
    };
    // Of several programs (`mpirun -n 1 a : -n 1 b`) each has its own -x. From behind, so that places stay what they
    // are.
    if (kind->option == "-x")
        for (std::size_t place = plan.words.size(); place-- > behind;)
            if (plan.words[place] == ":") insert(place + 1);
    insert(behind);
    return plan;
}

std::string shell_line(const Plan& plan) {
    const auto quoted = [](const std::string& word) {
        const auto is_plain = [](unsigned char c) {
            return std::isalnum(c) ||
                   std::string_view("_-./:=,+@%").find(static_cast<char>(c)) != std::string_view::npos;
        };
        if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
        std::string text = "'";
        for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
        return text + "'";
    };
    std::string line;
    if (!plan.environment.empty()) line = "env";
    for (const auto& [name, value] : plan.environment) line += " " + quoted(fmt::format("{}={}", name, value));
    for (const std::string& word : plan.words) line += (line.empty() ? "" : " ") + quoted(word);
    return line;
}

}  // namespace mpiprof::launcher
