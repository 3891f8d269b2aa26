// Reads a merged file: a launch's profiles in one file (`mpiprof-report merge`). It is opened once, its index checked
// as a whole; blocks are inflated as their files are asked for. Any thread may ask. A page of `mpiprof-report html` may
// hold one. For job_dir and rank_files.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/model/given_names.h"
#include "report/model/result.h"
#include "report/model/words.h"
#include "report/read/bytes.h"
#include "report/read/file.h"
#include "report/read/merged_layout.h"

namespace mpiprof::report {

bool looks_merged(ByteSpan beginning);

class MergedFile {
  public:
    static Result<std::shared_ptr<const MergedFile>> open(const std::string& path);
    ~MergedFile();
    MergedFile(const MergedFile&) = delete;
    MergedFile& operator=(const MergedFile&) = delete;

    const std::string& path() const { return path_; }
    const merged::Header& header() const { return header_; }
    bool has(merged::Flags flag) const { return (header_.flags & flag) != 0; }
    std::span<const merged::File> files() const { return files_; }  // sorted by rank
    std::span<const merged::Line> lines() const { return lines_; }
    std::string text(const merged::Text& text) const;
    // Of a page: what places are called, as it says. Null: a file of its own, whose programs are looked into.
    const std::shared_ptr<const GivenNames>& names() const { return names_; }

    using Bytes = std::vector<std::byte>;
    struct Image {
        std::shared_ptr<const Bytes> block;  // keeps the bytes
        ByteSpan bytes;
    };
    Result<Image> image(std::size_t file) const;

    // `count` files from `first` on, as they are in this file: copied, they are what merging them again would make.
    struct WholeBlock {
        Bytes stream;
        std::uint64_t size = 0;  // inflated
    };
    // Empty: they are not just one block, or it is damaged.
    std::optional<WholeBlock> whole_block(std::size_t first, std::size_t count) const;

  private:
    MergedFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
    Result<std::monostate> read_header(std::uint64_t file_size);
    Result<std::monostate> read_index();
    bool is_index_sound() const;
    Result<std::uint64_t> read_page(std::uint64_t file_size);  // how large what it holds is
    bool read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
    tl::unexpected<Problem> damaged(std::string_view what) const;
    std::shared_ptr<const Bytes> inflated(std::uint32_t block) const;

    // Files are asked for in order, by several threads: the last few blocks are kept.
    struct Kept {
        std::mutex mutex;
        std::uint32_t block = ~0u;
        std::shared_ptr<const Bytes> bytes;  // empty: the block is damaged
    };

    std::string path_;
    int fd_;
    std::shared_ptr<const GivenNames> names_;
    Bytes in_page_;  // in place of what `fd_` reads
    merged::Header header_{};
    std::vector<merged::Block> blocks_;
    std::vector<merged::File> files_;
    std::vector<merged::Line> lines_;
    std::vector<std::uint32_t> first_file_;  // of each block
    std::string texts_;
    mutable std::array<Kept, 8> kept_;
};

}  // namespace mpiprof::report
