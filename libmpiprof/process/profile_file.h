// The profile's place on disk: its name, claiming it, choosing the store that the file system bears, writing and
// removing. Called at start, once a period by the helper thread, and at the end; never on the hot path. Failure is an
// answer: recording goes on in memory, and the end tries other directories.
#pragma once

#include "libmpiprof/base/at_first.h"
#include "libmpiprof/process/choice.h"
#include "libmpiprof/process/node_range.h"
#include "libmpiprof/record/image.h"

namespace mpiprof {

class ProfileFile {
  public:
    // <directory>/mpi_profile.<job>.<rank>, with -2, -3 ... behind the job where another launch has the name; or
    // mpi_profile.<job>.node<k>, with the other ranks of the node.
    struct Name {
        const char* job;
        const char* host;
        unsigned rank;
        const format::Header* who = nullptr;  // by whom a range of the node's file is claimed; null: a file of its own
    };

    // Opens `image` in the store that fits: the file's own pages where the file system is known to bear them (ext4,
    // xfs, tmpfs), else private memory that update() and save() write. Where the directory refuses, the first of the
    // fallback directories that does not. False: no memory, nothing can be recorded (said once), or the job has left as
    // much as it may (`share`).
    bool open(Image& image, const Name& name, const Share& share);
    // The same in two steps, for a process that may end before it is worth a file: memory now, the name later. False:
    // there is no file, and save_elsewhere() at the end is the next that may make one.
    bool open_without_file(Image& image, const Share& share);
    bool take_name(Image& image, const Name& name);

    // Writes what changed since the last time. By the helper thread (helper.h says what it may call). Returns 0 or
    // errno.
    int update(const Image& image);
    // The update that another thread is at takes too long: it ends where it is, and save() can be called beside it.
    void give_up_update();
    // At the end: brings the file up to date with the image. Returns 0 or errno. A thread without anything of its own
    // can call it (helper.h).
    int save(const Image& image) const;
    // Where that fails, or the file is gone: writes another one, in a fallback directory if need be. Returns 0, or
    // `error` if the profile is lost. no_answer: the file system is at it still, and is not asked any more.
    static constexpr int no_answer = 110;  // ETIMEDOUT
    static const char* text_of(int error);
    int save_elsewhere(const Image& image, const Name& name, int error);
    void remove();
    // Gives it another name in the same directory. By the end of the run the rank may be known better.
    bool move(const Name& name);

    const char* path() const { return path_; }
    // The job has left as much as its share allows: this launch has no file, and gets none.
    bool is_used_up() const { return is_used_up_; }
    bool is_nodes() const { return range_ != no_range; }  // and other ranks', too
    // How often the written store is to be brought up to date: file systems of one machine bear more than shared ones.
    bool is_on_shared_storage() const { return is_shared_; }

  private:
    bool open_private(Image& image, const Name& name);
    bool may_leave_another(unsigned launch, std::uint64_t& left) const;
    bool claim_in(const char* pattern, const Name& name);
    bool claim_at(std::size_t directory, const Name& name);
    int open_new(std::size_t directory, const char* suffix, const Name& name, int mode);
    struct Claimed {
        FileIdentity identity;
        std::uint32_t range;
    };
    static void discard(const char* path, const Claimed& claimed);
    Claimed claimed() const { return {identity_, range_}; }
    format::Place place() const;
    template <class Use>
    bool claim_fallback(const Name& name, bool in_memory, Use serves);
    bool has_room_for(std::uint64_t bytes) const;
    template <class Use>
    bool claim(const Name& name, const char* refused, int error, Use use);
    template <class Use>
    bool claim_elsewhere(const Name& name, const char* refused, int error, Use use);
    bool still_ours() const;
    bool is_at_its_path() const;
    int descriptor() const;
    template <class Write>
    int with_descriptor(Write write) const;
    void forget_written();
    int write_whole(const Image& image) const;

    AtFirst<int, -1> fd_;
    FileIdentity identity_{};
    AtFirst<std::uint32_t, no_range> range_;  // of the file, if it is the node's
    Share share_{};
    std::uint64_t left_bytes_ = 0;  // of it, for this launch
    bool is_used_up_ = false;
    AtFirst<bool, true> is_shared_;
    bool is_dead_ = false;               // the file system of the user's directory: it did not answer
    bool is_in_memory_ = false;          // a fallback that nobody named, in the memory of the node
    Image::Written* written_ = nullptr;  // of the file that was claimed last; null: no memory
    char path_[4096] = {};               // last, since most of it is never touched
};

}  // namespace mpiprof
