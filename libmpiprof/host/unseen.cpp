// By file name: a beginning, and what people call it.
#include "libmpiprof/host/unseen.h"

#include <string.h>

#include <iterator>

#include "libmpiprof/base/loader.h"
#include "libmpiprof/format/facts.h"
#include "libmpiprof/host/facts.h"

namespace mpiprof {
namespace {

// Libraries that MPI and NCCL use for themselves would be no news: UCX, libfabric, PSM, HCOLL.
struct Library {
    char files[24];  // how their names begin: as any_loaded() wants it, since the rest is zeros
    char folder[8];  // that their paths have in them; empty: any
    char name[24];
    bool is_of_kernels;  // what it moves, kernels move by themselves: loaded by those alone who want that
    char unless[24];     // beside one whose name begins so it says nothing; as `files`
};
constexpr Library libraries[] = {
    {"libccl.so", "", "oneCCL", false, ""},
    {"libucc.so", "", "UCC", false, ""},
    {"libgloo.so", "", "Gloo", false, ""},
    {"liboshmem.so", "", "OpenSHMEM", false, ""},
    {"libsma.so", "", "OpenSHMEM", false, ""},
    {"libgpi2", "", "GPI-2", false, ""},
    // Every PyTorch since 2.8 has loaded it, and every JAX. Who begins to use it opens a plugin for that.
    {"libnvshmem", "", "NVSHMEM", true, "libtorch\0xla_cuda\0"},
    {"nvshmem_bootstrap", "", "NVSHMEM", true, ""},
    {"librocshmem.so", "", "rocSHMEM", true, ""},
    {"libmscclpp", "", "MSCCL++", true, ""},
    {"deep_ep_cpp", "", "DeepEP", true, ""},
    {"libnccl_ep", "", "NCCL EP", true, ""},
    {"libtensorrt_llm", "", "TensorRT-LLM", true, ""},
    {"libth_common", "", "TensorRT-LLM", true, ""},
    {"_C.", "/vllm/", "vLLM's own all-reduce", true, ""},
    {"common_ops.", "/sgl_", "SGLang's own all-reduce", true, ""},
};
static_assert(std::size(libraries) <= 32, "a bit for each");

bool is_loaded(const Library& library) {
    return any_loaded(library.files, [&](const char* path) { return strstr(path, library.folder) != nullptr; }) &&
           (!library.unless[0] || !any_loaded(library.unless, [](const char*) { return true; }));
}

}  // namespace

void Unseen::record(Image& image) {
    std::uint32_t bit = 1;
    for (const Library& library : libraries) {
        if (!(told_ & bit) && is_loaded(library)) {
            told_ |= bit;
            record_fact(image, format::FactKind::process,
                        library.is_of_kernels ? format::facts::moves_unseen : format::facts::not_profiled,
                        library.name);
        }
        bit <<= 1;
    }
}

}  // namespace mpiprof
