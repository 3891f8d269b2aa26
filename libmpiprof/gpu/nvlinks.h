// NVLinks between the GPUs of this node, as NVML says: facts of the node. Only where the process itself has loaded and
// initialised NVML, as NCCL does; it is asked once, by the rank that describes the node. Called by nccl/ when a
// communicator was made; never on the path of a call.
#pragma once

namespace mpiprof::gpu {

void note_nvlinks();

}  // namespace mpiprof::gpu
