// A row for each job; its file has its name.
#include "launcher/demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace mpiprof::launcher {
namespace {

struct Demo {
    std::string_view name, about;
};
constexpr std::array demos{
    Demo{"slow-rank", "rank 2 has three times the work of the others"},
    Demo{"deadlock", "one rank waits in MPI_Barrier, the others in MPI_Allreduce"},
    Demo{"small-messages", "thousands of messages of 8 bytes where one would do"},
    Demo{"healthy", "a job that computes for most of its time"},
};

}  // namespace

std::string demo_text(const std::string& directory) {
    std::string text = "Recorded jobs. Show one: mpiprof demo NAME [COMMAND OF mpiprof-report]\n\n";
    for (const Demo& demo : demos) text += fmt::format("  {:<16}{}\n", demo.name, demo.about);
    return text +
           fmt::format(
               "\nFor instance: mpiprof demo slow-rank, mpiprof demo slow-rank sites, mpiprof demo deadlock hang\n"
               "The programs and their profiles: {}\n",
               directory);
}

Words demo_command(const std::string& report, const std::string& directory, const std::string& name,
                   const Words& asked) {
    if (std::none_of(demos.begin(), demos.end(), [&](const Demo& demo) { return demo.name == name; })) return {};
    Words words{report};
    words.insert(words.end(), asked.begin(), asked.end());
    words.push_back(directory + "/" + name + ".mpiprof");
    return words;
}

}  // namespace mpiprof::launcher
