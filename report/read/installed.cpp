// The kernel says where this program lies.
#include "report/read/installed.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace mpiprof::report {
namespace {

namespace fs = std::filesystem;

bool is_executable(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string found_in_path(const std::string& word) {
    if (word.find('/') != std::string::npos) return is_executable(word) ? word : "";
    const char* variable = std::getenv("PATH");
    std::istringstream path(variable ? variable : "");
    for (std::string directory; !word.empty() && std::getline(path, directory, ':');)
        if (const fs::path candidate = fs::path(directory) / word; is_executable(candidate)) return candidate.string();
    return "";
}

std::string installed_at(std::initializer_list<const char*> places) {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const char* place : places)
        if (const fs::path path = (own / place).lexically_normal(); fs::exists(path, error)) return path.string();
    return "";
}

}  // namespace mpiprof::report
