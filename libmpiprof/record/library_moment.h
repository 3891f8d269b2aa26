// How many libraries came and went in this process so far: what is known of addresses holds as long as this is the
// same. Asked by whoever remembers code: the rules of frames, the modules of call sites. Costs a visit to the loader's
// list.
#pragma once

#include <link.h>

#include <cstddef>

namespace mpiprof {

struct LibraryMoment {
    unsigned long long adds = 0, subs = 0;
    bool operator==(const LibraryMoment&) const = default;

    static LibraryMoment now() {
        LibraryMoment moment;
        dl_iterate_phdr(
            [](dl_phdr_info* info, std::size_t, void* argument) {
                *static_cast<LibraryMoment*>(argument) = {info->dlpi_adds, info->dlpi_subs};
                return 1;
            },
            &moment);
        return moment;
    }
};

}  // namespace mpiprof
