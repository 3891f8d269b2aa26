// The kernel is asked anew for each line, which are few: nothing is known of a file by its number.
#include "libmpiprof/process/standard_error.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <initializer_list>

#include "libmpiprof/base/clock.h"
#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/host/processes.h"

namespace mpiprof {

constinit StandardError standard_error{};

namespace {

constexpr int its_number = 2;
constexpr int most_ancestors = 8;

std::uint64_t nanoseconds_of(const statx_timestamp& t) {
    return t.tv_sec < 0 ? 0 : static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + t.tv_nsec;
}

// When a file was made, as far as its file system says: where it keeps no birth, not later than any of its times.
std::uint64_t born_at_ns(const struct statx& file) {
    if (file.stx_mask & STATX_BTIME) return nanoseconds_of(file.stx_btime);
    std::uint64_t earliest = nanoseconds_of(file.stx_mtime);
    for (const statx_timestamp& other : {file.stx_ctime, file.stx_atime})
        if (nanoseconds_of(other) < earliest) earliest = nanoseconds_of(other);
    return earliest;
}

// Whether a process that we come from has this very file open: then it was not this process that made it.
bool is_open_above(const FileIdentity& identity) {
    unsigned pid = own_stat().parent;
    bool found = false;
    for (int i = 0; i < most_ancestors && pid > 1 && !found; ++i) {
        char directory[48];
        snprintf(directory, sizeof directory, "/proc/%u/fd", pid);
        each_entry(directory, [&](const char* name) {
            char path[80];
            FileIdentity theirs{};
            snprintf(path, sizeof path, "%s/%s", directory, name);
            found |= !found && identify_through(path, theirs) && theirs == identity;
        });
        pid = stat_of(pid).parent;
    }
    return found;
}

bool is_open_to_write(int fd) {
    const long flags = raw(SYS_fcntl, fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

bool is_regular(int fd) {
    struct statx file;
    return raw(SYS_statx, fd, raw_address(""), AT_EMPTY_PATH, STATX_TYPE, raw_address(&file)) == 0 &&
           (file.stx_mode & S_IFMT) == S_IFREG;
}

// Before Linux 4.11 nothing says when a file was made: then a regular one is not written to.
bool is_programs_own(int fd, const FileIdentity& identity) {
    struct statx file;
    if (raw(SYS_statx, fd, raw_address(""), AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, raw_address(&file)) != 0) {
        struct stat old;
        return raw(SYS_newfstatat, fd, raw_address(""), raw_address(&old), AT_EMPTY_PATH) != 0 ||
               (old.st_mode & S_IFMT) == S_IFREG;
    }
    if ((file.stx_mode & S_IFMT) != S_IFREG) return false;
    // What was inherited is not closed on exec; and nobody reads his input from a file that he writes to.
    if (raw(SYS_fcntl, its_number, F_GETFD) & FD_CLOEXEC) return true;
    if (is_regular(0) && is_open_to_write(0)) return true;
    const std::uint64_t age = own_age_ns(own_stat()), now = kernel_nanoseconds(CLOCK_REALTIME);
    const bool is_older = age != 0 && age < now && born_at_ns(file) < now - age;
    return !is_older && !is_open_above(identity);
}

}  // namespace

void StandardError::remember() {
    if (is_remembered_.load(std::memory_order_acquire)) return;
    FileIdentity now{};
    if (!identify(its_number, now)) now = {0, 0};
    first_ = now;
    is_remembered_.store(true, std::memory_order_release);
}

bool StandardError::is_still_meant(int fd) const {
    FileIdentity now{};
    return identify(fd, now) && now == first_ && !is_programs_own(fd, now);
}

void StandardError::write(const char* line, std::size_t bytes) {
    remember();
    // What was duplicated is looked at, not the number, which may mean another file a moment later.
    const long fd = is_quiet_ ? -EBADF : raw(SYS_fcntl, its_number, F_DUPFD_CLOEXEC, its_number + 1);
    const bool is_meant = fd >= 0 && is_still_meant(static_cast<int>(fd));
    if (is_meant) raw(SYS_write, fd, raw_address(line), static_cast<long>(bytes));
    if (fd >= 0) raw(SYS_close, fd);
    if (is_meant || unsaid_[0]) return;
    append(unsaid_, line, bytes);
    cut(unsaid_, "\n");
}

}  // namespace mpiprof
