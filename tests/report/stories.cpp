// The stories, in seconds and bytes.
#include "tests/report/stories.h"

namespace mpiprof::test {
namespace {

constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t s = 1'000'000'000;
constexpr std::uint64_t MiB = 1 << 20;

ProfileSpec rank_of(std::uint32_t rank, std::uint32_t size, std::uint32_t ranks_per_node, std::string command) {
    ProfileSpec spec;
    spec.rank = rank;
    spec.size = size;
    spec.command = std::move(command);
    spec.host = "nid" + std::to_string(10001 + rank / ranks_per_node);
    spec.local_rank = rank % ranks_per_node;
    spec.pid = 2000 + rank;
    spec.elapsed_ns = 10 * s;
    spec.usage.user_us = 10'000'000;
    spec.usage.system_us = 100'000;
    spec.usage.max_resident_kib = 200 * 1024 + rank;
    spec.usage.voluntary_switches = 50;
    spec.usage.involuntary_switches = 20;
    return spec;
}

// One duration that many calls took, and the two extremes.
CellSpec calls_of(std::uint64_t calls, std::uint64_t size, std::uint64_t total_ns, std::uint64_t least_ns,
                  std::uint64_t most_ns) {
    return {.calls = calls, .bytes = calls * size, .time_ns = total_ns, .min_ns = least_ns, .max_ns = most_ns};
}

// So many calls of which most took `usual`, and some `long`.
CellSpec mixed_calls(std::uint64_t size, std::uint64_t few, std::uint64_t usual_ns, std::uint64_t many,
                     std::uint64_t long_ns) {
    CellSpec cell;
    for (std::uint64_t i = 0; i < few; ++i) cell.durations_ns.push_back(usual_ns + i * usual_ns / 100);
    for (std::uint64_t i = 0; i < many; ++i) cell.durations_ns.push_back(long_ns + i * long_ns / 1000);
    cell.bytes = size * cell.durations_ns.size();
    return cell;
}

}  // namespace

std::vector<ProfileSpec> balanced_stencil() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
        ProfileSpec spec = rank_of(rank, 8, 4, "./stencil --grid 4096");
        spec.calls = {sends("MPI_Isend", {calls_of(4000, 32 * 1024, 60 * ms, 9 * us, 90 * us)}),
                      receives("MPI_Irecv", {calls_of(4000, 32 * 1024, 12 * ms, 1 * us, 20 * us)}),
                      completion("MPI_Waitall", {calls_of(2000, 0, (380 + rank) * ms, 50 * us, 400 * us)}),
                      collective("MPI_Allreduce", {calls_of(100, 8, 3 * ms, 20 * us, 90 * us)}),
                      sync("MPI_Barrier", {calls_of(2, 0, 1 * ms, 200 * us, 800 * us)}),
                      counted("MPI_Comm_rank", 1),
                      counted("MPI_Comm_size", 1)};
        for (const std::uint32_t other : {(rank + 7) % 8, (rank + 1) % 8})
            spec.peers.push_back({.rank = other,
                                  .sent = {2000, 2000 * 32 * 1024, 30 * ms},
                                  .received = {2000, 2000 * 32 * 1024, 6 * ms}});
        job.push_back(spec);
    }
    return job;
}

std::vector<ProfileSpec> background_training() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        ProfileSpec spec = rank_of(rank, 4, 4, "python3 train.py");
        spec.usage.user_us = 62'000'000;
        spec.processor = {
            .first_ran_ns = spec.elapsed_ns - 200 * ms, .first_waited_ns = 10 * ms, .others_ran_ns = 900 * ms};
        CellSpec negotiation = mixed_calls(8, 60, 3 * us, 540, 12 * ms + rank * 100 * us);
        negotiation.thread = 2;
        CellSpec gradients = calls_of(100, 4 * MiB, 900 * ms, 5 * ms, 20 * ms);
        gradients.thread = 2;
        spec.calls = {collective("MPI_Allreduce", {negotiation, gradients}),
                      collective("MPI_Bcast", {calls_of(10, MiB, 20 * ms, 1 * ms, 3 * ms)})};
        job.push_back(spec);
    }
    return job;
}

