// CUDA says itself whether it is initialised. HIP would initialise itself when asked, whatever it is asked; but it
// talks to the kernel by a file that it keeps open.
#include "libmpiprof/gpu/platform.h"

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/loader.h"
#include "libmpiprof/base/text.h"

namespace mpiprof::gpu {
namespace {

constinit std::atomic<unsigned long long> objects_without{
    0};  // so many were loaded when neither library was among them

void* find_cuda() {
    void* library = loader().dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return nullptr;
    const auto current = reinterpret_cast<int (*)(Word*)>(loader().dlsym(library, "cuCtxGetCurrent"));
    Word context;
    return current && current(&context) != not_initialized ? library : nullptr;
}

// By its path: it has one name for each version, and others in packages of Python.
void* find_hip() {
    char path[1024] = "";
    if (!any_loaded("libamdhip64.so\0", [&](const char* loaded) { return append(path, loaded), true; }) ||
        !has_open("/dev/kfd"))
        return nullptr;
    return loader().dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace

InUse look_for_gpu() {
    const unsigned long long loaded = objects_loaded();
    if (!loader().dlopen || loaded == objects_without.load(std::memory_order_relaxed)) return {};
    // The loader keeps the name that a library was opened by: numba asks for libcuda.so.
    if (!any_loaded("libcuda.so\0libamdhip64.so\0", [](const char*) { return true; })) {
        objects_without.store(loaded, std::memory_order_relaxed);
        return {};
    }
    if (void* library = find_cuda()) return {Platform::cuda, library};
    if (void* library = find_hip()) return {Platform::hip, library};
    return {};
}

bool find_functions(void* library, const char* names, void* functions) {
    void** function = static_cast<void**>(functions);
    return !any_of(names, [&](const char* name) {
        const bool is_needed = *name != '?';
        if (!is_needed) ++name;
        *function = *name ? loader().dlsym(library, name) : nullptr;
        return !*function++ && is_needed;
    });
}

}  // namespace mpiprof::gpu
