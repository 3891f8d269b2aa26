// Writes the profiles of the reporter's tests as seeds: make_seeds DIRECTORY. Then, to keep only what reaches code that
// others do not: fuzz_profile -merge=1 tests/fuzz/corpus/profile DIRECTORY
#include <cstdio>
#include <filesystem>

#include "tests/report/stories.h"

int main(int argc, char** argv) {
    using namespace mpiprof::test;
    if (argc != 2) return std::fputs("usage: make_seeds DIRECTORY\n", stderr), 2;
    unsigned number = 0;
    const auto write = [&](const ProfileSpec& spec) {
        write_file(std::filesystem::path(argv[1]) / ("seed" + std::to_string(number++)), build(spec));
    };
    for (const auto story : {balanced_stencil, background_training, uneven_work, killed_in_receive, errors_and_drops,
                             file_writer, late_messages, device_buffers})
        for (const ProfileSpec& spec : story()) write(spec);
    ProfileSpec odd = killed_in_receive()[0];
    odd.modules = {{.path = "/bin/true", .build_id = {1, 2, 3}}};
    odd.sites = {{{1, 0x1234}}, {{0, 0x55}}};
    odd.settings = {{"MPIPROF_TEXT", "all"}};
    odd.unknown_table = true;
    odd.directory_capacity = 3;
    write(odd);
    odd.record_growth = 8;
    odd.header_growth = 64;
    write(odd);
    odd.record_growth = odd.header_growth = -8;
    write(odd);
}
