// The names of the MPIPROF_* settings; settings.h has their rows and values, compat.h what other tools call them.
#pragma once

#include <cstdint>

namespace mpiprof {

// One row of settings.cpp each; docs/settings.md explains them in the same order.
enum class Setting : unsigned {
    directory,
    job,
    disable,
    verbose,
    text,
    clock,
    store,
    files,
    period,
    ranks,
    functions,
    begin_time,
    end_time,
    collective_barrier,
    compat,
    nccl,
    nccl_plugin,
    gpu,
    cupti,
    cupti_time,
    depth,
    libunwind,
    trace,
    clock_offsets,
    labels,
    config,
    min_time,
    sample,
    exclude,
    max_files,
    max_bytes,
    fallback,
    group,
    personal,
    quiet,
    count
};

}  // namespace mpiprof
