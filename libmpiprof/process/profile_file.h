// The profile's place on disk: its name, claiming it, choosing the store that the file system bears, writing and removing.
// Called at start and at the end; never on the hot path. Failure is an answer, recording or the job goes on without.
#pragma once

#include "libmpiprof/record/image.h"

namespace mpiprof {

class ProfileFile {
  public:
    // Opens `image` in the store that fits: the file's own pages where the file system is known to bear them (ext4, xfs,
    // tmpfs), else private memory that save() writes. `job`, `host`, `rank` make the name <dir>/mpi_profile.<job>.<rank>,
    // with -2, -3 ... behind the job where another launch has the name. False: nothing can be recorded (said once).
    bool open(Image& image, const char* job, const char* host, unsigned rank);

    // Brings the file up to date with the image. Returns 0 or errno.
    int save(const Image& image);
    void remove();

    const char* path() const { return path_; }
    bool is_open() const { return fd_ >= 0; }

  private:
    bool claim(const char* job, const char* host, unsigned rank);
    bool still_ours() const;

    int fd_ = -1;
    FileIdentity identity_{};
    char path_[4096] = {};
};

}  // namespace mpiprof
