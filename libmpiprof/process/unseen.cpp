// By file name: a beginning, and what people call it.
#include "libmpiprof/process/unseen.h"

#include <link.h>
#include <string.h>

#include "libmpiprof/process/place.h"
#include "libmpiprof/record/text.h"

namespace mpiprof {
namespace {

// Pairs. Libraries that MPI and NCCL use for themselves would be no news: UCX, libfabric, PSM, HCOLL.
constexpr char libraries[] =
    "libccl.so\0oneCCL\0libucc.so\0UCC\0libgloo.so\0Gloo\0libnvshmem_host.so\0NVSHMEM\0libnvshmem.so\0NVSHMEM\0"
    "librocshmem.so\0rocSHMEM\0liboshmem.so\0OpenSHMEM\0libsma.so\0OpenSHMEM\0libmscclpp\0MSCCL++\0libgpi2\0GPI-2\0";

struct Search {
    Image* image;
    std::uint32_t* told;
};

int look_at(dl_phdr_info* object, std::size_t, void* context) {
    const Search& search = *static_cast<Search*>(context);
    if (!object->dlpi_name) return 0;
    const char* slash = strrchr(object->dlpi_name, '/');
    const char* name = slash ? slash + 1 : object->dlpi_name;
    std::uint32_t bit = 1;
    for (const char* prefix = libraries; *prefix; bit <<= 1) {
        const char* library = prefix + length_of(prefix) + 1;
        if (strncmp(name, prefix, length_of(prefix)) == 0 && !(*search.told & bit)) {
            *search.told |= bit;
            record_fact(*search.image, format::FactKind::process, "not_profiled", library);
        }
        prefix = library + length_of(library) + 1;
    }
    return 0;
}

}  // namespace

void Unseen::record(Image& image) {
    Search search{&image, &told_};
    dl_iterate_phdr(look_at, &search);
}

}  // namespace mpiprof