std::vector<ProfileSpec> uneven_work() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        ProfileSpec spec = rank_of(rank, 4, 4, "./solver input.nml");
        const bool is_slow = rank == 2;
        CommunicatorSpec& world = spec.communicators[0];
        world.collectives = 200;
        for (std::uint64_t n = 0; n < world.collectives; ++n) {  // the others wait in all but the first 20
            const std::uint64_t late = n >= 20 && is_slow ? 20 * ms - 5 * us : 0;
            world.kept.push_back({.call = "MPI_Allreduce",
                                  .number = n,
                                  .begin_ns = static_cast<std::int64_t>(n * 50 * ms + late),
                                  .time_ns = n >= 20 && !is_slow ? 20 * ms : 5 * us,
                                  .bytes = 8});
        }
        spec.calls = {collective("MPI_Allreduce", {is_slow ? mixed_calls(8, 200, 5 * us, 0, 0)
                                                           : mixed_calls(8, 20, 5 * us, 180, 20 * ms)}),
                      sends("MPI_Send", {calls_of(50, 100'000, 40 * ms, 500 * us, 2 * ms)}),
                      receives("MPI_Recv", {calls_of(50, 100'000, 60 * ms, 500 * us, 3 * ms)})};
        spec.calls[0].arguments = format::is_ordered | format::waits_for_all;
        job.push_back(spec);
    }
    return job;
}

std::vector<ProfileSpec> slow_node() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 96; ++rank) {
        ProfileSpec spec = rank_of(rank, 96, 8, "./climate");
        const std::uint64_t mpi = rank / 8 == 5 ? 500 * ms : 3 * s + (rank * 37) % 11 * 10 * ms;
        spec.calls = {sync("MPI_Barrier", {calls_of(100, 0, mpi, mpi / 200, mpi / 50)}),
                      collective("MPI_Bcast", {calls_of(10, 1000, 2 * ms, 100 * us, 300 * us)})};
        job.push_back(spec);
    }
    return job;
}

std::vector<ProfileSpec> killed_in_receive() {
    std::vector<ProfileSpec> job;
    for (const std::uint32_t rank : {0u, 1u, 3u}) {
        ProfileSpec spec = rank_of(rank, 4, 4, "./pipeline");
        spec.calls = {receives("MPI_Recv", {calls_of(30, 64, 3 * ms, 10 * us, 900 * us)}),
                      sends("MPI_Send", {calls_of(30, 64, 1 * ms, 2 * us, 90 * us)})};
        spec.state = rank == 1 ? format::State::aborted : format::State::running;
        spec.exit_code = rank == 1 ? 3 : 0;
        if (rank != 1) spec.threads = {{.in_call = "MPI_Recv", .in_call_for_ns = 8 * s}};
        job.push_back(spec);
    }
    return job;
}

std::vector<ProfileSpec> one_never_arrived() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
        ProfileSpec spec = rank_of(rank, 16, 8, "./halo");
        spec.elapsed_ns = 60 * s;
        spec.state = format::State::running;
        spec.modules = {{.path = "/home/user/halo"}};
        spec.sites = {{{1, 0x1234}}};
        spec.calls = {sync("MPI_Barrier", {calls_of(41, 0, 3 * s, 10 * us, 900 * ms)}),
                      sends("MPI_Send", {calls_of(42, 64, 1 * ms, 2 * us, 90 * us)})};
        ThreadSpec thread{.in_call = "MPI_Barrier", .in_call_for_ns = 48 * s - rank * 10 * ms};
        if (rank == 7) thread = {.in_call_for_ns = 48300 * ms, .last_call = "MPI_Send", .address = 0x4022ff};
        spec.threads = {thread};
        job.push_back(spec);
    }
    return job;
}

std::vector<ProfileSpec> errors_and_drops() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProfileSpec spec = rank_of(rank, 2, 2, "./many-sizes");
        CellSpec failing = calls_of(10, 64, 1 * ms, 10 * us, 300 * us);
        failing.errors = 3 * rank;
        spec.calls = {sends("MPI_Send", {failing}),
                      receives("MPI_Recv", {calls_of(10, 64, 2 * ms, 10 * us, 900 * us)})};
        spec.drops.cells = 1200;
        spec.drops.threads = rank == 0 ? 5 : 0;
        job.push_back(spec);
    }
    return job;
}

std::vector<ProfileSpec> file_writer() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProfileSpec spec = rank_of(rank, 2, 2, "./checkpoint");
        spec.calls = {file_access("MPI_File_write_all", {calls_of(10, 100 * MiB, 4 * s, 200 * ms, 900 * ms)}),
                      collective("MPI_Bcast", {calls_of(10, 64, 1 * ms, 10 * us, 300 * us)})};
        // Rank 1 never waits for what it has posted.
        spec.modules = {{.path = spec.executable}};
        if (rank == 1) spec.threads = {{.open_requests = {{.handle = 7, .call = "MPI_File_write_all"}}}};
        job.push_back(spec);
    }
    return job;
}

