// The list.
#include "tests/report/all_stories.h"

#include "tests/report/seed003_profiles.h"
#include "tests/report/stories.h"

namespace mpiprof::test {
namespace {

constexpr Story stories[] = {
    {"balanced_stencil", balanced_stencil},
    {"background_training", background_training},
    {"uneven_work", uneven_work},
    {"slow_node", slow_node},
    {"killed_in_receive", killed_in_receive},
    {"errors_and_drops", errors_and_drops},
    {"file_writer", file_writer},
    {"crowded_cores", crowded_cores},
    {"device_buffers", device_buffers},
    {"gpu_training", gpu_training},
    {"gpu_training_with_cupti", gpu_training_with_cupti},
    {"nccl_beside_mpi", nccl_beside_mpi},
    {"late_messages", late_messages},
    {"one_never_arrived", one_never_arrived},
    {"seed003_cpu", seed003_cpu},
    {"seed003_gpu", seed003_gpu},
};

}  // namespace

std::span<const Story> all_stories() { return stories; }

}  // namespace mpiprof::test
