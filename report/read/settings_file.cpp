// What the kernel says of the file, and its text.
#include "report/read/settings_file.h"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "libmpiprof/format/config_text.h"

namespace mpiprof::report {

const char* const settings_file_for_everyone = format::config_for_everyone;
const char* const no_settings_file = format::no_config;

SettingsFile SettingsFile::read(const std::string& path) {
    SettingsFile file;
    struct stat status {};
    file.is_there = stat(path.c_str(), &status) == 0;
    if (!file.is_there) return file;
    if (const char* why = format::why_config_does_not_count(status, getuid())) file.why_not = why;
    std::ifstream stream(path, std::ios::binary);
    if (!stream && file.why_not.empty()) file.why_not = "cannot be read";
    if (!file.why_not.empty()) return file;
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    const std::size_t length = text.size();
    text.resize(length + 2);
    format::take_config_apart(text.data(), length);
    for (const char* line = text.data(); *line; line += file.lines.back().size() + 1) file.lines.emplace_back(line);
    return file;
}

std::string SettingsFile::value_of(const std::string& name) const {
    std::string value;
    for (const std::string& line : lines)
        if (line.starts_with(name + "=")) value = line.substr(name.size() + 1);
    return value;
}

std::string setting_in_force(const std::string& name) {
    if (const char* value = std::getenv(name.c_str())) return value;
    const char* named = std::getenv("MPIPROF_CONFIG");
    const std::string first = named ? named : "";
    if (first == no_settings_file) return "";
    for (const std::string& path : {first, std::string(settings_file_for_everyone)})
        if (!path.empty())
            if (std::string value = SettingsFile::read(path).value_of(name); !value.empty()) return value;
    return "";
}

std::vector<std::string> directories_in_force() {
    std::string pattern = setting_in_force("MPIPROF_DIR");
    for (std::size_t at = 0; (at = pattern.find('%', at)) != std::string::npos; ++at) pattern.replace(at, 2, "*");
    std::vector<std::string> directories;
    glob_t found{};
    if (!pattern.empty() && glob(pattern.c_str(), GLOB_ONLYDIR, nullptr, &found) == 0)
        for (std::size_t i = 0; i < found.gl_pathc; ++i) directories.emplace_back(found.gl_pathv[i]);
    globfree(&found);
    return directories;
}

}  // namespace mpiprof::report
