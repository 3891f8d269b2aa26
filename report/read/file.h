// Reads files into owned memory, with read(): a profile may still be written to, or cut, while it is looked at, and
// mapping many small files costs more than reading them. One FileReader per thread keeps its memory for the next.
#pragma once

#include <cstdint>
#include <string>
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

class FileReader {
  public:
    // At most `limit` bytes from the beginning. Anything but a regular file is a Problem; a FIFO is never waited for.
    Result<FileBytes> read(const std::string& path, std::uint64_t limit = largest_file);

    // Asked of few files only: it costs as much as opening one.
    static FileTimes times(const std::string& path);

    static constexpr std::uint64_t largest_file = std::uint64_t{1} << 30;

  private:
    std::vector<std::byte> buffer_;
};

}  // namespace mpiprof::report
