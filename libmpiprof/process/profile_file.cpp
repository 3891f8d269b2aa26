// Claiming is O_EXCL|O_NOFOLLOW with mode 0600: safe in a directory that others write to, and two launches never share.
#include "libmpiprof/process/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/raw.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/format/rank_choice.h"
#include "libmpiprof/process/profile_directory.h"
#include "libmpiprof/process/say.h"
#include "libmpiprof/process/settings.h"

namespace mpiprof {
namespace {

// A relocation less in every process than libc's.
void delete_file(const char* path) { (void)raw(SYS_unlinkat, AT_FDCWD, raw_address(path), 0); }

// Where MAP_SHARED pages are safe once the space is taken: nothing but the disk's own failure takes it back.
constexpr long mappable[] = {0xef53 /* ext2-4 */, 0x58465342 /* xfs */, 0x01021994 /* tmpfs */};

// File systems of one machine. All others, and those that nobody has heard of, are taken for shared ones.
constexpr long local[] = {0xef53,
                          0x58465342,
                          0x01021994,
                          0x9123683e /* btrfs */,
                          0x2fc12fc1 /* zfs */,
                          0x794c7630 /* overlay */,
                          0x858458f6 /* ramfs */,
                          static_cast<long>(0xf2f52010) /* f2fs */};

// A directory in the memory of the node, as /tmp of a diskless one is: what is left there is memory that the next job
// lacks.
constexpr long in_memory[] = {0x01021994 /* tmpfs */, static_cast<long>(0x858458f6) /* ramfs */};
constexpr std::uint64_t most_in_memory = std::uint64_t{8} << 20;
constexpr std::uint64_t smallest_profile = format::usual_profile_bytes;

std::uint64_t bytes_of_file(const char* path) {
    struct stat s;
    if (raw(SYS_newfstatat, AT_FDCWD, raw_address(path), raw_address(&s), AT_SYMLINK_NOFOLLOW) != 0) return 0;
    return static_cast<std::uint64_t>(s.st_size);
}

template <std::size_t N>
bool is_on(int fd, const long (&kinds)[N]) {
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0) return false;
    for (const long kind : kinds)
        if (static_cast<long>(fs.f_type) == kind) return true;
    return false;
}

bool bears_mapping(int fd) {
    const char* wanted = value_of(Setting::store);
    if (strcmp(wanted, "written") == 0) return false;
    return strcmp(wanted, "mapped") == 0 || is_on(fd, mappable);
}

// High and close-on-exec: programs that close or reuse low descriptors do not meet it. Not so high that the table has
// to grow: in a process with threads, which MPI has made, that waits some 10 ms for all processors.
int out_of_the_way(int fd) {
    const int room = status_number("FDSize:\t", 64);  // of the kernel's table for this process
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, (room > 64 ? room : 64) - 8);
    if (high < 0) return fd;
    close(fd);
    return high;
}

}  // namespace

bool ProfileFile::claim_in(const char* pattern, const Name& name) {
    if (directory_of(pattern, name.job, name.host, path_, sizeof path_)) return claim_at(strlen(path_), name);
    path_[0] = 0;
    return false;
}

// Whether the job may have a profile of one more launch, and how many bytes: `left` is the rank's share less what it
// left of earlier ones.
bool ProfileFile::may_leave_another(unsigned launch, std::uint64_t& left) const {
    return (share_.files == 0 || launch <= share_.files) &&
           (share_.bytes == 0 || launch == 1 || left >= format::usual_profile_bytes / 8);
}

// Fresh pages, since the helper thread cannot ask for them.
void ProfileFile::forget_written() {
    if (written_) munmap(written_, sizeof *written_);
    written_ = static_cast<Image::Written*>(private_pages(sizeof *written_));
    if (!written_) return;
    written_->file = identity_;
    written_->place = place();
}

format::Place ProfileFile::place() const { return is_nodes() ? format::node_file::place_of(range_) : format::Place{}; }

