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

#include "libmpiprof/process/say.h"
#include "libmpiprof/process/settings.h"
#include "libmpiprof/record/text.h"

namespace mpiprof {
namespace {

// Where MAP_SHARED pages are safe once the space is taken: nothing but the disk's own failure takes it back.
constexpr long mappable[] = {0xef53 /* ext2-4 */, 0x58465342 /* xfs */, 0x01021994 /* tmpfs */};

bool bears_mapping(int fd) {
    const char* wanted = value_of(Setting::store);
    if (strcmp(wanted, "written") == 0) return false;
    if (strcmp(wanted, "mapped") == 0) return true;
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0) return false;
    for (const long type : mappable)
        if (static_cast<long>(fs.f_type) == type) return true;
    return false;
}

// The environment's word for it: asking the system would load its name service into the user's process.
const char* user_name() {
    static char number[16];
    const char* name = nullptr;
    if (any_of("USER\0LOGNAME\0", [&](const char* variable) { return (name = getenv(variable)) && *name; })) return name;
    snprintf(number, sizeof number, "%u", static_cast<unsigned>(syscall(SYS_getuid)));
    return number;
}

// MPIPROF_DIR with %j, %u, %h filled in. False: too long.
bool expand(const char* pattern, const char* job, const char* host, char* path, std::size_t size) {
    std::size_t used = 0;
    for (const char* p = pattern; *p; ++p) {
        const char* piece = nullptr;
        if (p[0] == '%' && p[1] == 'j') piece = job;
        if (p[0] == '%' && p[1] == 'h') piece = host;
        if (p[0] == '%' && p[1] == 'u') piece = user_name();
        const std::size_t length = piece ? strlen(piece) : 1;
        if (used + length + 1 > size) return false;
        memcpy(path + used, piece ? piece : p, length);
        used += length;
        if (piece) ++p;
    }
    path[used] = 0;
    return true;
}

// The program may change its working directory later: a relative setting is resolved now.
bool make_absolute(char* directory, std::size_t size) {
    if (directory[0] == '/') return true;
    char here[4096];
    if (!getcwd(here, sizeof here)) return false;
    const bool is_here = strcmp(directory, ".") == 0;
    const std::size_t used = strlen(here), relative = is_here ? 0 : strlen(directory) + 1;
    if (used + relative + 1 > size) return false;
    directory[used + relative] = 0;
    for (std::size_t i = relative; i > 1; --i) directory[used + i - 1] = directory[i - 2];  // from the end: they overlap
    if (!is_here) directory[used] = '/';
    memcpy(directory, here, used);
    return true;
}

// A directory named with %j cannot be made before the job: make what is missing. Other ranks may be doing the same.
void make_directories(char* directory) {
    for (char* c = directory + 1;; ++c) {
        if (*c && *c != '/') continue;
        const char end = *c;
        *c = 0;
        mkdir(directory, 0777);
        *c = end;
        if (!end) return;
    }
}

// How many descriptors the kernel's table for this process has room for, as it is.
int size_of_descriptor_table() {
    char text[512];
    const int fd = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    int size = 0;
    if (const char* found = strstr(text, "FDSize:\t"))
        for (found += 8; *found >= '0' && *found <= '9'; ++found) size = size * 10 + (*found - '0');
    return size > 64 ? size : 64;
}

// High and close-on-exec: programs that close or reuse low descriptors do not meet it. Not so high that the table has to
// grow: in a process with threads, which MPI has made, that waits some 10 ms for all processors.
int out_of_the_way(int fd) {
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, size_of_descriptor_table() - 8);
    if (high < 0) return fd;
    close(fd);
    return high;
}

}  // namespace

bool ProfileFile::claim(const char* job, const char* host, unsigned rank) {
    char directory[4096];
    if (!expand(value_of(Setting::directory), job, host, directory, sizeof directory) || !make_absolute(directory, sizeof directory)) {
        errno = ENAMETOOLONG;
        return false;
    }
    bool made = false;
    for (unsigned attempt = 1; attempt < 10000; ++attempt) {
        char suffix[16] = "";
        if (attempt > 1) snprintf(suffix, sizeof suffix, "-%u", attempt);
        const int n = snprintf(path_, sizeof path_, "%s/mpi_profile.%s%s.%u", directory, job, suffix, rank);
        if (n < 0 || static_cast<std::size_t>(n) >= sizeof path_) {
            errno = ENAMETOOLONG;
            return false;
        }
        const int fd = ::open(path_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0) {
            fd_ = out_of_the_way(fd);
            return identify(fd_, identity_);
        }
        if (errno == ENOENT && !made) {
            make_directories(directory);
            made = true;
            --attempt;
        } else if (errno != EEXIST) {
            return false;
        }
    }
    return false;
}

bool ProfileFile::open(Image& image, const char* job, const char* host, unsigned rank) {
    if (!claim(job, host, rank)) {
        if (rank == 0)  // one line a job; of other ranks the report says that they are missing
            say("cannot create %s: %s; this run is not profiled (MPIPROF_DIR names another directory)",
                path_[0] ? path_ : value_of(Setting::directory), strerror(errno));
        return false;
    }
    if (bears_mapping(fd_) && image.open_mapped(fd_)) return true;
    if (ftruncate(fd_, 0) == 0 && image.open_private()) return true;
    if (rank == 0) say("no memory for the profile; this run is not profiled");
    remove();
    return false;
}

bool ProfileFile::still_ours() const {  // the program may have closed the descriptor and opened something else under it
    FileIdentity now{};
    return fd_ >= 0 && identify(fd_, now) && now == identity_;
}

int ProfileFile::save(const Image& image) {
    if (image.is_mapped()) return 0;
    if (still_ours()) return image.write_to(fd_);
    const int fd = ::open(path_, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return errno;
    FileIdentity now{};
    const bool ours = identify(fd, now) && now == identity_;
    const int error = ours ? image.write_to(fd) : ESTALE;
    close(fd);
    return error;
}

void ProfileFile::remove() {
    if (path_[0]) unlink(path_);
}

}  // namespace mpiprof
