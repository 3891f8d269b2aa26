// Three of CUPTI's functions under their own names: by them another client's coming and going is seen. They are handed
// on; where the process has no CUPTI, they answer as one that is not initialised.
#include "libmpiprof/gpu/cupti.h"

using namespace mpiprof::gpu;

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT int cuptiActivityRegisterCallbacks(cupti::Requested requested, cupti::Completed completed) {
    return the_cupti.lend(requested, completed);
}
EXPORT int cuptiActivityDisable(int kind) { return the_cupti.disable_for_other(kind); }
EXPORT int cuptiFinalize() { return the_cupti.finalize_for_other(); }
