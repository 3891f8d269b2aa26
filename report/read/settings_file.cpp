// What the kernel says of the file, and its text.
#include "report/read/settings_file.h"

#include <sys/stat.h>
#include <unistd.h>

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

}  // namespace mpiprof::report
