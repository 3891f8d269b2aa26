// Prints the table of docs/settings.md from the rows of process/settings.cpp, or says where the page differs:
//   mpiprof-settings [--check PAGE]
#include "libmpiprof/process/settings.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

using namespace mpiprof;

namespace {

constexpr unsigned settings = static_cast<unsigned>(Setting::count);

const SettingRow& row(unsigned i) { return row_of(static_cast<Setting>(i)); }

std::string table() {
    std::string text = "| setting | default | values | meaning |\n|---|---|---|---|\n";
    for (unsigned i = 0; i < settings; ++i) {
        const SettingRow& r = row(i);
        text += "| [MPIPROF_" + std::string(r.name) + "](#mpiprof_";
        for (const char* c = r.name; *c; ++c) text += static_cast<char>(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
        text += ") | " + (r.fallback[0] ? "`" + std::string(r.fallback) + "`" : std::string()) + " | " +
                (r.choices[0] ? "`" + std::string(r.choices) + "`" : std::string()) + " | " + r.meaning + " |\n";
    }
    return text;
}

int check(const char* path) {
    std::ifstream file(path);
    const std::string page((std::istreambuf_iterator<char>(file)), {});
    int problems = 0;
    if (page.find(table()) == std::string::npos) {
        std::printf("%s: its table is not the one of process/settings.cpp, which is:\n\n%s\n", path, table().c_str());
        ++problems;
    }
    for (unsigned i = 0; i < settings; ++i) {
        const std::string heading = "\n## MPIPROF_" + std::string(row(i).name) + "\n";
        if (page.find(heading) != std::string::npos) continue;
        std::printf("%s: nothing is said about MPIPROF_%s\n", path, row(i).name);
        ++problems;
    }
    return problems != 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--check") == 0) return check(argv[2]);
    std::fputs(table().c_str(), stdout);
}
