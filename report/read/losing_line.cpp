// Shell is not parsed: a line is known by two words that it has, which no other line of a job script is likely to have.
#include "report/read/losing_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace mpiprof::report {
namespace {

constexpr std::size_t longest_line_shown = 60;

std::string_view trimmed(std::string_view line) {
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return "";
    return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// The word stands between blanks or the ends of a command.
bool has_word(std::string_view line, std::string_view word) {
    constexpr std::string_view ends = " \t;|&()\"'";
    for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
        const auto behind = at + word.size();
        if ((at == 0 || ends.find(line[at - 1]) != std::string_view::npos) &&
            (behind == line.size() || ends.find(line[behind]) != std::string_view::npos))
            return true;
    }
    return false;
}

struct Words {
    std::string_view command, word;
};
constexpr std::array losers{
    Words{"unset", "LD_PRELOAD"},         Words{"env", "LD_PRELOAD"},     Words{"env", "-i"},
    Words{"env", "--ignore-environment"}, Words{"srun", "--export=NONE"}, Words{"sbatch", "--export=NONE"},
    Words{"singularity", "-e"},           Words{"apptainer", "-e"},       Words{"singularity", "--cleanenv"},
    Words{"apptainer", "--cleanenv"},
};

// `LD_PRELOAD=other.so`, which does not keep what was there.
bool replaces_it(std::string_view line) {
    constexpr std::string_view variable = "LD_PRELOAD=";
    const auto at = line.find(variable);
    if (at == std::string_view::npos) return false;
    const std::string_view value = line.substr(at + variable.size());
    return value.find("LD_PRELOAD") == std::string_view::npos && value.find("mpiprof") == std::string_view::npos;
}

bool loses_it(std::string_view line) {
    return replaces_it(line) || std::any_of(losers.begin(), losers.end(), [&](const Words& words) {
               return has_word(line, words.command) && has_word(line, words.word);
           });
}

}  // namespace

bool is_script(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return false;
    std::ifstream file(path, std::ios::binary);
    return file.get() == '#' && file.get() == '!';
}

std::string losing_line(const std::string& script) {
    if (!is_script(script)) return "";
    std::ifstream file(script);
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        const std::string_view text = trimmed(line);
        if (text.empty() || text[0] == '#' || !loses_it(text)) continue;
        const bool is_long = text.size() > longest_line_shown;
        return fmt::format("line {}: {}{}", number, text.substr(0, longest_line_shown), is_long ? " ..." : "");
    }
    return "";
}

std::vector<std::string> scripts_named_in(const std::string& script, const std::string& directory) {
    namespace fs = std::filesystem;
    std::vector<std::string> named;
    if (!is_script(script)) return named;
    const fs::path beside = fs::path(script).parent_path();
    std::ifstream file(script);
    std::string line;
    while (std::getline(file, line)) {
        if (trimmed(line).starts_with('#')) continue;
        std::replace_if(
            line.begin(), line.end(), [](char c) { return std::strchr("\"'();|&=", c) != nullptr; }, ' ');
        std::istringstream words(line);
        for (std::string word; words >> word;)
            for (const fs::path& path : {fs::path(directory) / word, beside / word})
                if (is_script(path)) {
                    named.push_back(path.lexically_normal().string());
                    break;
                }
    }
    return named;
}

}  // namespace mpiprof::report
