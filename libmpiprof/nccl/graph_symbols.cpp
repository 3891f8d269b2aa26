// The functions of CUDA's runtime that make and launch graphs, under their own names. Each is handed on to the runtime
// that its caller means, unchanged, and what it did is told to graphs.h. Those whose name ends in _ptsz are what a
// program calls that was compiled for default streams of each thread.
#include "libmpiprof/gpu/graphs.h"
#include "libmpiprof/gpu/platform.h"
#include "libmpiprof/wrap/real.h"

using mpiprof::Word;
using mpiprof::gpu::graphs;

namespace {

using Function = int(Word, Word, Word, Word, Word, Word);

constexpr int initialization_error = 3;  // as CUDA says it: the process has no runtime
constexpr Word stream_of_thread = 2;     // what 0 means to a _ptsz function

// Which runtime some callers mean is kept; entries are never changed.
struct Known {
    Word caller;
    Function* function;
};
struct Next {
    static constexpr unsigned most = 4;
    Known known[most];
    std::atomic<unsigned> count;
    mpiprof::Lock lock;
    [[gnu::noinline]] Function* find(const char* name, Word caller) {
        const unsigned n = count.load(std::memory_order_acquire);
        for (unsigned i = 0; i < n; ++i)
            if (known[i].caller == caller) return known[i].function;
        auto* found = reinterpret_cast<Function*>(
            mpiprof::wrap::find_real(name, caller, "cudaRuntimeGetVersion\0cudaDriverGetVersion\0").function);
        const mpiprof::Guard guard(lock);
        const unsigned place = count.load(std::memory_order_relaxed);
        if (found && place < most) {
            known[place] = {caller, found};
            count.store(place + 1, std::memory_order_release);
        }
        return found;
    }
};

constexpr int first = __COUNTER__ + 1, most_functions = 20;
constinit Next nexts[most_functions]{};  // of each function below

Word at(Word address) { return *reinterpret_cast<const Word*>(address); }
Word per_thread(Word stream) { return stream == 0 ? stream_of_thread : stream; }

}  // namespace

#define CUDA(Name, ...)                                                                                               \
    extern "C" [[gnu::visibility("default")]] int Name(Word a, Word b, Word c, Word d, Word e, Word f) {              \
        Function* real = nexts[__COUNTER__ - first].find(#Name, reinterpret_cast<Word>(__builtin_return_address(0))); \
        if (!real) return initialization_error;                                                                       \
        __VA_ARGS__                                                                                                   \
    }
#define THEN(...)                                       \
    {                                                   \
        const int code = real(a, b, c, d, e, f);        \
        if (code == mpiprof::gpu::success) __VA_ARGS__; \
        return code;                                    \
    }

// (stream, ...)
CUDA(cudaStreamBeginCapture, THEN(graphs.begin_capture()))
CUDA(cudaStreamBeginCapture_ptsz, THEN(graphs.begin_capture()))
// (stream, graph, ...)
CUDA(cudaStreamBeginCaptureToGraph, THEN(graphs.begin_capture_to(b, a)))
CUDA(cudaStreamBeginCaptureToGraph_ptsz, THEN(graphs.begin_capture_to(b, per_thread(a))))

// (stream, graph*)
#define END(stream)                                                             \
    {                                                                           \
        const Word capture = graphs.capture_of(stream);                         \
        const int code = real(a, b, c, d, e, f);                                \
        graphs.end_capture(capture, code == mpiprof::gpu::success ? at(b) : 0); \
        return code;                                                            \
    }
CUDA(cudaStreamEndCapture, END(a))
CUDA(cudaStreamEndCapture_ptsz, END(per_thread(a)))

// (executable*, graph, ...): of CUDA 11 with a place for the node that is wrong, a text and its length, and of 12 with
// flags.
CUDA(cudaGraphInstantiate, THEN(graphs.instantiate(at(a), b)))
CUDA(cudaGraphInstantiateWithFlags, THEN(graphs.instantiate(at(a), b)))
CUDA(cudaGraphInstantiateWithParams, THEN(graphs.instantiate(at(a), b)))
CUDA(cudaGraphInstantiateWithParams_ptsz, THEN(graphs.instantiate(at(a), b)))
// (executable, graph, ...)
CUDA(cudaGraphExecUpdate, THEN(graphs.instantiate(a, b)))

// (executable, stream)
CUDA(cudaGraphLaunch, THEN(graphs.launch(a, b)))
CUDA(cudaGraphLaunch_ptsz, THEN(graphs.launch(a, per_thread(b))))

// (clone*, graph); (node*, graph, nodes that it depends on, their number, child)
CUDA(cudaGraphClone, THEN(graphs.copy(at(a), b)))
CUDA(cudaGraphAddChildGraphNode, THEN(graphs.add_child(b, e)))

// Before it is gone, since another one may get the handle at once.
CUDA(cudaGraphDestroy, graphs.forget(a); return real(a, b, c, d, e, f);)
CUDA(cudaGraphExecDestroy, graphs.forget_executable(a); return real(a, b, c, d, e, f);)
