/* What the doubles and the programs of the tests need of CUPTI's interface, in our own words; never included by the
 * product, which has its own (libmpiprof/gpu/cupti_interface.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    CUPTI_OK = 0,
    CUPTI_NO_MORE = 12,
    CUPTI_NOT_INITIALIZED = 15,
    CUPTI_MULTIPLE_SUBSCRIBERS = 39,
    CUPTI_UNKNOWN = 999
};
enum {
    KIND_MEMCPY = 1,
    KIND_DRIVER = 4,
    KIND_CONCURRENT_KERNEL = 10,
    KIND_MEMCPY2 = 22,
    KIND_EXTERNAL_CORRELATION = 39
};

typedef void (*cupti_requested)(uint8_t** buffer, size_t* size, size_t* most_records);
typedef void (*cupti_completed)(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);

#define CUPTI_FUNCTIONS(F)                                                \
    F(cuptiGetVersion, (uint32_t*))                                       \
    F(cuptiSubscribe, (void**, void*, void*))                             \
    F(cuptiUnsubscribe, (void*))                                          \
    F(cuptiActivityRegisterCallbacks, (cupti_requested, cupti_completed)) \
    F(cuptiActivityEnable, (int))                                         \
    F(cuptiActivityDisable, (int))                                        \
    F(cuptiActivityEnableDriverApi, (uint32_t, uint8_t))                  \
    F(cuptiActivityPushExternalCorrelationId, (int, uint64_t))            \
    F(cuptiActivityPopExternalCorrelationId, (int, uint64_t*))            \
    F(cuptiActivityFlushAll, (uint32_t))                                  \
    F(cuptiActivityFlushPeriod, (uint32_t))                               \
    F(cuptiActivityRegisterTimestampCallback, (uint64_t(*)(void)))        \
    F(cuptiActivityGetNextRecord, (uint8_t*, size_t, uint8_t**))          \
    F(cuptiActivityGetNumDroppedRecords, (void*, uint32_t, size_t*))      \
    F(cuptiFinalize, (void))

/* Records as they lie in the buffers of CUPTI 13; every kind has its own size. */
struct kernel_record { /* 216 bytes */
    uint32_t kind;
    char a[12];
    uint64_t start, end;
    char b[8];
    uint32_t device, context, stream;
    char c[40];
    uint32_t correlation;
    char d[8];
    const char* name;
    char e[32];
    uint64_t graph_node;
    char f[64];
};
struct copy_record { /* 80 bytes */
    uint32_t kind;
    uint8_t copy_kind, a[3];
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    char b[32];
};
struct api_record { /* 40 bytes */
    uint32_t kind, cbid;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
};
struct external_record { /* 24 bytes */
    uint32_t kind, external_kind;
    uint64_t external_id;
    uint32_t correlation, reserved;
};
