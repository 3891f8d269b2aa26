#include "tests/report/read_bytes.h"

#include <stdexcept>
#include <utility>

namespace mpiprof::test {

using report::Profile;

ProfileSpec typical() {
    ProfileSpec spec;
    spec.rank = 2;
    spec.size = 4;
    spec.calls = {
        collective("MPI_Allreduce",
                   {{.calls = 10, .bytes = 80, .time_ns = 30 * ms, .min_ns = 1 * ms, .max_ns = 9 * ms, .site = 1},
                    {.calls = 2, .bytes = 9'000'000, .time_ns = 50 * ms, .thread = 2}}),
        receives("MPI_Recv", {{.calls = 3, .bytes = 300, .time_ns = 6 * ms, .errors = 2}}),
        counted("MPI_Comm_rank", 7)};
    spec.modules = {{.path = "/usr/bin/app", .build_id = {0xab, 0xcd}}};
    spec.sites = {{{1, 0x1234}, {1, 0x2000}}};
    spec.settings = {{"MPIPROF_TEXT", "all"}};
    spec.usage.user_us = 900'000;
    spec.usage.system_us = 50'000;
    spec.usage.max_resident_kib = 2048;
    spec.usage.voluntary_switches = 3;
    spec.usage.involuntary_switches = 4;
    return spec;
}

Profile read(const Bytes& bytes) {
    auto profile = report::read_profile(bytes, "mpi_profile.4711.2");
    if (!profile) throw std::runtime_error(profile.error().line());
    return std::move(*profile);
}

std::string complaint(const Bytes& bytes) {
    const auto profile = report::read_profile(bytes, "mpi_profile.4711.2");
    return profile ? "" : profile.error().line();
}

const report::Cell* find_cell(const Profile& profile, const std::string& call, unsigned bin) {
    for (const auto& cell : profile.cells)
        if (profile.calls[cell.call].name == call && cell.bin == bin) return &cell;
    return nullptr;
}

}  // namespace mpiprof::test
