/* A libcudart for the host code of a real NCCL, on the driver of driver_for_nccl.c: memory is the host's, copies happen
 * at once, kernels have no code. What takes a real one long when NCCL connects its peers (memory, IPC) takes the host
 * FAKE_CUDA_MEMORY_NS of the double's clock each time; without it, nothing.
 * Signatures are those of CUDA 12 and 13, whose places in the structures that NCCL reads are the same. */
#define _GNU_SOURCE
#include "tests/gpu/doubles/driver_for_nccl.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { gpus = 4, memory_of_device = 2, not_supported = 801, most_blocks = 4096 };
#define F(name, arguments) int name arguments;
CUDA_FUNCTIONS(F)
#undef F

static void begin(void) { cuInit(0); }
static void takes_long(void) {
    const char* ns = getenv("FAKE_CUDA_MEMORY_NS");
    if (ns) fake_cuda_host(strtoull(ns, NULL, 10));
}

/* ---- devices ---- */

int cudaGetDeviceCount(int* n) {
    begin();
    *n = gpus;
    return 0;
}
int cudaGetDevice(int* device) {
    begin();
    return cuCtxGetDevice(device);
}
int cudaSetDevice(int device) {
    CUcontext context;
    begin();
    const int result = cuDevicePrimaryCtxRetain(&context, device);
    return result ? result : cuCtxSetCurrent(context);
}
int cudaDriverGetVersion(int* version) { return cuDriverGetVersion(version); }
int cudaRuntimeGetVersion(int* version) { return cuDriverGetVersion(version); }
int cudaDeviceGetAttribute(int* value, int attribute, int device) {
    begin();
    return cuDeviceGetAttribute(value, attribute, device);
}
/* Of cudaDeviceProp NCCL reads the compute capability, whose place CUDA 12 and 13 have in common. */
int cudaGetDeviceProperties(char* properties, int device) {
    memset(properties, 0, 1000);
    cuDeviceGetAttribute((int*)(properties + 360), 75, device);
    return cuDeviceGetAttribute((int*)(properties + 364), 76, device);
}
int cudaGetDeviceProperties_v2(char* properties, int device) { return cudaGetDeviceProperties(properties, device); }
int cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
    static const int buses[gpus] = {0x06, 0x07, 0x0a, 0x86};
    snprintf(text, (size_t)bytes, "0000:%02X:00.0", (unsigned)buses[device]);
    return 0;
}
int cudaDeviceGetByPCIBusId(int* device, const char* text) {
    char own[16];
    for (*device = 0; *device < gpus; ++*device) {
        cudaDeviceGetPCIBusId(own, sizeof own, *device);
        if (strcasecmp(own, text) == 0) return 0;
    }
    return CUDA_ERROR_INVALID_VALUE;
}
int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    *can = device != peer;
    return 0;
}
int cudaDeviceEnablePeerAccess(int peer, unsigned flags) { return (void)peer, (void)flags, 0; }
int cudaDeviceSetLimit(int limit, size_t value) { return (void)limit, (void)value, 0; }
int cudaDeviceSynchronize(void) { return 0; }
int cudaGetLastError(void) { return 0; }
const char* cudaGetErrorString(int error) { return error ? "an error of the double" : "no error"; }
/* 0: found, 1: not. */
int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, int* status) {
    (void)flags;
    *function = dlsym(RTLD_DEFAULT, name);
    if (status) *status = *function ? 0 : 1;
    return 0;
}
int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version, unsigned long long flags,
                                     int* status) {
    (void)version;
    return cudaGetDriverEntryPoint(name, function, flags, status);
}

/* ---- memory: a file in memory for each block, so that other processes can open it ---- */

