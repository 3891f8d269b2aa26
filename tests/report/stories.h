// Small jobs that each tell a story a report must get right. For the tests of sections, views and exports.
#pragma once

#include <vector>

#include "tests/report/profile_builder.h"

namespace mpiprof::test {

std::vector<ProfileSpec> balanced_stencil();     // 8 ranks on 2 nodes, halo exchange, nothing to complain about
std::vector<ProfileSpec> background_training();  // 4 ranks, MPI on a background thread beside compute
std::vector<ProfileSpec> uneven_work();          // 4 ranks, rank 2 computes longer, the others wait in Allreduce
std::vector<ProfileSpec> slow_node();            // 96 ranks on 12 nodes, all ranks of one compute longer
std::vector<ProfileSpec> killed_in_receive();    // 4 ranks: one aborted, two killed in MPI_Recv, one without a file
std::vector<ProfileSpec> errors_and_drops();     // 2 ranks: calls that failed, a table that was full
std::vector<ProfileSpec> file_writer();          // 2 ranks that write with MPI-IO
std::vector<ProfileSpec> crowded_cores();        // 4 ranks on too few cores
std::vector<ProfileSpec> late_messages();        // 2 ranks that wait for the receives they posted
std::vector<ProfileSpec> one_never_arrived();    // 16 ranks, killed: 15 in a barrier that rank 7 did not enter
std::vector<ProfileSpec> gpu_training();         // 4 ranks on 2 nodes by torchrun: NCCL without MPI
// The same with GPU times; rank 2 comes last to 3 of 4 collectives of default_pg.
std::vector<ProfileSpec> gpu_training_with_cupti();
std::vector<ProfileSpec> nccl_beside_mpi();  // 2 ranks that use both
std::vector<ProfileSpec> device_buffers();   // 2 ranks that send from device memory
std::vector<ProfileSpec> two_solvers();      // 4 ranks that sum up behind one function, for two solvers, and a halo

}  // namespace mpiprof::test
