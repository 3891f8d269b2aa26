// By file name: a beginning, and what people call it.
#include "libmpiprof/host/unseen.h"

#include "libmpiprof/base/loader.h"
#include "libmpiprof/format/facts.h"
#include "libmpiprof/host/facts.h"

namespace mpiprof {
namespace {

// Libraries that MPI and NCCL use for themselves would be no news: UCX, libfabric, PSM, HCOLL.
struct Library {
    char files[24];  // how their names begin: as any_loaded() wants it, since the rest is zeros
    char name[16];
};
constexpr Library libraries[] = {
    {"libccl.so", "oneCCL"},       {"libucc.so", "UCC"},
    {"libgloo.so", "Gloo"},        {"libnvshmem_host.so", "NVSHMEM"},
    {"libnvshmem.so", "NVSHMEM"},  {"librocshmem.so", "rocSHMEM"},
    {"liboshmem.so", "OpenSHMEM"}, {"libsma.so", "OpenSHMEM"},
    {"libmscclpp", "MSCCL++"},     {"libgpi2", "GPI-2"},
};

}  // namespace

void Unseen::record(Image& image) {
    std::uint32_t bit = 1;
    for (const Library& library : libraries) {
        if (!(told_ & bit) && any_loaded(library.files, [](const char*) { return true; })) {
            told_ |= bit;
            record_fact(image, format::FactKind::process, format::facts::not_profiled, library.name);
        }
        bit <<= 1;
    }
}

}  // namespace mpiprof