std::vector<ProfileSpec> crowded_cores() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        ProfileSpec spec = rank_of(rank, 4, 4, "./app");
        spec.usage.user_us = 2'300'000;
        spec.usage.involuntary_switches = 2'000;  // 3.8 ms off its processor for each
        spec.calls = {sends("MPI_Send", {calls_of(4000, 20'000, 8 * s, 3 * us, 20 * ms)})};
        job.push_back(spec);
    }
    return job;
}

std::vector<ProfileSpec> late_messages() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProfileSpec spec = rank_of(rank, 2, 2, "./halo");
        CellSpec posted = calls_of(500, 64 * 1024, 2 * ms, 1 * us, 30 * us);
        posted.requests = 500;
        posted.in_flight_ns = 3 * s;
        posted.blocked_ns = 1800 * ms;
        CellSpec sent = calls_of(500, 64 * 1024, 9 * ms, 8 * us, 90 * us);
        sent.requests = 500;
        sent.in_flight_ns = 100 * ms;
        sent.blocked_ns = 10 * ms;
        CellSpec samples = calls_of(1000, 0, 300 * ms, 30, 5 * us);
        spec.calls = {receives("MPI_Irecv", {posted}),
                      sends("MPI_Isend", {sent}),
                      completion("MPI_Waitall", {calls_of(500, 0, 1810 * ms, 100 * us, 9 * ms)}),
                      {.name = "MPI_Test",
                       .traffic = format::Traffic::completion,
                       .cells = {samples},
                       .treatment = format::Treatment::polled,
                       .calls = 15'990}};
        job.push_back(spec);
    }
    return job;
}

std::vector<ProfileSpec> device_buffers() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProfileSpec spec = rank_of(rank, 2, 1, "./gpu-app");
        CellSpec device = calls_of(100, 4 * MiB, 200 * ms, 1 * ms, 4 * ms);
        device.buffer = format::BufferKind::device;
        spec.calls = {sends("MPI_Send", {calls_of(100, 4 * MiB, 80 * ms, 700 * us, 1 * ms), device})};
        job.push_back(spec);
    }
    return job;
}

namespace {

CallSpec of_nccl(CallSpec call) {
    call.family = format::Family::nccl;
    return call;
}
CommunicatorSpec nccl_comm(std::string name, std::uint64_t id, std::uint32_t size, std::uint32_t rank) {
    return {.name = std::move(name),
            .id = id,
            .size = size,
            .rank = rank,
            .how = format::origin_made,
            .made_by = "ncclCommInitRankConfig"};
}
CellSpec on(std::uint16_t communicator, CellSpec cell) {
    cell.communicator = communicator;
    return cell;
}

}  // namespace

std::vector<ProfileSpec> gpu_training() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        ProfileSpec spec = rank_of(rank, 4, 2, "python3 train.py");
        spec.launcher = "torchrun";
        spec.launch = "torchrun:train:node1:29500";
        spec.job = "train";
        spec.mpi_library = "NCCL 2.28.9";
        spec.mpi_family = format::MpiFamily::none;
        spec.state = format::State::exited;
        spec.flags = format::no_world | format::initialized_by_session;
        spec.init_ns = spec.finalize_ns = 0;
        spec.communicators = {nccl_comm("default_pg", 0xabc0, 4, rank),
                              nccl_comm("tensor", 0xabc1 + rank / 2, 2, rank % 2)};
        CellSpec ends = on(0, calls_of(50, 0, 2 * ms, 20 * us, 90 * us));
        ends.requests = 200;
        spec.calls = {
            of_nccl(collective("ncclAllReduce", {on(1, calls_of(100, 64 * MiB, 3 * ms, 20 * us, 60 * us))})),
            of_nccl(collective("ncclAllGather", {on(2, calls_of(400, 1 * MiB, (8 + rank) * ms, 15 * us, 50 * us))})),
            of_nccl(sends("ncclSend", {on(1, calls_of(100, 4 * MiB, 200 * us, 1 * us, 5 * us))})),
            of_nccl(receives("ncclRecv", {on(1, calls_of(100, 4 * MiB, 200 * us, 1 * us, 5 * us))})),
            of_nccl(completion("ncclGroupEnd", {ends})),
            of_nccl(setup("ncclCommInitRankConfig", {on(0, calls_of(2, 0, 900 * ms, 400 * ms, 500 * ms))})),
            of_nccl(counted("ncclCommGetAsyncError", 5000))};
        job.push_back(spec);
    }
    return job;
}

