// Reads a node's file (MPIPROF_FILES=node): the profiles of a node's ranks, each in a range of its own. A range reads
// as the file of that rank would; what is damaged in one is nothing to the others. For job_dir and rank_files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "report/model/result.h"
#include "report/read/bytes.h"
#include "report/read/file.h"

namespace mpiprof::report {

bool looks_like_node(ByteSpan beginning);

class NodeFile {
  public:
    static Result<NodeFile> open(const std::string& path);

    // The beginnings of all ranges that hold something, or that some rank has claimed.
    void each_head(const std::function<void(std::uint32_t range, const Result<FileBytes>& head)>& use) const;
    // At most `limit` bytes of the image in a range, which lie in `buffer` then. How long its file would be is as in
    // FileBytes.
    Result<FileBytes> read(std::uint32_t range, std::uint64_t limit, std::vector<std::byte>& buffer) const;

  private:
    NodeFile(OpenFile file, const std::string& path) : file_(std::move(file)), path_(path) {}
    std::uint64_t bytes_there(std::uint32_t range) const;

    OpenFile file_;
    std::string path_;
};

}  // namespace mpiprof::report
