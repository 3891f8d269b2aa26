// The names of facts (layout.h, Fact) that are written here and read there: each stands once. What has an entry behind
// it is followed by a dot and the entry's name ("nic_numa.mlx5_0"). Facts that are only shown have their names where
// they are written.
#pragma once

namespace mpiprof::format::facts {

// ---- of a process ----
inline constexpr char cpus_allowed[] = "cpus_allowed";
inline constexpr char memory_nodes_allowed[] = "memory_nodes_allowed";
inline constexpr char cpu_at_start[] = "cpu_at_start";
inline constexpr char not_profiled[] = "not_profiled";    // a communication library that is loaded
inline constexpr char moves_unseen[] = "moves_unseen";    // one whose kernels move data between GPUs by themselves
inline constexpr char nccl_by_dlsym[] = "nccl_by_dlsym";  // NCCL's functions were fetched past us: "yes"
// Who the process is for the kernel: the inode of its PID namespace, and when it began, in clock ticks after boot.
inline constexpr char kernels_name[] = "pid_namespace_and_start";
// What was noticed of the clocks at the end: how long the machine slept during the run; the time since the first MPI
// call by the clock that libc has for the program, and by the kernel's own, where another library moves the first; the
// counter's rate as named by the kernel or the processor, where the clocks disagree.
inline constexpr char slept_ns[] = "slept_ns";
inline constexpr char clock_moved[] = "clock_moved";
inline constexpr char counter_khz[] = "counter_khz";
inline constexpr char not_said[] = "not_said";  // a line for standard error, which was not the user's any more
// Why there is no helper thread where one was wanted: nothing is up to date before the end.
inline constexpr char no_helper_thread[] = "no_helper_thread";
inline constexpr char may_change_rights[] = "may change its rights";
inline constexpr char mpi_is_cuda_aware[] = "mpi_is_cuda_aware";  // "yes", "no"
inline constexpr char yes[] = "yes", no[] = "no";
inline constexpr char clock_offset_at_start[] = "clock_offset_at_start", clock_offset_at_end[] = "clock_offset_at_end";
inline constexpr char gpu_times[] = "gpu_times";  // where the times of the GPU are from
inline constexpr char gpu_not_timed[] =
    "gpu_not_timed";                            // an entry each reason: how many operations have no time for it
inline constexpr char captured[] = "captured";  // one of these: into a CUDA graph
inline constexpr char gpu_records_dropped[] = "gpu_records_dropped";
inline constexpr char graphs_followed[] =
    "graphs_followed";  // replays of CUDA graphs are counted: "yes"; last "no": some
inline constexpr char nccl_plugin_behind[] = "nccl_plugin_behind";  // another profiler plugin that is told, or why not

// ---- of a node ----
inline constexpr char processor[] = "processor";
inline constexpr char cpus[] = "cpus";
inline constexpr char numa_cpus[] = "numa_cpus";
inline constexpr char gpu_numa[] = "gpu_numa", gpu_pci[] = "gpu_pci", kfd_gpu[] = "kfd_gpu";
inline constexpr char nvlinks[] = "nvlinks";  // of a GPU: "<bus address of another> <links>, switch <links>"
inline constexpr char nvlink_switch[] = "switch";
inline constexpr char nic_numa[] = "nic_numa", nic_pci[] = "nic_pci", nic_rate[] = "nic_rate";
inline constexpr char port[] = "port";    // <device>/<port>: "<state> <kind of link> <rate>"
inline constexpr char verbs[] = "verbs";  // uverbs<n>: the adapter that this device file is of
inline constexpr char net_mbit[] = "net_mbit";
inline constexpr char nvidia_peermem[] = "nvidia_peermem", nv_peer_mem[] = "nv_peer_mem";  // modules of the kernel

// ---- counters of a node (NodeCounter) ----
inline constexpr char energy_node[] = "energy.node";
inline constexpr char energy_accelerators[] = "energy.accelerators";

}  // namespace mpiprof::format::facts
