// Nothing that exists is overwritten.
#include "report/read/rank_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace mpiprof::report {
namespace {

bool write_all(int fd, ByteSpan bytes) {
    while (!bytes.empty()) {
        const ssize_t n = write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return true;
}

void set_time(int fd, std::uint64_t modified_at_ns) {
    constexpr std::uint64_t second = 1'000'000'000;
    if (modified_at_ns == 0) return;
    const timespec time{static_cast<time_t>(modified_at_ns / second), static_cast<long>(modified_at_ns % second)};
    const timespec times[2] = {time, time};
    (void)futimens(fd, times);
}

}  // namespace

// A job's name comes from a file: it must not lead out of the directory.
std::string file_name_of(const Launch& launch, const RankFile& file) {
    std::string name = fmt::format("mpi_profile.{}.{}", launch.job.empty() ? "job" : launch.job, file.rank);
    for (char& c : name)
        if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '_';
    return name;
}

Result<std::uint64_t> write_rank(RankFileReader& reader, const RankFile& file, const std::string& path) {
    auto read = reader.read(file);
    if (!read) return tl::unexpected<Problem>(std::move(read.error()));
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return problem(path, fmt::format("cannot be written: {}", std::strerror(errno)));
    bool is_whole = write_all(fd, read->bytes);
    int error = errno;
    if (is_whole) set_time(fd, RankFileReader::signs_of(file, {}).times.modified_at_ns);
    if (close(fd) != 0 && is_whole) {
        is_whole = false;
        error = errno;
    }
    if (is_whole) return read->bytes.size();
    (void)unlink(path.c_str());
    return problem(path, fmt::format("cannot be written: {}", std::strerror(error)));
}

}  // namespace mpiprof::report
