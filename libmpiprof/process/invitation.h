// NCCL is invited to tell this library of its operations: for the sake of NCCL that is linked statically or fetched by
// dlsym, and of the algorithms that NCCL chooses. It asks for its plugin by getenv("NCCL_PROFILER_PLUGIN"), and that
// function is answered here.
#pragma once

namespace mpiprof {

// The plugin that the user had named; empty: none, as far as NCCL has asked.
const char* displaced_plugin();

}  // namespace mpiprof
