/* As PyTorch does: a script calls a library of C++, which calls NCCL; or a thread of the library's own does (autograd).
 */
#include "tests/nccl/linked_or_fetched.h"

#include <pthread.h>
#include <string.h>

static ncclComm_t comm;

void c10d_begin(int size, int rank) {
    ncclUniqueId id;
    memset(&id, 0, sizeof id);
    strcpy(id.internal, "w:torch");
    id.internal[127] = 'z';
    ncclCommInitRank(&comm, size, id, rank);
}
void c10d_all_reduce(void) { ncclAllReduce(&comm, &comm, 1000, ncclFloat32, ncclSum, comm, 0); }
void c10d_end(void) { ncclCommDestroy(comm); }

static void* reduce_bucket(void* unused) {
    c10d_all_reduce();
    return unused;
}
void c10d_backward(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reduce_bucket, 0);
    pthread_join(thread, 0);
}