static struct block {
    char* begin;
    size_t bytes;
    int file, is_opened;
} blocks[most_blocks];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct block* block_of(const void* pointer) {
    for (int i = 0; i < most_blocks; ++i)
        if (blocks[i].begin <= (const char*)pointer && (const char*)pointer < blocks[i].begin + blocks[i].bytes)
            return &blocks[i];
    return NULL;
}
static int map(void** pointer, int file, size_t bytes, int is_opened) {
    void* begin = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (begin == MAP_FAILED) return 2;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < most_blocks; ++i) {
        if (blocks[i].begin) continue;
        blocks[i] = (struct block){begin, bytes, file, is_opened};
        *pointer = begin;
        break;
    }
    pthread_mutex_unlock(&lock);
    takes_long();
    return 0;
}
int cudaMalloc(void** pointer, size_t bytes) {
    begin();
    const int file = memfd_create("fake CUDA memory", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)(bytes ? bytes : 1)) != 0) return 2;
    return map(pointer, file, bytes ? bytes : 1, 0);
}
int cudaFree(void* pointer) {
    if (!pointer) return begin(), 0;
    pthread_mutex_lock(&lock);
    struct block* block = block_of(pointer);
    if (block) {
        munmap(block->begin, block->bytes);
        close(block->file);
        memset(block, 0, sizeof *block);
    }
    pthread_mutex_unlock(&lock);
    return block ? 0 : CUDA_ERROR_INVALID_VALUE;
}
struct ipc_handle {
    int process, file;
    size_t bytes, offset;
    char rest[64 - 2 * sizeof(int) - 2 * sizeof(size_t)];
};
int cudaIpcGetMemHandle(struct ipc_handle* handle, void* pointer) {
    const struct block* block = block_of(pointer);
    if (!block) return CUDA_ERROR_INVALID_VALUE;
    *handle = (struct ipc_handle){getpid(), block->file, block->bytes, (size_t)((char*)pointer - block->begin), ""};
    return 0;
}
int cudaIpcOpenMemHandle(void** pointer, struct ipc_handle handle, unsigned flags) {
    char path[64];
    (void)flags;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.process, handle.file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    return file < 0 ? CUDA_ERROR_INVALID_VALUE : map(pointer, file, handle.bytes, 1);
}
int cudaIpcCloseMemHandle(void* pointer) { return cudaFree(pointer); }
int cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
    (void)flags;
    begin();
    takes_long();
    *pointer = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
    return *pointer ? 0 : 2;
}
int cudaFreeHost(void* pointer) { return free(pointer), 0; }
int cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
    return (void)pointer, (void)bytes, (void)flags, takes_long(), 0;
}
int cudaHostUnregister(void* pointer) { return (void)pointer, 0; }
int cudaHostGetDevicePointer(void** device, void* host, unsigned flags) { return (void)flags, *device = host, 0; }
int cudaPointerGetAttributes(char* attributes, const void* pointer) {
    memset(attributes, 0, 24);
    if (block_of(pointer)) *(int*)attributes = memory_of_device;
    memcpy(attributes + 8, &pointer, sizeof pointer);
    return cudaGetDevice((int*)(attributes + 4));
}
int cudaMemPoolCreate(void** pool, const void* properties) { return (void)properties, *pool = (void*)1, 0; }
int cudaMemPoolDestroy(void* pool) { return (void)pool, 0; }
int cudaMemPoolSetAttribute(void* pool, int attribute, void* value) {
    return (void)pool, (void)attribute, (void)value, 0;
}
int cudaMallocFromPoolAsync(void** pointer, size_t bytes, void* pool, CUstream stream) {
    return (void)pool, (void)stream, cudaMalloc(pointer, bytes);
}
int cudaFreeAsync(void* pointer, CUstream stream) { return (void)stream, cudaFree(pointer); }
int cudaMemcpy(void* to, const void* from, size_t bytes, int kind) { return (void)kind, memcpy(to, from, bytes), 0; }
int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, CUstream stream) {
    return (void)stream, cudaMemcpy(to, from, bytes, kind);
}
int cudaMemcpyBatchAsync(void) { return not_supported; }
int cudaMemset(void* to, int value, size_t bytes) { return memset(to, value, bytes), 0; }
int cudaMemsetAsync(void* to, int value, size_t bytes, CUstream stream) {
    return (void)stream, cudaMemset(to, value, bytes);
}

/* ---- streams, events, graphs ---- */

