// What follows a call that made communicators: they are known from then on, with the id on which all members agree, and
// NCCL's own word for each is linked to its handle. Called by wrap/ after the real call, recorded or not.
#include "libmpiprof/gpu/nvlinks.h"
#include "libmpiprof/nccl/arguments.h"
#include "libmpiprof/nccl/library.h"
#include "libmpiprof/nccl/profiler.h"

namespace mpiprof::nccl {

bool Nccl::follow_made(Id id, const Word* words) {
    MadeBy made{};
    if (!describe(id, words, library.communicators, made)) return false;
    bool stale = false;
    for (int i = 0; i < made.communicators; ++i) {
        const Word handle = reinterpret_cast<const Word*>(made.where)[i];
        if (handle == 0) continue;  // not a member
        if (made.communicators == 1) link_communicator(handle);
        stale |= library.communicators.made({static_cast<std::uint16_t>(id), handle, made.id, made.parent,
                                             made.communicators > 1 ? i : made.rank, made.size, made.name,
                                             made.is_nonblocking});
    }
    if (made.communicators > 0) gpu::note_nvlinks();
    if (made.tells_world) library.learn_world({made.rank, made.size}, made.id);
    return stale;
}

}  // namespace mpiprof::nccl
