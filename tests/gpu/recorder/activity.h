/* CUPTI's buffers as they are: what libmpiprof asks of CUPTI is asked here, too, and each buffer goes to the file with
 * the places of its records as CUPTI itself walks them. Included by recorder.c alone. */
#pragma once

#define _GNU_SOURCE
#include "tests/gpu/doubles/cupti.h"
#include "tests/gpu/recorder/file.h"

#include <dlfcn.h>
#include <stdint.h>
#include <sys/uio.h>

enum { buffer_bytes = 1 << 17, name_at = 104, in_name = 64, page = 4096 };
enum { external_ids = 5 /* CUSTOM2 */, device_buffers = 2, driver_functions = 759 };

#define F(name, arguments) static int(*f_##name) arguments;
CUPTI_FUNCTIONS(F)
#undef F
static int has_cupti;

static void request_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
    *buffer = aligned_alloc(8, buffer_bytes);
    *size = buffer_bytes;
    *most_records = 0;
}

/* 0 where nothing can be read: should the layout not be what we take it for, the recording has to show it. */
static int read_text(uint64_t address, char (*text)[in_name]) {
    const size_t here = page - address % page < in_name ? page - address % page : in_name;
    struct iovec to = {*text, in_name}, from[2] = {{(void*)address, here}, {(void*)(address + here), in_name - here}};
    const int parts = here < in_name ? 2 : 1;
    memset(*text, 0, sizeof *text);
    return address != 0 && process_vm_readv(getpid(), &to, 1, from, (unsigned long)parts, 0) > 0;
}
/* NCCL's kernels by their names; what others are called is the user's. */
static void put_kernel(const uint8_t* record, size_t bytes, size_t at) {
    char name[in_name];
    uint64_t address = 0;
    if (bytes < name_at + sizeof address) return;
    memcpy(&address, record + name_at, sizeof address);
    if (address == 0) return;
    put("kernel %zu ", at);
    if (!read_text(address, &name))
        put("unreadable");
    else
        put_word(memmem(name, 12, "nccl", 4) ? name : "other", in_name);
    end_line();
}

/* A copy, in which names have no addresses. */
static void put_buffer(uint8_t* buffer, size_t valid, size_t dropped) {
    uint8_t* copy = memcpy(malloc(valid + 1), buffer, valid);
    uint8_t* record = NULL;
    size_t last = 0, kernels = 0, *places = calloc(valid / 8 + 2, sizeof *places), n = 0;
    while (f_cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_OK) places[n++] = (size_t)(record - buffer);
    places[n] = valid;
    put("buffer %zu %zu ", valid, dropped);
    for (size_t i = 0; i < n; ++i) {
        const int is_kernel = *(const uint32_t*)(buffer + places[i]) == KIND_CONCURRENT_KERNEL;
        if (is_kernel && places[i + 1] - places[i] >= name_at + 8) memset(copy + places[i] + name_at, 0, 8);
        put(i ? ",%zu" : "%zu", places[i] - last), last = places[i], kernels += is_kernel;
    }
    put_bytes(copy, valid);
    end_line();
    for (size_t i = 0; i < n && kernels; ++i)
        if (*(const uint32_t*)(buffer + places[i]) == KIND_CONCURRENT_KERNEL)
            put_kernel(buffer + places[i], places[i + 1] - places[i], places[i]);
    free(places), free(copy);
}
static void complete_buffer(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
    size_t dropped = 0;
    (void)size;
    if (!buffer) return;
    f_cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
    pthread_mutex_lock(&file_lock);
    if (valid || dropped) put_buffer(buffer, valid, dropped);
    pthread_mutex_unlock(&file_lock);
    free(buffer);
}

/* The copy that is loaded, else by name. */
static void* find_cupti(void) {
    static const char* const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"};
    const char* named = getenv("RECORDING_CUPTI");
    if (named) return dlopen(named, RTLD_LAZY);
    void* library = NULL;
    for (int i = 0; i < 3 && !library; ++i) library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
    for (int i = 0; i < 3 && !library; ++i) library = dlopen(names[i], RTLD_LAZY);
    return library;
}

/* Those that every version has. */
static int has_functions(void) {
    return f_cuptiGetVersion && f_cuptiActivityRegisterCallbacks && f_cuptiActivityEnable && f_cuptiActivityFlushAll &&
           f_cuptiActivityGetNextRecord && f_cuptiActivityGetNumDroppedRecords &&
           f_cuptiActivityPushExternalCorrelationId && f_cuptiActivityPopExternalCorrelationId;
}

/* cuLaunchKernel, cuLaunchKernelEx, cuGraphLaunch and their per-thread twins. */
static int is_launch(uint32_t cbid) {
    return cbid == 307 || cbid == 442 || cbid == 652 || cbid == 653 || cbid == 514 || cbid == 515;
}
static void enable_kinds(void) {
    static const int kinds[] = {KIND_EXTERNAL_CORRELATION, KIND_MEMCPY, KIND_MEMCPY2, KIND_DRIVER};
    for (int i = 0; i < 4; ++i) f_cuptiActivityEnable(kinds[i]);
    for (uint32_t cbid = 1; f_cuptiActivityEnableDriverApi && cbid < driver_functions; ++cbid)
        if (!is_launch(cbid)) f_cuptiActivityEnableDriverApi(cbid, 0);
    if (f_cuptiActivityFlushPeriod) f_cuptiActivityFlushPeriod(1000);
}

/* Where there is no CUPTI, or it refuses, the recording says so. */
static void start_cupti(void) {
    void* library = find_cupti();
    uint32_t version = 0;
    size_t bytes = sizeof(size_t), most = 16;
    int no = -1;
    if (library) {
#define F(name, arguments) f_##name = (int(*) arguments)dlsym(library, #name);
        CUPTI_FUNCTIONS(F)
#undef F
        int (*set)(int, size_t*, void*) = (int (*)(int, size_t*, void*))dlsym(library, "cuptiActivitySetAttribute");
        if (set) set(device_buffers, &bytes, &most);
        if (!has_functions()) library = NULL;
    }
    if (library) {
        f_cuptiGetVersion(&version);
        no = f_cuptiActivityRegisterCallbacks(request_buffer, complete_buffer);
        if (!no) no = f_cuptiActivityEnable(KIND_CONCURRENT_KERNEL);
        if (!no) enable_kinds();
    }
    has_cupti = !no;
    put("cupti %u %d", version, no);
    end_line();
}
static void flush_cupti(int forced) {
    if (has_cupti) f_cuptiActivityFlushAll((uint32_t)forced);
}
/* What is launched in between belongs to this launch. */
static void begin_launch(uint64_t number) {
    if (has_cupti) f_cuptiActivityPushExternalCorrelationId(external_ids, number);
}
static void end_launch(void) {
    uint64_t number;
    if (has_cupti) f_cuptiActivityPopExternalCorrelationId(external_ids, &number);
}
