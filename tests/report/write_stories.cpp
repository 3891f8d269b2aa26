// Writes the jobs of the reporter's tests, each into a directory of its own: write_stories DIRECTORY. For tests in
// other languages, which read what a user's directory holds.
#include <cstdio>
#include <filesystem>

#include "tests/report/all_stories.h"
#include "tests/report/every_part.h"

namespace {

using namespace mpiprof;
using namespace mpiprof::test;

void write(const std::filesystem::path& directory, const std::vector<ProfileSpec>& ranks) {
    std::filesystem::create_directories(directory);
    for (const ProfileSpec& rank : ranks) write_profile(directory, rank);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return std::fputs("usage: write_stories DIRECTORY\n", stderr), 2;
    const std::filesystem::path all = argv[1];
    for (const Story& story : all_stories()) write(all / story.name, story.ranks());
    write(all / "every_part", every_part());
}
