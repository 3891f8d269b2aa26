// The file of one rank, wherever it is: a file of its own, a range of its node's file, or one of those in a merged
// file. What is read of it and what its times say is the same. job_dir finds it; merge reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/model/result.h"
#include "report/read/file.h"
#include "report/read/liveness.h"
#include "report/read/merged_file.h"

namespace mpiprof::report {

// Kept once for all ranks that share it: there may be thousands in a node's file, and a million in all.
class SharedPath {
  public:
    SharedPath() : SharedPath(std::string()) {}
    SharedPath(std::string path) : path_(std::make_shared<const std::string>(std::move(path))) {}
    const std::string& text() const { return *path_; }

  private:
    std::shared_ptr<const std::string> path_;
};

struct RankFile {
    std::uint32_t rank = 0;
    SharedPath path;                // of a merged one: where it was
    std::uint64_t image_bytes = 0;  // in use when it was looked at; 0 = not known, all of it
    bool is_text = false;           // mpitrace's
    std::shared_ptr<const MergedFile> merged{};
    std::size_t number = 0;                // in `merged`
    std::optional<std::uint32_t> range{};  // of the node's file at `path`

    // What it is called in words for the user.
    std::string name() const;
};

// One per thread; the bytes last until it reads the next.
class RankFileReader {
  public:
    // What is in use of it.
    Result<FileBytes> read(const RankFile& file);

    // What tells whether the process of a profile without an end lives: now, or when it was merged.
    static SignsOfLife signs_of(const RankFile& file, const Profile& profile);

  private:
    Result<FileBytes> read_range(const RankFile& file);

    FileReader reader_;
    std::vector<std::byte> range_;
    MergedFile::Image image_;
};

}  // namespace mpiprof::report
