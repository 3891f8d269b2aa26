/* A Python package, so to speak: a library that brings its own NCCL and uses it at each call of use_nccl(). */
#include "tests/nccl/nccl.h"

#include <string.h>

#define F(name, arguments) int name arguments;
NCCL_FUNCTIONS(F)
#undef F

int use_nccl(void) {
    static ncclComm_t comm;
    char buffer[8];
    if (!comm) {
        ncclUniqueId id;
        if (ncclGetUniqueId(&id) || ncclCommInitRank(&comm, 1, id, 0)) return 1;
    }
    return ncclAllReduce(buffer, buffer, 10, ncclFloat32, ncclSum, comm, NULL);
}