// Only what is ours of it: in the node's file that is a range.
void ProfileFile::discard(const char* path, const Claimed& claimed) {
    if (claimed.range == no_range) return delete_file(path);
    const auto fd = static_cast<int>(raw(SYS_openat, AT_FDCWD, raw_address(path), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    FileIdentity now{};
    if (fd >= 0 && identify(fd, now) && now == claimed.identity) give_back_range(fd, claimed.range);
    if (fd >= 0) raw(SYS_close, fd);
}

// -1 and errno; EEXIST: it is another's, or the range is.
int ProfileFile::open_new(std::size_t directory, const char* suffix, const Name& name, int mode) {
    constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    const unsigned long long k = is_nodes() ? node_key(*name.who) & ((1ull << 48) - 1) : 0;
    char* const behind = path_ + directory;
    const std::size_t room = sizeof path_ - directory;
    const int n = is_nodes() ? snprintf(behind, room, "/mpi_profile.%s.node%012llx", name.job, k)
                             : snprintf(behind, room, "/mpi_profile.%s%s.%u", name.job, suffix, name.rank);
    if (n < 0 || static_cast<std::size_t>(n) >= room) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = ::open(path_, is_nodes() ? flags : flags | O_EXCL, mode);
    if (fd < 0 || !is_nodes() || claim_range(fd, range_, *name.who, identity_)) return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

// `directory`: so much of path_ is its name.
bool ProfileFile::claim_at(std::size_t directory, const Name& name) {
    const bool wants_group = mpiprof::is_on(Setting::group);
    // Whose group it hands on is seen only of one that exists: another rank could make it between that and open().
    bool made = wants_group;
    int not_made = wants_group ? make_directories(path_) : 0;                   // why the directory is missing still
    const bool may_share = name.who && share_.files == 0 && share_.bytes == 0;  // they count files of ranks
    const std::uint32_t range = may_share ? range_for(*name.who) : no_range;
    left_bytes_ = share_.bytes;
    for (unsigned attempt = range != no_range ? 0 : 1; attempt < 10000; ++attempt) {
        range_ = attempt == 0 ? range : no_range;
        is_used_up_ = !may_leave_another(attempt, left_bytes_);
        if (is_used_up_) {
            errno = EDQUOT;
            return false;
        }
        char suffix[16] = "";
        if (attempt > 1) snprintf(suffix, sizeof suffix, "-%u", attempt);
        path_[directory] = 0;
        const bool is_groups = wants_group && hands_roots_group_on(path_);
        const int fd = open_new(directory, suffix, name, is_groups ? 0640 : 0600);
        if (fd >= 0) {
            fd_ = out_of_the_way(fd);
            if (!is_nodes() && !identify(fd_, identity_)) return false;
            is_shared_ = !is_on(fd_, local);
            if (wants_group && !is_groups && name.rank == 0)
                say("%s stays readable by you alone: MPIPROF_GROUP needs a directory above it that is root's and hands "
                    "its group on (chmod g+s)",
                    path_);
            forget_written();
            return true;
        }
        if (errno == ENOENT && !made) {
            path_[directory] = 0;
            not_made = make_directories(path_);
            made = true;
            --attempt;
        } else if (attempt != 0 && errno != EEXIST) {
            if (errno == ENOENT && not_made) errno = not_made;
            return false;
        } else if (share_.bytes != 0) {
            const std::uint64_t bytes = bytes_of_file(path_);
            left_bytes_ -= bytes < left_bytes_ ? bytes : left_bytes_;
        }
    }
    return false;
}

namespace {

// Where a job may usually write when its directory refuses, in this order. Where the file system does not answer, the
// job's directories may be on it, too: then the node's own alone.
constexpr char fallbacks[] = "PBS_O_WORKDIR\0SLURM_SUBMIT_DIR\0TMPDIR\0";
constexpr char fallbacks_of_node[] = "TMPDIR\0";

}  // namespace

// The user did not name it: memory is taken last, and not much of it.
template <class Use>
bool ProfileFile::claim_fallback(const Name& of, bool wants_memory, Use serves) {
    const Name name{of.job, of.host, of.rank};
    const auto is_it = [&](const char* directory) {
        if (!directory || directory[0] != '/' || !claim_in(directory, name)) return false;
        is_in_memory_ = is_on(fd_, in_memory);
        if (is_in_memory_ == wants_memory && serves()) return true;
        const int why = is_in_memory_ == wants_memory ? errno : ENOSPC;
        delete_file(path_);
        is_in_memory_ = false;
        errno = why;
        return false;
    };
    const auto is_named = [&](const char* variable) { return is_it(getenv(variable)); };
    return (is_dead_ ? any_of(fallbacks_of_node, is_named) : any_of(fallbacks, is_named)) || is_it("/tmp");
}

// So much, and so little of what is free that the other ranks of the node find room, too.
bool ProfileFile::has_room_for(std::uint64_t bytes) const {
    constexpr std::uint64_t share = 64;
    struct statfs fs;
    if (!is_in_memory_) return true;
    if (bytes > most_in_memory || fstatfs(fd_, &fs) != 0) return false;
    return fs.f_blocks == 0 ||
           bytes <= static_cast<std::uint64_t>(fs.f_bavail) * static_cast<std::uint64_t>(fs.f_bsize) / share;
}

// Claims the name in one directory after the other until `use` is content with what it can do there. `refused` is the
// path that could not be used and `error` why; where there is none yet, the user's own directory comes first.
template <class Use>
bool ProfileFile::claim(const Name& name, const char* refused, int error, Use use) {
    const auto serves = [&](const char* directory) {
        if (!claim_in(directory, name)) return false;
        if (use()) return true;
        const int why = errno;
        discard(path_, claimed());
        errno = why;
        return false;
    };
    is_in_memory_ = false;
    if (!refused) {
        path_[0] = 0;
        if (!is_dead_ && serves(value_of(Setting::directory))) return true;
        error = is_dead_ ? no_answer : errno;
        refused = path_[0] ? path_ : value_of(Setting::directory);
    }
    return claim_elsewhere(name, refused, error, use);
}

// With a page of the program's stack that hardly any process needs.
template <class Use>
[[gnu::noinline]] bool ProfileFile::claim_elsewhere(const Name& name, const char* refused, int error, Use use) {
    char first[sizeof path_];
    copy(first, refused);
    const bool may_look = !is_used_up_ && strcmp(value_of(Setting::fallback), "none") != 0;
    const bool found = may_look && (claim_fallback(name, false, use) || claim_fallback(name, true, use));
    if (name.rank == 0 && found)  // one line a job: what other ranks meet, the report says
        say("cannot write %s: %s; this profile is %s%s", first, text_of(error), path_,
            is_in_memory_ ? ", in the memory of this node" : "");
    if (!found) copy(path_, first);
    if (!found) fd_ = -1;
    if (!found) range_ = no_range;
    errno = error;
    return found;
}

bool ProfileFile::take_name(Image& image, const Name& name) {
    if (claim(name, nullptr, 0, [&] { return has_room_for(smallest_profile); })) {
        image.bound(left_bytes_);
        return true;
    }
    if (is_used_up_ || name.rank != 0) return false;
    say("cannot create %s: %s; the profile stays in memory until the end (MPIPROF_DIR names another directory)", path_,
        text_of(errno));
    return false;
}

bool ProfileFile::open_private(Image& image, const Name& name) {
    if (image.open_private()) return true;
    if (name.rank == 0) say("no memory for the profile; this run is not profiled");
    remove();
    return false;
}

bool ProfileFile::open(Image& image, const Name& name, const Share& share) {
    share_ = share;
    const bool claimed = take_name(image, name);
    if (is_used_up_) return false;
    if (claimed && !is_in_memory_ && bears_mapping(fd_) && image.open_mapped(fd_, place())) return true;
    if (claimed && !is_nodes()) raw(SYS_ftruncate, fd_, 0);
    return open_private(image, name);
}

bool ProfileFile::open_without_file(Image& image, const Share& share) {
    share_ = share;
    image.bound(share.bytes);
    return image.open_private();
}

// What `fd_` means is our file: the program may have closed it and opened something else under its number.
bool ProfileFile::still_ours() const {
    FileIdentity now{};
    return fd_ >= 0 && identify(fd_, now) && now == identity_;
}

bool ProfileFile::is_at_its_path() const {
    FileIdentity now{};
    return fd_ >= 0 && identify(path_, now) && now == identity_;
}

// A descriptor to write by; -1 where our file has gone.
int ProfileFile::descriptor() const {
    // What was duplicated is looked at, not the number, which may mean another file a moment later.
    const auto is_ours = [&](long fd) {
        FileIdentity now{};
        return identify(static_cast<int>(fd), now) && now == identity_;
    };
    long fd = fd_ < 0 ? -EBADF : raw(SYS_fcntl, fd_, F_DUPFD_CLOEXEC, fd_);
    if (fd >= 0 && is_ours(fd)) return static_cast<int>(fd);
    if (fd >= 0) raw(SYS_close, fd);
    fd = raw(SYS_openat, AT_FDCWD, raw_address(path_), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || is_ours(fd)) return static_cast<int>(fd);
    raw(SYS_close, fd);
    return -ESTALE;
}

// Network file systems say at close what became of a write.
template <class Write>
int ProfileFile::with_descriptor(Write write) const {
    const int fd = descriptor();
    if (fd < 0) return -fd;
    const int error = write(fd);
    const int late = -static_cast<int>(raw(SYS_close, fd));
    return error ? error : late;
}

int ProfileFile::update(const Image& image) {
    if (!image.has_unsaved()) return 0;
    Image::Written* written = written_;
    if (!written) return ENOMEM;
    if (!has_room_for(image.bytes())) return ENOSPC;
    if (still_ours()) return image.write_changes(fd_, *written);
    return with_descriptor([&](int fd) { return image.write_changes(fd, *written); });
}

// The other thread still looks at its pages, so they are not given back.
void ProfileFile::give_up_update() {
    if (!written_) return;
    written_->give_up();
    written_ = nullptr;
    forget_written();
}

int ProfileFile::write_whole(const Image& image) const {
    return with_descriptor([&](int fd) { return image.write_to(fd, place()); });
}

const char* ProfileFile::text_of(int error) {
    return error == no_answer ? "the file system does not answer" : strerror(error);
}

int ProfileFile::save(const Image& image) const {
    if (fd_ < 0 || !(is_linked(fd_, identity_) || is_at_its_path())) return ENOENT;
    if (!has_room_for(image.bytes())) return ENOSPC;
    return image.has_unsaved() ? write_whole(image) : 0;
}

int ProfileFile::save_elsewhere(const Image& image, const Name& name, int error) {
    static_assert(no_answer == ETIMEDOUT);
    is_dead_ |= error == no_answer;
    const bool exists = error != ENOENT;
    count_drop(image.header().drops.write_errors);
    char partial[sizeof path_];
    copy(partial, path_);
    const Claimed before = claimed();
    const bool saved = claim(name, exists ? partial : nullptr, error, [&] {
        if (has_room_for(image.bytes())) return write_whole(image) == 0;
        errno = ENOSPC;
        return false;
    });
    if (saved && exists && error != no_answer) discard(partial, before);
    return saved ? 0 : error;
}

bool ProfileFile::move(const Name& name) {
    if (!is_at_its_path()) return false;
    if (is_nodes()) return true;  // which has no name of a rank
    char old[sizeof path_];
    copy(old, path_);
    std::size_t end = strlen(path_);
    while (end > 0 && path_[end] != '/') --end;
    path_[end] = 0;
    const int fd = fd_;
    const FileIdentity identity = identity_;
    bool moved = claim_at(end, {name.job, name.host, name.rank});
    if (moved) {
        close(fd_);
        moved = raw(SYS_renameat, AT_FDCWD, raw_address(old), AT_FDCWD, raw_address(path_)) == 0;
        if (!moved) delete_file(path_);
    }
    fd_ = fd;
    identity_ = identity;
    if (!moved) copy(path_, old);
    return moved;
}

void ProfileFile::remove() {
    if (is_at_its_path()) discard(path_, claimed());
}

}  // namespace mpiprof
