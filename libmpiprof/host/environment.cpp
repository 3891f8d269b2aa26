// Two tables: what is looked for, and what of it is noise.
#include "libmpiprof/host/environment.h"

#include <string.h>
#include <unistd.h>

#include "libmpiprof/base/text.h"
#include "libmpiprof/host/facts.h"

namespace mpiprof {
namespace {

// What others' settings begin with.
constexpr char prefixes[] =
    "OMPI_MCA_\0PMIX_MCA_\0PRTE_MCA_\0UCX_\0FI_\0I_MPI_\0MPICH_\0MPIR_CVAR_\0MV2_\0PSM2_\0PSM3_\0HCOLL_\0SHARP_\0NCCL_\0RCCL_\0"
    "TORCH_NCCL_\0HOROVOD_\0OMP_\0KMP_\0GOMP_\0CUDA_VISIBLE_DEVICES\0CUDA_DEVICE_\0ROCR_VISIBLE_DEVICES\0HIP_VISIBLE_DEVICES\0"
    "SLURM_CPU_BIND\0SLURM_DISTRIBUTION\0SLURM_JOB_NUM_NODES\0SLURM_NTASKS\0SLURM_CPUS_PER_TASK\0SLURM_GPUS\0SLURM_MEM_BIND\0"
    "SLURM_CLUSTER_NAME\0PBS_NODEFILE\0PALS_CPU_BIND\0MALLOC_\0";

// What a launcher sets for its own bookkeeping, new with each job.
constexpr char noise[] =
    "OMPI_MCA_orte_\0OMPI_MCA_ess\0OMPI_MCA_initial_wdir\0OMPI_MCA_pmix\0PMIX_MCA_mca_base\0OMPI_MCA_shmem_RUNTIME\0";

bool begins_with_one_of(const char* names, const char* text) {
    return any_of(names, [&](const char* name) { return strncmp(text, name, length_of(name)) == 0; });
}

}  // namespace

bool looks_secret(const char* word, std::size_t length) {
    static constexpr char marks[][12] = {"token",  "password", "passwd",  "secret",
                                         "apikey", "api-key",  "api_key", "credential"};
    for (const auto& mark : marks) {
        const std::size_t n = strlen(mark);
        for (std::size_t i = 0; i + n <= length; ++i) {
            std::size_t same = 0;
            while (same < n && lower(word[i + same]) == mark[same]) ++same;
            if (same == n) return true;
        }
    }
    return false;
}

void record_environment(Image& image) {
    for (char** variable = environ; variable && *variable; ++variable) {
        const char* equals = strchr(*variable, '=');
        if (!equals || !begins_with_one_of(prefixes, *variable) || begins_with_one_of(noise, *variable)) continue;
        char name[sizeof(format::Fact::name)] = "";
        append(name, *variable, static_cast<std::size_t>(equals - *variable));
        record_fact(image, format::FactKind::environment, name,
                    looks_secret(*variable, static_cast<std::size_t>(equals - *variable)) ? "***" : equals + 1);
    }
}

}  // namespace mpiprof
