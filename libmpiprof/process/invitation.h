// The one variable that this library ever sets in the program's environment: NCCL_PROFILER_PLUGIN, by which NCCL is
// told to tell us of its operations. For the sake of NCCL that is linked statically, and of the algorithms that NCCL
// chooses. Used at the start of MPI and of NCCL; never in a process that calls neither.
#pragma once

namespace mpiprof {

// Unless the user named a plugin that is to stay alone (MPIPROF_NCCL_PLUGIN), or NCCL is left alone (MPIPROF_NCCL=off).
void invite_nccl();
// The plugin that was named before; empty: none was.
const char* displaced_plugin();
// Invites NCCL that may come later and unseen (linked statically): if there is a GPU to use it on.
void invite_nccl_if_there_is_a_gpu();

// Whether such a value is ours, and not the user's own.
bool is_invitation(const char* value);
// Whether any variable of the environment is.
bool is_our_variable(const char* name, const char* value);
// Whether the variable holds one. An exec'ed child inherits it.
bool is_invited();

}  // namespace mpiprof
