/* What the real NCCL answers where there is no GPU, by its own header: calls that it refuses, and a group of one of
 * them. Every answer is a line, so that runs with a profiler and without are compared as text. */
#include <nccl.h>
#include <stdio.h>
#include <string.h>

#define SAY(call) printf("%s = %d\n", #call, (int)(call))

int main(void) {
    static char buffer[64];
    ncclConfig_t nonblocking = NCCL_CONFIG_INITIALIZER;
    ncclComm_t comm = NULL, other = NULL;
    ncclUniqueId id;
    int n = -1;
    nonblocking.blocking = 0;
    SAY(ncclGetVersion(&n));
    SAY(ncclGetUniqueId(&id));
    SAY(ncclCommInitRank(&comm, 1, id, 0));
    SAY(ncclCommInitRankConfig(&other, 1, id, 0, &nonblocking));
    printf("communicators %d %d\n", comm != NULL, other != NULL);
    SAY(ncclAllReduce(buffer, buffer, 4, ncclFloat, ncclSum, NULL, NULL));
    SAY(ncclBcast(buffer, 4, ncclFloat, 0, NULL, NULL)); /* which calls ncclBroadcast */
    SAY(ncclGroupStart());
    SAY(ncclSend(buffer, 4, ncclFloat, 0, NULL, NULL));
    SAY(ncclGroupEnd());
    SAY(ncclCommCount(NULL, &n));
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 18, 1)
    SAY(ncclCommSplit(NULL, 0, 0, &other, NULL));
#endif
    printf("%s\n", ncclGetErrorString(ncclInvalidArgument));
    return 0;
}