std::vector<ProfileSpec> gpu_training_with_cupti() {
    std::vector<ProfileSpec> job = gpu_training();
    for (ProfileSpec& spec : job) {
        const bool is_late = spec.rank == 2;
        spec.elapsed_ns = 1200 * ms;
        GpuSequenceSpec sequence{.us = {}, .enqueued_before = 5000};
        GpuTimeSpec reduce{.call = "ncclAllReduce", .durations_ns = {}, .bytes = 64 * MiB, .kernels = 100};
        for (int n = 0; n < 100; ++n) {
            // The last one moves data at once, 2000 us; the others wait 1000 us for it. Rank 0 is last to every fourth.
            const bool is_last = n % 4 == 3 ? spec.rank == 0 : is_late;
            reduce.durations_ns.push_back(is_last ? 2000 * us : 3000 * us);
            sequence.us.push_back(is_last ? 2000 : 3000);
        }
        spec.gpu_times = {reduce,
                          {.call = "ncclAllGather",
                           .durations_ns = std::vector<std::uint64_t>(400, 50 * us),
                           .bytes = 1 * MiB,
                           .communicator = 2,
                           .kernels = 400},
                          {.call = "ncclGroupEnd",
                           .durations_ns = std::vector<std::uint64_t>(50, 100 * us),
                           .bytes = 8 * MiB,
                           .kernels = 50},
                          {.call = "ncclAllReduce",
                           .durations_ns = std::vector<std::uint64_t>(10, 40 * us),
                           .bytes = 1 * MiB,
                           .is_replayed = true,
                           .kernels = 10}};
        spec.gpu_sequences = {sequence};
        spec.gpu_work = {
            {format::GpuWorkKind::nccl_kernels, spec.rank % 2, 560, 0, 300 * ms, 180 * ms, 10},
            {format::GpuWorkKind::other_kernels, spec.rank % 2, 20'000, 0, 500 * ms, 0, 2'000},
            {format::GpuWorkKind::host_to_device, spec.rank % 2, 50, 200 * MiB, 10 * ms, 0, 0},
            {format::GpuWorkKind::graph_launches, spec.rank % 2, 10, 0, 0, 0, 0},
            {format::GpuWorkKind::recorded, spec.rank % 2, 1, 0, 1000 * ms, (620 - 20 * spec.rank) * ms, 0},
            {format::GpuWorkKind::nccl_running, spec.rank % 2, 1, 0, 290 * ms, 175 * ms, 0}};
    }
    return job;
}

std::vector<ProfileSpec> nccl_beside_mpi() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProfileSpec spec = rank_of(rank, 2, 2, "./solver --gpu");
        spec.communicators.push_back(nccl_comm("", 0xabc0, 2, rank));
        spec.calls = {collective("MPI_Allreduce", {calls_of(1000, 1 * MiB, 900 * ms, 500 * us, 2 * ms)}),
                      collective("MPI_Allgather", {calls_of(100, 1 * MiB, 100 * ms, 500 * us, 2 * ms)}),
                      of_nccl(collective("ncclAllReduce", {on(2, calls_of(500, 16 * MiB, 10 * ms, 10 * us, 60 * us))})),
                      of_nccl(setup("ncclCommInitRankConfig", {on(0, calls_of(1, 0, 300 * ms, 300 * ms, 300 * ms))}))};
        job.push_back(spec);
    }
    return job;
}

std::vector<ProfileSpec> two_solvers() {
    std::vector<ProfileSpec> job;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        ProfileSpec spec = rank_of(rank, 4, 2, "./flow case.nml");
        spec.modules = {{.path = "/home/user/bin/flow", .base = 0x5600 + rank * 0x1000, .build_id = {0xab, 1}},
                        {.path = "/home/user/lib/libcomm.so", .build_id = {0xab, 2}}};
        spec.common_frames = 3;
        spec.sites = {{{2, 0x1a40}, {1, 0x21f0}, {1, 0x1180}},   // pressure, through the layer
                      {{2, 0x1a40}, {1, 0x3388}, {1, 0x1199}},   // turbulence, through the same function
                      {{1, 0x40aa}, {1, 0x21a0}, {1, 0x1180}}};  // the halo
        const auto from = [](CellSpec cell, std::uint32_t site) {
            cell.site = site;
            return cell;
        };
        const std::uint64_t late = rank == 3 ? 0 : 600 * ms;  // the others wait for rank 3
        spec.calls = {collective("MPI_Allreduce", {from(calls_of(2000, 8, 40 * ms + late, 4 * us, 3 * ms), 1),
                                                   from(calls_of(500, 24, 12 * ms, 5 * us, 1 * ms), 2)}),
                      {.name = "MPI_Sendrecv",
                       .traffic = format::Traffic::exchange,
                       .cells = {from(calls_of(800, 48 * 1024, (150 + 10 * rank) * ms, 90 * us, 2 * ms), 3)}}};
        if (rank == 0) spec.calls.push_back(collective("MPI_Bcast", {calls_of(3, 4096, 1 * ms, 100 * us, 500 * us)}));
        job.push_back(spec);
    }
    return job;
}

}  // namespace mpiprof::test
