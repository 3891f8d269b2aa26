/* What lies in the descriptors of NCCL's profiler interface, by NCCL's headers of versions 1 to 6: how many bytes, and
 * where the pointers are. Included by recorder.c alone. */
#pragma once

#include <stddef.h>

enum { event_group = 1, event_collective = 2, event_point_to_point = 4, event_kernel_launch = 1 << 11 };

struct descriptor {
    int first_version, last_version, type;
    size_t bytes;
    size_t texts[4];     /* of NCCL's own; 0 ends each of these */
    size_t name;         /* of the communicator, which is the user's word; 0: there is none */
    size_t parents[2];   /* events */
    size_t addresses[2]; /* buffers and streams */
};
static const struct descriptor descriptors[] = {
    {1, 6, event_group, 24, {0}, 0, {8}, {0}},
    {1, 1, event_collective, 120, {0}, 24, {8}, {56, 64}},
    {2, 2, event_collective, 128, {48, 88, 112, 120}, 24, {8}, {56, 64}},
    {3, 3, event_collective, 120, {48, 88, 104, 112}, 24, {8}, {56, 64}},
    {4, 4, event_collective, 104, {32, 72, 88, 96}, 0, {8}, {40, 48}},
    {5, 6, event_collective, 112, {32, 72, 88, 96}, 0, {8, 104}, {40, 48}},
    {1, 1, event_point_to_point, 80, {0}, 24, {8}, {48}},
    {2, 3, event_point_to_point, 80, {40, 56}, 24, {8}, {48}},
    {4, 4, event_point_to_point, 64, {24, 40}, 0, {8}, {32}},
    {5, 6, event_point_to_point, 72, {24, 40}, 0, {8, 64}, {32}},
    {5, 6, 1 << 8, 32, {0}, 0, {8}, {0}},        /* a group as it is called, */
    {5, 6, 1 << 9, 72, {24, 40}, 0, {8}, {56}},  /* a collective, */
    {5, 6, 1 << 10, 64, {24, 40}, 0, {8}, {48}}, /* a Send or Recv */
    {5, 6, event_kernel_launch, 32, {0}, 0, {8}, {24}},
};
/* Of what is not known here, what all events have. */
static const struct descriptor any_other = {1, 6, 0, 24, {0}, 0, {8}, {0}};

static const struct descriptor* descriptor_of(int version, unsigned long type) {
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; ++i) {
        const struct descriptor* d = &descriptors[i];
        if (d->first_version <= version && version <= d->last_version && (unsigned long)d->type == type) return d;
    }
    return &any_other;
}
