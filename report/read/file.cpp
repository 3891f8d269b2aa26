// open, fstat, pread; and the words for what can go wrong with each.
#include "report/read/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mpiprof::report {
namespace {

std::string_view kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
    return "no regular file";
}

std::uint64_t nanoseconds(const statx_timestamp& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

tl::unexpected<Problem> cannot_read(std::string_view path, int error) {
    std::string advice;
    if (error == EACCES || error == EPERM) advice = "profiles belong to the user who ran the job (mode 0600)";
    return problem(path, fmt::format("cannot be read: {}", std::strerror(error)), advice);
}

Result<OpenFile> OpenFile::open(const std::string& path) {
    int fd;
    do fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return cannot_read(path, errno);
    OpenFile file(fd, 0);
    struct stat info {};
    if (fstat(fd, &info) != 0) return cannot_read(path, errno);
    if (!S_ISREG(info.st_mode)) return problem(path, fmt::format("is {}, not a profile", kind_of(info.st_mode)));
    file.size_ = static_cast<std::uint64_t>(info.st_size);
    return file;
}

OpenFile::~OpenFile() {
    if (fd_ >= 0) close(fd_);
}

std::int64_t OpenFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n = pread(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -errno;
        if (n == 0) break;  // it became shorter meanwhile
        done += static_cast<std::size_t>(n);
    }
    return static_cast<std::int64_t>(done);
}

tl::unexpected<Problem> too_large(const std::string& path, std::uint64_t size) {
    return problem(path, fmt::format("is {} bytes long, too large for a profile", size));
}

Result<FileBytes> FileReader::read(const std::string& path, std::uint64_t limit) {
    auto file = OpenFile::open(path);
    if (!file) return tl::unexpected<Problem>(std::move(file.error()));
    const std::uint64_t size = file->size();
    if (size > largest_file && limit >= largest_file) return too_large(path, size);

    const std::uint64_t wanted = std::min(size, limit);
    if (buffer_.size() < wanted) buffer_.resize(wanted);
    const std::int64_t n = file->read_at(0, std::span(buffer_).first(wanted));
    if (n < 0) return cannot_read(path, static_cast<int>(-n));
    const auto done = static_cast<std::uint64_t>(n);
    return FileBytes{.bytes = ByteSpan(buffer_).first(done), .file_size = done < wanted ? done : size};
}

FileTimes FileReader::times(const std::string& path) {
    struct statx info {};
    if (statx(AT_FDCWD, path.c_str(), 0, STATX_MTIME | STATX_BTIME, &info) != 0) return {};
    return {.modified_at_ns = info.stx_mask & STATX_MTIME ? nanoseconds(info.stx_mtime) : 0,
            .born_at_ns = info.stx_mask & STATX_BTIME ? nanoseconds(info.stx_btime) : 0};
}

}  // namespace mpiprof::report
