#include "tests/report/seed003_profiles.h"

#include <cmath>
#include <span>

namespace mpiprof::test {
namespace {

std::uint64_t ns(double seconds) { return static_cast<std::uint64_t>(std::llround(seconds * 1e9)); }

// A line of the table of all ranks. The digits beyond the listing's are free; they are such that both listings'
// roundings (2 decimals here, 3 elsewhere) come out.
struct Line {
    double comm, elapsed, user, system, mib;
    std::uint64_t switches;
};

format::ResourceUse usage(const Line& line) {
    format::ResourceUse use{};
    use.user_us = ns(line.user) / 1000;
    use.system_us = ns(line.system) / 1000;
    use.max_resident_kib = static_cast<std::uint64_t>(std::llround(line.mib * 1024));
    use.voluntary_switches = line.switches - 600;
    use.involuntary_switches = 600;
    return use;
}

// All ranks, each with its communication time in one call; rank 0 then gets its own calls.
std::vector<ProfileSpec> ranks_of(std::span<const Line> lines, const std::string& host) {
    std::vector<ProfileSpec> specs;
    for (const Line& line : lines) {
        ProfileSpec spec;
        spec.rank = static_cast<std::uint32_t>(specs.size());
        spec.size = static_cast<std::uint32_t>(lines.size());
        spec.host = host;
        spec.command = "python tensorflow2_mnist.py";
        spec.elapsed_ns = ns(line.elapsed);
        spec.usage = usage(line);
        spec.calls = {counted("MPI_Comm_rank", 5),
                      collective("MPI_Allreduce", {{.calls = 7428, .bytes = 7428 * 8, .time_ns = ns(line.comm)}})};
        specs.push_back(std::move(spec));
    }
    return specs;
}

}  // namespace

std::vector<ProfileSpec> seed003_cpu() {
    constexpr Line lines[] = {
        {10.6020, 15.5480, 131.483, 6.319, 1655.00, 171601}, {11.690, 15.548, 128.59, 7.10, 1601.46, 171001},
        {10.650, 15.548, 128.62, 6.48, 1690.21, 172943},     {12.177, 15.548, 130.75, 6.56, 1873.82, 170879},
        {11.840, 15.548, 129.73, 7.06, 1807.09, 170934},     {11.834, 15.548, 127.51, 7.38, 1768.41, 171018},
        {11.860, 15.548, 128.02, 7.64, 1768.84, 173285},     {11.910, 15.549, 131.22, 6.95, 1644.43, 171220},
        {11.900, 15.548, 131.91, 6.27, 1785.00, 172127},     {11.670, 15.548, 128.28, 6.99, 1589.02, 170993},
        {11.530, 15.548, 128.25, 6.94, 1650.37, 170456},     {11.833, 15.548, 129.37, 6.73, 1621.89, 169177},
        {11.490, 15.548, 127.99, 7.49, 1732.30, 171916},     {12.110, 15.548, 128.51, 8.25, 1538.35, 169615},
        {12.080, 15.548, 128.38, 7.36, 1738.74, 169231},     {12.110, 15.548, 130.50, 7.19, 1869.61, 172182},
    };
    auto specs = ranks_of(lines, "thetagpu24");
    // Not in the order of the listing: the dictionary of a file is in the order of first use.
    specs[0].calls = {
        collective("MPI_Allreduce",
                   {
                       {.calls = 7428, .bytes = 7428 * 8, .time_ns = ns(5.6959)},
                       {.calls = 11, .bytes = 11 * 40, .time_ns = ns(0.0028)},
                       {.calls = 1, .bytes = 256, .time_ns = ns(0.0001)},
                       {.calls = 4, .bytes = 4 * 512, .time_ns = ns(0.0028)},
                       {.calls = 9, .bytes = 9 * 552, .time_ns = ns(0.0038)},
                       {.calls = 25, .bytes = 25 * 1536, .time_ns = ns(0.0058)},
                       {.calls = 211, .bytes = 1190640, .time_ns = ns(0.2549)},
                       {.calls = 236, .bytes = 17731090, .time_ns = ns(0.2088)},
                       {.calls = 236, .bytes = 1113720800, .time_ns = ns(4.3998)},
                   }),
        collective("MPI_Gather", {{.calls = 49, .bytes = 49 * 4, .time_ns = ns(0.0064)}}),
        collective("MPI_Gatherv", {{.calls = 49, .bytes = 0, .time_ns = ns(0.0024)}}),
        collective("MPI_Bcast",
                   {
                       {.calls = 49, .bytes = 49 * 4, .time_ns = ns(0.0001)},
                       {.calls = 1, .bytes = 8, .time_ns = ns(0.0001)},
                       {.calls = 45, .bytes = 45 * 25, .time_ns = ns(0.0001)},
                       {.calls = 3, .bytes = 3 * 40, .time_ns = ns(0.0001)},
                       {.calls = 3, .bytes = 3 * 128, .time_ns = ns(0.0001)},
                       {.calls = 3, .bytes = 3 * 256, .time_ns = ns(0.0001)},
                       {.calls = 4, .bytes = 1881, .time_ns = ns(0.0001)},
                       {.calls = 1, .bytes = 705, .time_ns = ns(0.0001)},
                       {.calls = 3, .bytes = 3 * 1152, .time_ns = ns(0.0001)},
                       {.calls = 2, .bytes = 2 * 2697, .time_ns = ns(0.0001)},
                       {.calls = 3, .bytes = 3 * 5120, .time_ns = ns(0.0001)},
                       {.calls = 3, .bytes = 3 * 73728, .time_ns = ns(0.0008)},
                       {.calls = 3, .bytes = 3 * 4718592, .time_ns = ns(0.0165)},
                   }),
        collective("MPI_Allgather", {{.calls = 2, .bytes = 8, .time_ns = ns(0.0001)}}),
        counted("MPI_Comm_size", 3),
        counted("MPI_Comm_rank", 5),
    };
    return specs;
}

std::vector<ProfileSpec> seed003_gpu() {
    constexpr Line lines[] = {
        {5.5189, 17.7252, 14.6749, 2.892, 4230.734, 61734}, {7.000, 17.8399, 16.14, 3.02, 4217.52, 68565},
        {3.601, 17.8399, 13.09, 2.79, 4218.41, 72360},      {5.150, 17.8401, 14.47, 2.82, 4210.53, 69541},
        {4.440, 17.8399, 13.70, 2.88, 4190.15, 65634},      {6.150, 17.8399, 15.52, 2.83, 4205.98, 60704},
        {5.462, 17.8399, 14.84, 2.76, 4210.84, 62171},      {8.3549, 17.7300, 17.54, 3.01, 4189.67, 66328},
    };
    auto specs = ranks_of(lines, "thetagpu19");
    specs[0].calls = {
        counted("MPI_Comm_size", 3),
        counted("MPI_Comm_rank", 5),
        collective("MPI_Allgather", {{.calls = 2, .bytes = 8, .time_ns = ns(0.0001)}}),
        collective("MPI_Bcast",
                   {
                       {.calls = 10, .bytes = 40, .time_ns = ns(0.0001)},
                       {.calls = 7, .bytes = 7 * 25, .time_ns = ns(0.0001)},
                       {.calls = 1, .bytes = 128, .time_ns = ns(0.0008)},
                       {.calls = 2, .bytes = 2 * 861, .time_ns = ns(0.0001)},
                       {.calls = 1, .bytes = 3665, .time_ns = ns(0.0001)},
                   }),
        sync("MPI_Barrier", {{.calls = 1, .time_ns = ns(0.0772)}}),
        collective("MPI_Allreduce", {{.calls = 11658, .bytes = 11658 * 8, .time_ns = ns(5.4402)}}),
        collective("MPI_Gatherv", {{.calls = 10, .bytes = 0, .time_ns = ns(0.0001)}}),
        collective("MPI_Gather", {{.calls = 10, .bytes = 40, .time_ns = ns(0.0001)}}),
    };
    return specs;
}

}  // namespace mpiprof::test
