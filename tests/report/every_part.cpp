// Its numbers mean nothing.
#include "tests/report/every_part.h"

namespace mpiprof::test {
namespace {

constexpr std::uint64_t ms = 1'000'000;

// What a node with a GPU and an adapter says of itself, as its first rank writes it.
std::vector<FactSpec> facts_of_node() {
    using enum format::FactKind;
    return {{node, "processor", "AMD EPYC 7763"},
            {node, "cpus", "0-7"},
            {node, "numa_cpus.node0", "0-3"},
            {node, "numa_cpus.node1", "4-7"},
            {node, "gpu_numa.0000:01:00.0", "0"},
            {node, "gpu_pci.0000:01:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0"},
            {node, "nic_numa.mlx5_0", "1"},
            {node, "nic_rate.mlx5_0", "200 Gb/sec (4X HDR)"},
            {node, "nic_pci.mlx5_0", "pci0000:40/0000:40:03.0/0000:42:00.0"}};
}

// A clock in ticks, two threads, and what the process, its node and its environment were.
void describe_process(ProfileSpec& spec, std::uint32_t rank) {
    using enum format::FactKind;
    spec.local_rank = rank;
    spec.clock = format::ClockKind::tsc;
    spec.ticks_per_us = 2593;
    spec.elapsed_ns = 987'654'321 + rank;
    spec.paused_ns = 10 * ms;
    spec.memory_limit = std::uint64_t{4} << 30;
    spec.throttled_us = 1500;
    spec.usage_at_start.user_us = 100'000;
    spec.usage.user_us = 900'000;
    spec.usage.max_resident_kib = 123'456;
    spec.usage.involuntary_switches = 77;
    spec.processor = {800 * ms, 3 * ms, 70 * ms, 2 * ms};
    spec.settings = {{"MPIPROF_DEPTH", "8", 0}, {"MPIPROF_TRACE", "on", 1}};
    spec.facts = {{process, "cpus_allowed", "0-1"},
                  {process, "memory_nodes_allowed", "0-1"},
                  {process, "cpu_at_start", "1"},
                  {environment, "OMP_NUM_THREADS", rank == 2 ? "4" : "2"},
                  {environment, "SLURM_CLUSTER_NAME", "alps"},
                  {environment, "UCX_TLS", "rc"}};
    if (rank == 0)
        for (const FactSpec& fact : facts_of_node()) spec.facts.push_back(fact);
    spec.threads = {{.id = 1}, {.id = 2, .kind = format::ThreadKind::other, .nested = 3}};
}

// A script's call sites, regions and a communicator.
void describe_program(ProfileSpec& spec, std::uint32_t rank) {
    spec.modules = {{.path = "/home/user/app", .build_id = {0xab, 0xcd}},
                    {.path = "/home/user/train.py", .function = "step"}};
    spec.sites = {{{1, 0x1234}, {1, 0x2345}}, {{2, 17}, {2, 99}}};
    spec.common_frames = 2;
    spec.labels = {{"bucket_size", rank == 2 ? "1" : "25"}, {"grid", "512,512"}, {"model", "resnet50"}};
    spec.regions = {{.name = "solve", .durations_ns = {100 * ms, 150 * ms}},
                    {.name = "step", .durations_ns = {40 * ms, 60 * ms}, .is_iteration = true, .items = 64}};
    spec.communicators.push_back({.name = "rows",
                                  .id = 77,
                                  .parent = 1,
                                  .size = 3,
                                  .rank = rank,
                                  .how = format::Origin::origin_made,
                                  .made_by = "MPI_Comm_split"});
}

std::vector<CallSpec> calls_of(std::uint32_t rank) {
    return {
        sends("MPI_Send", {{.calls = 7 + rank, .bytes = 7168, .time_ns = 12'345'677, .site = 1, .region = 1},
                           {.calls = 3, .bytes = 3 << 20, .time_ns = 9'876'543, .site = 2, .thread = 2}}),
        receives("MPI_Recv", {{.calls = 5, .bytes = 5, .time_ns = 7 * ms, .errors = 1}}),
        collective("MPI_Allreduce", {{.communicator = 2, .durations_ns = {1'003, 2'009, 40'961, 1'000'003}},
                                     {.calls = 2, .bytes = 0, .time_ns = 0}}),
        {.name = "MPI_Test",
         .traffic = format::Traffic::completion,
         .cells = {{.calls = 63, .time_ns = 5 * ms + rank, .site = 1}},
         .treatment = format::Treatment::polled,
         .calls = 1001,
         .errors = 2},
        counted("MPI_Comm_rank", 1234),
        counted("MPI_Comm_split", 1),
        {.name = "ncclAllReduce",
         .traffic = format::Traffic::collective,
         .cells = {{.calls = 4, .bytes = 4096, .time_ns = 80'000, .communicator = 2}},
         .family = format::Family::nccl},
    };
}

}  // namespace

// Three ranks that have something in every table that the stories leave empty: a clock in ticks, two threads, regions,
// a script's call sites, polled and counted calls, peers of all kinds, facts, settings, NCCL's choices.
std::vector<ProfileSpec> every_part() {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = 3;
        describe_process(spec, rank);
        describe_program(spec, rank);
        spec.calls = calls_of(rank);
        spec.nccl_operations = {{.call = "ncclAllReduce",
                                 .operations = 4,
                                 .bytes = 4096,
                                 .algorithm = "RING",
                                 .protocol = "LL",
                                 .channels = 2,
                                 .communicator = 2,
                                 .tag = 7}};
        spec.peers = {{.rank = (rank + 1) % 3, .sent = {10, 7000, 5 * ms}, .received = {5, 5, 7 * ms}},
                      {.rank = (rank + 1) % 3, .sent = {1, 8, 0}, .kind = format::PeerKind::one_sided},
                      {.rank = (rank + 2) % 3, .sent = {2, 16, 9}, .thread = 2},
                      {.rank = format::peer_any, .received = {3, 30, 1}}};
        ranks.push_back(spec);
    }
    ranks[1].state = format::State::running;
    ranks[1].threads[0].in_call = "MPI_Recv";
    ranks[1].threads[0].in_call_for_ns = 5 * ms;
    return ranks;
}

}  // namespace mpiprof::test
