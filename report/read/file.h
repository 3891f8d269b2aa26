// Reads files into owned memory, with read(): a profile may still be written to, or cut, while it is looked at, and
// mapping many small files costs more than reading them. One FileReader per thread keeps its memory for the next.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/model/result.h"
#include "report/read/bytes.h"

namespace mpiprof::report {

struct FileTimes {
    std::uint64_t modified_at_ns = 0;
    std::uint64_t born_at_ns = 0;  // 0 = the file system does not know
};

struct FileBytes {
    ByteSpan bytes;  // valid until the next read
    std::uint64_t file_size = 0;
};

// A file that is read at any place, as often as wanted.
class OpenFile {
  public:
    static Result<OpenFile> open(const std::string& path);
    ~OpenFile();
    OpenFile(OpenFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    std::uint64_t size() const { return size_; }  // when it was opened
    // How many bytes were read, fewer only at the end of the file; an errno, negative.
    std::int64_t read_at(std::uint64_t offset, std::span<std::byte> bytes) const;

  private:
    OpenFile(int fd, std::uint64_t size) : fd_(fd), size_(size) {}

    int fd_;
    std::uint64_t size_;
};

tl::unexpected<Problem> cannot_read(std::string_view path, int error);
tl::unexpected<Problem> too_large(const std::string& path, std::uint64_t size);

class FileReader {
  public:
    // At most `limit` bytes from the beginning, or, without one, all of it unless it is too large for a profile.
    // Anything but a regular file is a Problem; a FIFO is never waited for.
    Result<FileBytes> read(const std::string& path, std::uint64_t limit = largest_file);

    // Asked of few files only: it costs as much as opening one.
    static FileTimes times(const std::string& path);

    static constexpr std::uint64_t largest_file = std::uint64_t{1} << 30;

  private:
    std::vector<std::byte> buffer_;
};

}  // namespace mpiprof::report
