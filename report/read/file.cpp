// open, fstat, read; and the words for what can go wrong with each.
#include "report/read/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mpiprof::report {
namespace {

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

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

tl::unexpected<Problem> cannot_read(std::string_view path, int error) {
    std::string advice;
    if (error == EACCES || error == EPERM) advice = "profiles belong to the user who ran the job (mode 0600)";
    return problem(path, fmt::format("cannot be read: {}", std::strerror(error)), advice);
}

}  // namespace

Result<FileBytes> FileReader::read(const std::string& path, std::uint64_t limit) {
    int fd;
    do fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return cannot_read(path, errno);
    const Descriptor file(fd);

    struct stat info {};
    if (fstat(fd, &info) != 0) return cannot_read(path, errno);
    if (!S_ISREG(info.st_mode)) return problem(path, fmt::format("is {}, not a profile", kind_of(info.st_mode)));
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (size > largest_file) return problem(path, fmt::format("is {} bytes long, too large for a profile", size));

    const std::uint64_t wanted = std::min(size, limit);
    if (buffer_.size() < wanted) buffer_.resize(wanted);
    std::uint64_t done = 0;
    while (done < wanted) {
        const ssize_t n = ::read(fd, buffer_.data() + done, wanted - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return cannot_read(path, errno);
        if (n == 0) break;  // it became shorter meanwhile
        done += static_cast<std::uint64_t>(n);
    }
    return FileBytes{.bytes = ByteSpan(buffer_).first(done), .file_size = done < wanted ? done : size};
}

FileTimes FileReader::times(const std::string& path) {
    struct statx info {};
    if (statx(AT_FDCWD, path.c_str(), 0, STATX_MTIME | STATX_BTIME, &info) != 0) return {};
    return {.modified_at_ns = info.stx_mask & STATX_MTIME ? nanoseconds(info.stx_mtime) : 0,
            .born_at_ns = info.stx_mask & STATX_BTIME ? nanoseconds(info.stx_btime) : 0};
}

}  // namespace mpiprof::report
