/* A plug-in that trains with CUDA graphs: linked with NCCL and with a CUDA runtime of its own, opened RTLD_LOCAL.
 * play() captures, copies, updates and launches; how often each operation is replayed stands beside it. */
#include "tests/gpu/doubles/cuda.h"
#include "tests/nccl/linked_or_fetched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define F(name, arguments) int name arguments;
CUDA_FUNCTIONS(F)
#undef F

typedef struct executable* cudaGraphExec_t;
int cudaStreamBeginCapture(CUstream, int), cudaStreamBeginCapture_ptsz(CUstream, int);
int cudaStreamBeginCaptureToGraph(CUstream, CUgraph, void**, void*, size_t, int);
int cudaStreamEndCapture(CUstream, CUgraph*), cudaStreamEndCapture_ptsz(CUstream, CUgraph*);
#if CUDART == 11
int cudaGraphInstantiate(cudaGraphExec_t*, CUgraph, void**, char*, size_t);
#else
int cudaGraphInstantiate(cudaGraphExec_t*, CUgraph, unsigned long long);
#endif
int cudaGraphInstantiateWithFlags(cudaGraphExec_t*, CUgraph, unsigned long long);
int cudaGraphInstantiateWithParams(cudaGraphExec_t*, CUgraph, int*);
int cudaGraphExecUpdate(cudaGraphExec_t, CUgraph, int*);
int cudaGraphLaunch(cudaGraphExec_t, CUstream), cudaGraphLaunch_ptsz(cudaGraphExec_t, CUstream);
int cudaGraphExecDestroy(cudaGraphExec_t), cudaGraphDestroy(CUgraph), cudaGraphClone(CUgraph*, CUgraph);
int cudaGraphAddChildGraphNode(void**, CUgraph, void**, size_t, CUgraph);

static void must(int result, const char* what) {
    if (result == 0) return;
    fprintf(stderr, "%s is %d\n", what, result);
    exit(1);
}
#define OK(call) must(call, #call)

static char buffer[64];
static ncclComm_t c;
static void reduce(CUstream s) { OK(ncclAllReduce(buffer, buffer, 1000, ncclFloat32, ncclSum, c, s)); }
static void gather(CUstream s) { OK(ncclAllGather(buffer, buffer, 100, ncclFloat32, c, s)); }

static cudaGraphExec_t executable_of(CUgraph graph) {
    cudaGraphExec_t made;
#if CUDART == 11
    char text[64];
    void* wrong;
    OK(cudaGraphInstantiate(&made, graph, &wrong, text, sizeof text));
    must(strcmp(text, "fine"), "the text");
#else
    OK(cudaGraphInstantiate(&made, graph, 1));
#endif
    return made;
}
static void launch(cudaGraphExec_t what, int times, CUstream s) {
    for (int i = 0; i < times; ++i) OK(cudaGraphLaunch(what, s));
    OK(cuStreamSynchronize(s));
}

static CUstream s, other;
static void begin(int rank, int size) {
    CUcontext context;
    ncclUniqueId id;
    memset(&id, 0, sizeof id);
    snprintf(id.internal, sizeof id.internal, "w:graphs");
    id.internal[127] = 'z';
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&s, 0));
    OK(cuStreamCreate(&other, 0));
    OK(ncclCommInitRank(&c, size, id, rank));
}

static void launch_extended(void) {
    CUgraph graph, same;
    OK(cudaStreamBeginCapture(s, capture_relaxed));
    reduce(s);
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaStreamBeginCaptureToGraph(s, graph, NULL, NULL, 0, capture_relaxed));
    gather(s);
    OK(cudaStreamEndCapture(s, &same));
    must(graph != same, "another graph");
    launch(executable_of(graph), 3, s); /* 3 reductions, 3 gathers */
}

static void launch_messages(void) {
    CUgraph sends;
    OK(cudaStreamBeginCapture_ptsz(s, capture_relaxed));
    OK(ncclGroupStart());
    OK(ncclSend(buffer, 50, ncclFloat32, 1, c, s));
    OK(ncclRecv(buffer, 50, ncclFloat32, 1, c, s));
    OK(ncclGroupEnd());
    OK(cudaStreamEndCapture_ptsz(s, &sends));
    const cudaGraphExec_t made = executable_of(sends);
    for (int i = 0; i < 7; ++i) OK(cudaGraphLaunch_ptsz(made, s)); /* 7 each */
    OK(cuStreamSynchronize(s));
}

int play(int rank, int size) {
    CUgraph graph, clone, both, empty, within;
    cudaGraphExec_t made, of_clone, of_both;
    void* node;
    int params = 0, result;
    begin(rank, size);
    OK(cudaStreamBeginCapture(s, capture_global));
    for (int i = 0; i < 4; ++i) reduce(s);
    reduce(other); /* not captured */
    OK(cudaStreamEndCapture(s, &graph));
    made = executable_of(graph);
    launch(made, 5, s); /* 20 reductions */

    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphInstantiateWithFlags(&of_clone, clone, 1));
    launch(of_clone, 2, s); /* 8 reductions */

    OK(cudaStreamBeginCapture(s, capture_relaxed)); /* over two streams */
    fake_cuda_join(other, s);
    reduce(s), gather(other);
    fake_cuda_join(other, NULL);
    OK(cudaStreamEndCapture(s, &both));
    OK(cudaGraphInstantiateWithParams(&of_both, both, &params));
    must(params != 7, "the parameters");
    launch(of_both, 3, s); /* 3 reductions, 3 gathers */

    OK(cudaStreamBeginCapture(s, capture_relaxed)); /* a graph within a capture */
    OK(cudaGraphLaunch(of_both, s));
    OK(cudaStreamEndCapture(s, &within));
    launch(executable_of(within), 4, s); /* 4 reductions, 4 gathers */

    OK(cudaGraphAddChildGraphNode(&node, both, NULL, 0, clone));
    OK(cudaGraphExecUpdate(made, both, &result));
    must(cudaGraphExecUpdate(of_clone, NULL, &result) == 0, "an update to nothing");
    launch(made, 2, s);     /* 10 reductions, 2 gathers */
    launch(of_clone, 1, s); /* 4 reductions */

    OK(cudaGraphExecDestroy(of_both)); /* its handle is the next one's */
    OK(cudaStreamBeginCapture(s, capture_relaxed));
    OK(cudaStreamEndCapture(s, &empty));
    made = executable_of(empty);
    must(made != of_both, "another handle");
    launch(made, 50, s); /* nothing */

    launch_extended();
    launch_messages();
    OK(ncclCommDestroy(c));
    return 0;
}
