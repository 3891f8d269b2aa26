// The text that mpitrace users know, as printf formats: what `mpi_profile.<job>.<rank>` looked like under IBM's
// mpitrace. libmpiprof writes one rank's part with these at the end of a run, the reporter's layouts write any
// rank's and the job's part. Facts and formats only; nothing here formats or knows a profile.
//
// There are two layouts. `mpitrace` is the one of the installations around 2019 to 2021 ("Times and statistics",
// MBytes, 65 dashes below the table); `mpitrace-2025` is mpitrace's newest ("Times from", MiB, 71 dashes, a cpu
// column, everything about other ranks at the end). A constant without a year is the same in both.
//
//   Data for MPI rank 0 of 16:                                             head
//   Times and statistics from MPI_Init() to MPI_Finalize().                times_older
//   -----------------------------------------------------------------------
//   MPI Routine                        #calls     avg. bytes      time(sec)   routines_head
//   -----------------------------------------------------------------------
//   MPI_Bcast                             123       117124.9          0.018   routine
//   -----------------------------------------------------------------
//   MPI task 0 of 16 had the minimum communication time.                   extreme_rank (needs all ranks)
//   total communication time = 10.602 seconds.                             communication_time
//   ...
//   max resident set size    = 1655.000 MBytes.                            resident_older
//
//   Rank 3 reported the largest memory utilization : 1873.82 MBytes        largest_memory_older (needs all ranks)
//   Rank 7 reported the largest elapsed time : 15.55 sec                   largest_elapsed (needs all ranks)
//
//   -----------------------------------------------------------------
//   Message size distributions:
//
//   MPI_Bcast                 #calls    avg. bytes      time(sec)          sizes_head
//                                 49           4.0          0.000          size
//
//   -----------------------------------------------------------------      from here: rank 0 only, needs all ranks
#pragma once

