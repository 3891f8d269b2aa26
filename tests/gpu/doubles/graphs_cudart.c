/* A libcudart as far as it captures, makes and launches graphs, on the double of libcuda: what a PyTorch is linked
 * with. A handle that was destroyed is the next one's. -DCUDART=11: with cudaGraphInstantiate as CUDA 11
 * has it. Also a part of the runtime for a real NCCL, whose driver destroys graphs itself. */
#include "tests/gpu/doubles/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define F(name, arguments) int name arguments;
CUDA_FUNCTIONS(F)
#undef F

typedef struct executable {
    CUgraph graph;
} * cudaGraphExec_t;
static cudaGraphExec_t spare;

int cuGraphDestroy(CUgraph) __attribute__((weak));
__attribute__((weak)) int cudaRuntimeGetVersion(int* version) {
    *version = CUDART * 1000;
    return 0;
}
int cudaStreamBeginCapture(CUstream s, int mode) { return cuStreamBeginCapture_v2(s, mode); }
int cudaStreamBeginCapture_ptsz(CUstream s, int mode) { return cuStreamBeginCapture_v2(s, mode); }
int cudaStreamBeginCaptureToGraph(CUstream s, CUgraph graph, void** after, void* data, size_t n, int mode) {
    if (after || data || n || mode != capture_relaxed) return CUDA_ERROR_INVALID_VALUE;
    fake_cuda_capture_to(s, graph);
    return 0;
}
int cudaStreamEndCapture(CUstream s, CUgraph* graph) { return cuStreamEndCapture(s, graph); }
int cudaStreamEndCapture_ptsz(CUstream s, CUgraph* graph) { return cuStreamEndCapture(s, graph); }

static int instantiate(cudaGraphExec_t* made, CUgraph graph) {
    *made = spare ? spare : malloc(sizeof **made);
    spare = NULL;
    (*made)->graph = fake_cuda_copy(graph);
    return 0;
}
#if CUDART == 11
int cudaGraphInstantiate(cudaGraphExec_t* made, CUgraph graph, void** wrong, char* text, size_t bytes) {
    if (!wrong || bytes != 64) return CUDA_ERROR_INVALID_VALUE;
    snprintf(text, bytes, "fine");
    return instantiate(made, graph);
}
#else
int cudaGraphInstantiate(cudaGraphExec_t* made, CUgraph graph, unsigned long long flags) {
    return flags == 1 ? instantiate(made, graph) : CUDA_ERROR_INVALID_VALUE;
}
#endif
int cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, CUgraph graph, unsigned long long flags) {
    return flags == 1 ? instantiate(made, graph) : CUDA_ERROR_INVALID_VALUE;
}
int cudaGraphInstantiateWithParams(cudaGraphExec_t* made, CUgraph graph, int* params) {
    *params = 7;
    return instantiate(made, graph);
}
int cudaGraphExecUpdate(cudaGraphExec_t made, CUgraph graph, int* result) {
    *result = graph ? 0 : 1;
    if (!graph) return CUDA_ERROR_INVALID_VALUE;
    made->graph = fake_cuda_copy(graph);
    return 0;
}
int cudaGraphLaunch(cudaGraphExec_t made, CUstream s) { return cuGraphLaunch(made->graph, s); }
int cudaGraphLaunch_ptsz(cudaGraphExec_t made, CUstream s) { return cuGraphLaunch(made->graph, s); }
int cudaGraphExecDestroy(cudaGraphExec_t made) {
    spare = made;
    return 0;
}
int cudaGraphClone(CUgraph* clone, CUgraph graph) {
    *clone = fake_cuda_copy(graph);
    return 0;
}
int cudaGraphAddChildGraphNode(void** node, CUgraph graph, void** after, size_t n, CUgraph child) {
    *node = graph;
    return after || n ? CUDA_ERROR_INVALID_VALUE : fake_cuda_append(graph, child);
}
int cudaGraphDestroy(CUgraph graph) {
    if (cuGraphDestroy) return cuGraphDestroy(graph);
    free(graph);
    return 0;
}