int cudaStreamCreateWithFlags(CUstream* stream, unsigned flags) { return begin(), cuStreamCreate(stream, flags); }
int cudaStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }
int cudaStreamSynchronize(CUstream stream) { return cuStreamSynchronize(stream); }
int cudaStreamGetId(CUstream stream, unsigned long long* id) { return *id = (unsigned long long)stream, 0; }
int cudaStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    return (void)flags, fake_cuda_wait(stream, event);
}
int cudaEventCreateWithFlags(CUevent* event, unsigned flags) { return cuEventCreate(event, flags); }
int cudaEventCreate(CUevent* event) { return cuEventCreate(event, 0); }
int cudaEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }
int cudaEventRecord(CUevent event, CUstream stream) { return fake_cuda_record(event, stream); }
int cudaEventQuery(CUevent event) { return cuEventQuery(event); }
int cudaEventSynchronize(CUevent event) { return cuEventSynchronize(event); }
int cudaThreadExchangeStreamCaptureMode(int* mode) { return begin(), cuThreadExchangeStreamCaptureMode(mode); }
int cudaStreamIsCapturing(CUstream stream, int* is) { return cuStreamIsCapturing(stream, is); }
int cudaStreamGetCaptureInfo(CUstream stream, int* status, unsigned long long* id, CUgraph* graph,
                             const void*** dependencies, const void*** edges, size_t* n) {
    static const void* node[1] = {node};
    CUgraph captured = fake_cuda_capture(stream);
    *status = captured ? 1 : 0;
    if (id) *id = (unsigned long long)captured;
    if (graph) *graph = captured;
    if (dependencies) *dependencies = node;
    if (edges) *edges = NULL;
    if (n) *n = captured ? 1 : 0;
    return 0;
}
int cudaStreamUpdateCaptureDependencies(void) { return 0; }
int cudaGraphAddDependencies(void) { return 0; }
static int add_node(void** node) { return *node = node, 0; }
int cudaGraphAddEventRecordNode(void** node) { return add_node(node); }
int cudaGraphAddEventWaitNode(void** node) { return add_node(node); }
int cudaGraphAddHostNode(void** node) { return add_node(node); }
int cudaGraphAddKernelNode(void** node) { return add_node(node); }
struct user_object {
    void (*destroy)(void*);
    void* of;
};
int cudaUserObjectCreate(struct user_object** object, void* of, void (*destroy)(void*), unsigned n, unsigned flags) {
    (void)n, (void)flags;
    *object = malloc(sizeof **object);
    **object = (struct user_object){destroy, of};
    return 0;
}
int cudaGraphRetainUserObject(CUgraph graph, struct user_object* object, unsigned n, unsigned flags) {
    (void)n, (void)flags;
    fake_cuda_keep(graph, object->destroy, object->of);
    free(object);
    return 0;
}
struct host_call {
    void (*function)(void*);
    void* of;
};
static void* call_host(void* call) {
    const struct host_call copy = *(struct host_call*)call;
    free(call);
    copy.function(copy.of);
    return NULL;
}
/* By a thread of CUDA's, as with the real one: the caller may hold locks that the function takes. */
int cudaLaunchHostFunc(CUstream stream, void (*function)(void*), void* of) {
    pthread_t thread;
    (void)stream;
    struct host_call* call = malloc(sizeof *call);
    *call = (struct host_call){function, of};
    return pthread_create(&thread, NULL, call_host, call) || pthread_detach(thread);
}

/* ---- kernels: NCCL's have no code here ---- */

static struct fake_function kernel = {"ncclDevKernel", 0};
int cudaGetFuncBySymbol(CUfunction* function, const void* symbol) { return (void)symbol, *function = &kernel, 0; }
int cudaFuncGetAttributes(char* attributes, const void* symbol) { return (void)symbol, memset(attributes, 0, 40), 0; }
int cudaFuncSetAttribute(const void* symbol, int attribute, int value) {
    return (void)symbol, (void)attribute, (void)value, 0;
}
struct grid {
    unsigned x, y, z;
};
int cudaLaunchKernel(const void* symbol, struct grid blocks, struct grid threads, void** arguments, size_t shared,
                     CUstream stream) {
    (void)symbol, (void)arguments, (void)shared;
    const struct launch_config config = {
        {blocks.x, blocks.y, blocks.z}, {threads.x, threads.y, threads.z}, 0, stream, NULL, 0};
    return cuLaunchKernelEx(&config, &kernel, NULL, NULL);
}