namespace mpiprof::format::mpitrace {

inline constexpr char rule_71[] = "-----------------------------------------------------------------------\n";
inline constexpr char rule_65[] = "-----------------------------------------------------------------\n";

// ---- one rank ----
inline constexpr char head[] = "Data for MPI rank %u of %u:\n";  // rank, size
inline constexpr char times_older[] = "Times and statistics from MPI_Init() to MPI_Finalize().\n";
inline constexpr char times_2025[] = "Times from MPI_Init() to MPI_Finalize().\n";
// The program switched recording off and on itself (recording was paused).
inline constexpr char times_pcontrol_older[] = "Times and statistics from MPI_Pcontrol(1) to MPI_Pcontrol(0).\n";
inline constexpr char times_pcontrol_2025[] = "Times from MPI_Pcontrol(1) to MPI_Pcontrol(0).\n";
inline constexpr char routines_head[] = "MPI Routine                        #calls     avg. bytes      time(sec)\n";
// Name, calls, bytes / calls, seconds. Every routine with calls, in the order of routine_order; counted calls
// have 0.0 bytes and 0.000 seconds. Followed by rule_65 (older) or rule_71 (2025).
inline constexpr char routine[] = "%-28s %12llu    %11.1f   %12.3f\n";
// Rank, size, "minimum", "maximum" or "median". Each line that is true, in this order.
inline constexpr char extreme_rank[] = "MPI task %u of %u had the %s communication time.\n";
inline constexpr char communication_time[] = "total communication time = %.3f seconds.\n";  // without MPI-IO
inline constexpr char elapsed_time[] = "total elapsed time       = %.3f seconds.\n";
inline constexpr char exclusive_time[] = "exclusive elapsed time   = %.3f seconds.\n";  // only if recording was paused
inline constexpr char user_time[] = "user cpu time            = %.3f seconds.\n";
inline constexpr char system_time[] = "system time              = %.3f seconds.\n";
inline constexpr char resident_older[] = "max resident set size    = %.3f MBytes.\n";  // KiB / 1024 in both
inline constexpr char resident_2025[] = "max resident set size    = %.3f MiB.\n";
inline constexpr char io_time[] = "\ntotal MPI-IO time = %.3f seconds.\n";  // only if MPI-IO routines were called
// Then an empty line, (older only: largest_memory_older, largest_elapsed, an empty line), rule_65:
inline constexpr char sizes_title[] = "Message size distributions:\n\n";
// For every routine with bytes: sizes_head, one `size` per bin with calls, an empty line.
inline constexpr char sizes_head[] = "%-22s    #calls    avg. bytes      time(sec)\n";
inline constexpr char size[] = "                    %12llu   %11.1f   %12.3f\n";  // calls, bytes / calls, seconds

// ---- NCCL, of which mpitrace knows nothing: the same tables once more, for ranks that called it. A blank line and a
// rule come first, rule_71 where the table ends. Times are those of the host; the GPU's stand behind them where they
// are known. ----
inline constexpr char nccl_head[] = "NCCL Routine                       #calls     avg. bytes      host(sec)\n";
inline constexpr char nccl_routine[] = "%-28s %12llu    %11.1f   %12.3f\n";
inline constexpr char nccl_head_gpu[] =
    "NCCL Routine                       #calls     avg. bytes      host(sec)       gpu(sec)\n";
inline constexpr char nccl_routine_gpu[] = "%-28s %12llu    %11.1f   %12.3f   %12.3f\n";
inline constexpr char nccl_host_time[] = "total NCCL time on the host = %.3f seconds.\n";
inline constexpr char nccl_gpu_time[] = "total NCCL time on the GPU  = %.3f seconds.\n";
inline constexpr char nccl_sizes_title[] = "NCCL message size distributions:\n\n";

// ---- the job: rank 0's file ends with it (rule_65 first) ----
inline constexpr char largest_memory_older[] = "Rank %u reported the largest memory utilization : %.2f MBytes\n";
inline constexpr char largest_memory_2025[] = "  Rank %u reported the largest memory utilization : %.2f MiB\n";
inline constexpr char largest_elapsed_older[] = "Rank %u reported the largest elapsed time : %.2f sec\n";
inline constexpr char largest_elapsed_2025[] = "  Rank %u reported the largest elapsed time : %.2f sec\n";
inline constexpr char job_title_older[] = "\nCommunication summary for all tasks:\n\n";
inline constexpr char job_title_2025[] = "\nSummary for all tasks:\n\n";
inline constexpr char minimum_time[] = "  minimum communication time = %.3f sec for task %u\n";
inline constexpr char median_time[] = "  median  communication time = %.3f sec for task %u\n";
inline constexpr char maximum_time[] = "  maximum communication time = %.3f sec for task %u\n";
// Only if some rank called MPI-IO routines:
inline constexpr char io_minimum[] = "\n  minimum MPI-IO time = %.3f seconds\n";
inline constexpr char io_average[] = "  average MPI-IO time = %.3f seconds\n";
inline constexpr char io_maximum[] = "  maximum MPI-IO time = %.3f seconds\n";
// Only above 32 ranks; bins of equal width, the first centred on the minimum, the last on the maximum.
inline constexpr char histogram_head[] = "Histogram of times spent in MPI\n    time-bin    #ranks\n";
inline constexpr char histogram_bin[] = "%12.3f  %8u\n";  // centre in seconds, ranks
inline constexpr unsigned histogram_bins = 15;
inline constexpr unsigned histogram_above_ranks = 32;
inline constexpr char ranks_title[] = "MPI timing summary for all ranks:\n";
// Width of the host column, its title. Older: 14 wide, or the longest host name; 2025: the longest name + 2.
inline constexpr char ranks_head_older[] =
    "taskid %*s     comm(s)  elapsed(s)     user(s)   system(s)    size(MB)    switches\n";
inline constexpr char ranks_head_2025[] =
    "taskid %*s    cpu    comm(s)  elapsed(s)     user(s)   system(s)   size(MiB)    switches\n";
// Rank, width, host (cut at the first dot), [cpu at the end], seconds in MPI, elapsed, user, system, MiB, switches.
// Switches: older voluntary and involuntary, 2025 involuntary ones.
inline constexpr char ranks_row_older[] = "%6u %*s %10.2f  %10.2f  %10.2f  %10.2f  %10.2f  %10llu\n";
inline constexpr char ranks_row_2025[] = "%6u %*s %6d %10.2f  %10.2f  %10.2f  %10.2f  %10.2f  %10llu\n";

// The order of the routine table. mpitrace knows no other routines; whoever records more appends them: those that
// are no MPI-IO after MPI_Win_wait, the others at the end. One block of text, so that it needs no relocations.
inline constexpr char routine_order[] =
    "MPI_Comm_rank\0MPI_Comm_size\0MPI_Send\0MPI_Ssend\0MPI_Rsend\0MPI_Bsend\0MPI_Isend\0MPI_Issend\0MPI_Irsend\0"
    "MPI_Ibsend\0MPI_Send_init\0MPI_Ssend_init\0MPI_Rsend_init\0MPI_Bsend_init\0MPI_Recv_init\0MPI_Recv\0MPI_Irecv\0"
    "MPI_Sendrecv\0MPI_Sendrecv_replace\0MPI_Buffer_attach\0MPI_Buffer_detach\0MPI_Probe\0MPI_Iprobe\0MPI_Test\0"
    "MPI_Testany\0MPI_Testall\0MPI_Testsome\0MPI_Wait\0MPI_Waitany\0MPI_Waitall\0MPI_Waitsome\0MPI_Start\0"
    "MPI_Startall\0MPI_Bcast\0MPI_Ibcast\0MPI_Barrier\0MPI_Ibarrier\0MPI_Reduce\0MPI_Ireduce\0MPI_Allreduce\0"
    "MPI_Iallreduce\0MPI_Reduce_scatter\0MPI_Ireduce_scatter\0MPI_Reduce_scatter_block\0"
    "MPI_Ireduce_scatter_block\0MPI_Gather\0MPI_Igather\0MPI_Gatherv\0MPI_Igatherv\0MPI_Scan\0MPI_Iscan\0"
    "MPI_Exscan\0MPI_Iexscan\0MPI_Allgather\0MPI_Neighbor_allgather\0MPI_Iallgather\0MPI_Ineighbor_allgather\0"
    "MPI_Allgatherv\0MPI_Neighbor_allgatherv\0MPI_Iallgatherv\0MPI_Ineighbor_allgatherv\0MPI_Scatter\0"
    "MPI_Iscatter\0MPI_Scatterv\0MPI_Iscatterv\0MPI_Alltoall\0MPI_Neighbor_alltoall\0MPI_Ialltoall\0"
    "MPI_Ineighbor_alltoall\0MPI_Alltoallv\0MPI_Neighbor_alltoallv\0MPI_Ialltoallv\0MPI_Ineighbor_alltoallv\0"
    "MPI_Alltoallw\0MPI_Neighbor_alltoallw\0MPI_Ialltoallw\0MPI_Ineighbor_alltoallw\0MPI_Accumulate\0"
    "MPI_Fetch_and_op\0MPI_Get\0MPI_Get_accumulate\0MPI_Put\0MPI_Raccumulate\0MPI_Rget\0MPI_Rget_accumulate\0"
    "MPI_Rput\0MPI_Win_allocate\0MPI_Win_allocate_shared\0MPI_Win_attach\0MPI_Win_complete\0MPI_Win_create\0"
    "MPI_Win_create_dynamic\0MPI_Win_detach\0MPI_Win_fence\0MPI_Win_flush\0MPI_Win_flush_all\0MPI_Win_flush_local\0"
    "MPI_Win_flush_local_all\0MPI_Win_free\0MPI_Win_lock\0MPI_Win_lock_all\0MPI_Win_post\0MPI_Win_start\0"
    "MPI_Win_sync\0MPI_Win_test\0MPI_Win_unlock\0MPI_Win_unlock_all\0MPI_Win_wait\0"
    "MPI_File_close\0MPI_File_delete\0MPI_File_iread\0MPI_File_iread_at\0MPI_File_iread_shared\0MPI_File_iwrite\0"
    "MPI_File_iwrite_at\0MPI_File_iwrite_shared\0MPI_File_open\0MPI_File_preallocate\0MPI_File_read\0"
    "MPI_File_read_all\0MPI_File_read_all_begin\0MPI_File_read_all_end\0MPI_File_read_at\0MPI_File_read_at_all\0"
    "MPI_File_read_at_all_begin\0MPI_File_read_at_all_end\0MPI_File_read_ordered\0MPI_File_read_ordered_begin\0"
    "MPI_File_read_ordered_end\0MPI_File_read_shared\0MPI_File_seek\0MPI_File_seek_shared\0MPI_File_set_view\0"
    "MPI_File_sync\0MPI_File_write\0MPI_File_write_all\0MPI_File_write_all_begin\0MPI_File_write_all_end\0"
    "MPI_File_write_at\0MPI_File_write_at_all\0MPI_File_write_at_all_begin\0MPI_File_write_at_all_end\0"
    "MPI_File_write_ordered\0MPI_File_write_ordered_begin\0MPI_File_write_ordered_end\0MPI_File_write_shared\0";
inline constexpr int routines = 146;
inline constexpr int first_io_routine = 108;  // MPI_File_close

constexpr bool is_same_name(const char* a, const char* b) {
    while (*a != '\0' && *a == *b) ++a, ++b;
    return *a == *b;
}

// The place of a routine in the table, -1 if mpitrace has no such row.
constexpr int position_of(const char* name) {
    int position = 0;
    for (const char* at = routine_order; *at != '\0'; ++position) {
        if (is_same_name(at, name)) return position;
        while (*at++ != '\0') {
        }
    }
    return -1;
}

// MPI-IO is counted apart from communication.
constexpr bool is_file_routine(const char* name) {
    for (const char* want = "MPI_File_"; *want != '\0'; ++want, ++name)
        if (*want != *name) return false;
    return true;
}

// The place of any MPI routine in the table, known to mpitrace or not; equal numbers are sorted by name.
// A large-count twin (MPI_Send_c) is not known, so it is found among the appended ones.
constexpr int sort_key(const char* name) {
    const int position = position_of(name);
    if (is_file_routine(name)) return position < 0 ? routines + 1 : position + 1;
    return position < 0 ? first_io_routine : position;
}

static_assert(position_of("MPI_Comm_rank") == 0 && position_of("MPI_Win_wait") == 107);
static_assert(position_of("MPI_File_close") == first_io_routine);
static_assert(position_of("MPI_File_write_shared") == routines - 1 && position_of("MPI_Comm_split") == -1);
static_assert(position_of("") == -1 && position_of("MPI_Sen") == -1 && position_of("MPI_Wait") == 27);
static_assert(sort_key("MPI_Win_wait") < sort_key("MPI_Comm_split"));
static_assert(sort_key("MPI_Comm_split") < sort_key("MPI_File_close"));
static_assert(sort_key("MPI_File_write_shared") < sort_key("MPI_File_iread_all"));

}  // namespace mpiprof::format::mpitrace
