// Reads a node's file (MPIPROF_FILES=node): the profiles of a node's ranks, each in a range of its own. A range reads
// as the file of that rank would; what is damaged in one is nothing to the others. For job_dir and rank_files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/model/result.h"
#include "report/read/bytes.h"
#include "report/read/file.h"

namespace mpiprof::report {

bool looks_like_node(ByteSpan beginning);
// Whether the beginning of a file is whole, so that it is of the kind that it says, whatever that is.
bool is_what_it_says(ByteSpan beginning);

// What a rank's profile is called in words for the user.
std::string name_of_range(std::string_view path, std::uint32_t range);

class NodeFile {
  public:
    static Result<NodeFile> open(const std::string& path);

    // The beginnings of all ranges that hold something, or that some rank has claimed; where no profile begins, that.
    void each_head(const std::function<void(std::uint32_t range, const Result<FileBytes>& head)>& use) const;
    // At most `limit` bytes of the image in a range, which lie in `buffer` then. How long its file would be is as in
    // FileBytes.
    Result<FileBytes> read(std::uint32_t range, std::uint64_t limit, std::vector<std::byte>& buffer) const;

  private:
    NodeFile(OpenFile file, const std::string& path) : file_(std::move(file)), path_(path) {}
    std::uint64_t bytes_there(std::uint32_t range) const;
    bool has_only_zeros(std::uint32_t range, std::vector<std::byte>& buffer) const;
    tl::unexpected<Problem> damaged(std::uint32_t range, const std::uint32_t* rank) const;

    OpenFile file_;
    std::string path_;
};

}  // namespace mpiprof::report
