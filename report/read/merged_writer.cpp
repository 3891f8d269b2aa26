// Blocks of a few MiB are made by several threads and written in order; index and header come last.
#include "report/read/merged_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

#include "report/read/deflate.h"
#include "report/read/merged_layout.h"
#include "report/read/parallel.h"
#include "report/read/profile_reader.h"

namespace mpiprof::report {
namespace {

using Bytes = std::vector<std::byte>;

// To look at one rank, a block is inflated; the larger it is, the more is kept once.
constexpr std::uint64_t block_bytes = 4 << 20;
constexpr std::size_t block_files = 64;
constexpr std::uint64_t usual_bytes = 64 << 10;  // of a file of which nobody has said how large it is

struct Range {
    std::size_t first, end;
};

std::vector<Range> blocks_of(const std::vector<RankFile>& files) {
    std::vector<Range> blocks;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const std::uint64_t more = files[i].image_bytes ? files[i].image_bytes : usual_bytes;
        if (blocks.empty() || bytes + more > block_bytes || i - blocks.back().first == block_files) {
            blocks.push_back({i, i});
            bytes = 0;
        }
        bytes += more;
        blocks.back().end = i + 1;
    }
    return blocks;
}

// The ranks of a job have most of their bytes in common, at the same places. Where they have not, a difference would
// hide the repetitions within the file.
bool is_like(ByteSpan bytes, ByteSpan other) {
    const std::size_t common = std::min(bytes.size(), other.size());
    std::size_t equal = 0;
    for (std::size_t i = 0; i < common; ++i) equal += bytes[i] == other[i] && bytes[i] != std::byte{0};
    std::size_t filled = 0;
    for (const std::byte byte : bytes) filled += byte != std::byte{0};
    return 2 * equal > filled;
}

// What tells later how the process was doing. Empty: its profile has an end.
std::optional<Life> life_of(const RankFile& file, ByteSpan bytes) {
    const auto profile = read_profile(bytes, file.name());
    if (!profile || (profile->state != State::running && !profile->is_in_finalize)) return std::nullopt;
    return RankFileReader::signs_of(file, *profile).process;
}

struct MadeBlock {
    Bytes stream;
    std::uint64_t size = 0;
    std::vector<merged::File> files;
    std::vector<std::string> paths;     // of these
    std::vector<std::string> problems;  // of those that could not be read
    bool may_run = false;               // a rank that has no end, and may still come to one
};

// What was merged before in the same parts.
std::optional<MadeBlock> copied_block(const std::vector<RankFile>& files, Range range) {
    const RankFile& first = files[range.first];
    for (std::size_t i = range.first; i < range.end; ++i)
        if (!first.merged || files[i].merged != first.merged || files[i].number != first.number + (i - range.first))
            return std::nullopt;
    auto whole = first.merged->whole_block(first.number, range.end - range.first);
    if (!whole) return std::nullopt;
    MadeBlock block;
    block.stream = std::move(whole->stream);
    block.size = whole->size;
    for (std::size_t i = range.first; i < range.end; ++i) {
        block.files.push_back(first.merged->files()[files[i].number]);
        block.paths.push_back(files[i].name());
    }
    return block;
}

MadeBlock make_block(RankFileReader& reader, const std::vector<RankFile>& files, Range range, Progress& progress) {
    if (auto copied = copied_block(files, range)) {
        progress.files += range.end - range.first;
        return std::move(*copied);
    }
    MadeBlock block;
    Bytes raw, before, image;
    for (std::size_t i = range.first; i < range.end; ++i, ++progress.files) {
        const RankFile& file = files[i];
        const auto read = reader.read(file);
        if (!read) {
            block.problems.push_back(read.error().line());
            continue;
        }
        image.assign(read->bytes.begin(), read->bytes.end());
        const SignsOfLife signs = RankFileReader::signs_of(file, {});
        const auto life = life_of(file, image);
        block.may_run |= life && *life != Life::ended && !file.merged;
        merged::File record{.rank = file.rank,
                            .flags = file.is_text ? merged::is_text : 0u,
                            .block = 0,
                            .life = static_cast<std::uint32_t>(life.value_or(Life::unknown)),
                            .offset = raw.size(),
                            .bytes = image.size(),
                            .modified_at_ns = signs.times.modified_at_ns,
                            .born_at_ns = signs.times.born_at_ns,
                            .path = {}};
        raw.insert(raw.end(), image.begin(), image.end());
        if (!before.empty() && is_like(image, before)) {
            record.flags |= merged::is_difference;
            merged::xor_with(std::span(raw).subspan(record.offset), before);
        }
        block.files.push_back(record);
        block.paths.push_back(file.name());
        std::swap(before, image);
    }
    block.size = raw.size();
    block.stream = deflated(raw);
    return block;
}

// Where the bytes go, one after the other; the header, whose room is taken first, last.
class Target {
  public:
    virtual ~Target() = default;
    virtual void write(ByteSpan bytes) = 0;
    virtual void write_header(ByteSpan bytes) = 0;
    virtual bool takes_more() const { return true; }
    virtual Result<std::monostate> place() = 0;
    std::uint64_t at() const { return at_; }

  protected:
    std::uint64_t at_ = 0;
};

class Memory : public Target {
  public:
    explicit Memory(std::uint64_t most) : most_(most) {}

    void write(ByteSpan bytes) override {
        at_ += bytes.size();
        if (takes_more()) bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    void write_header(ByteSpan bytes) override { std::copy(bytes.begin(), bytes.end(), bytes_.begin()); }
    bool takes_more() const override { return at_ <= most_; }
    Result<std::monostate> place() override { return std::monostate{}; }

    Bytes take() { return takes_more() ? std::move(bytes_) : Bytes{}; }

  private:
    std::uint64_t most_;
    Bytes bytes_;
};

// A file beside the one that is wanted, which takes its place when it is whole.
class NewFile : public Target {
  public:
    explicit NewFile(const std::string& path) : path_(path), partial_(path + ".partial") {
        file_ = std::fopen(partial_.c_str(), "wb");
        is_good_ = file_ != nullptr;
        if (!is_good_) error_ = errno;
    }
    ~NewFile() override {
        if (file_) std::fclose(file_);
        if (!is_placed_ && is_opened()) std::remove(partial_.c_str());
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void write(ByteSpan bytes) override {
        if (is_good_ && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
        at_ += bytes.size();
    }
    void write_header(ByteSpan bytes) override {
        if (is_good_ &&
            (std::fseek(file_, 0, SEEK_SET) != 0 || std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()))
            fail();
    }
    Result<std::monostate> place() override {
        if (is_good_ && std::fflush(file_) != 0) fail();
        if (is_good_ && std::rename(partial_.c_str(), path_.c_str()) != 0) fail();
        if (!is_good_) return problem(path_, fmt::format("cannot be written: {}", std::strerror(error_)));
        is_placed_ = true;
        return std::monostate{};
    }

  private:
    bool is_opened() const { return file_ != nullptr; }
    void fail() {
        error_ = errno;
        is_good_ = false;
    }

    std::string path_, partial_;
    std::FILE* file_ = nullptr;
    int error_ = 0;
    bool is_good_ = false, is_placed_ = false;
};

template <class T>
void append(Bytes& bytes, const std::vector<T>& records) {
    const auto more = std::as_bytes(std::span(records));
    bytes.insert(bytes.end(), more.begin(), more.end());
}

class Writer {
  public:
    Writer(const Found& found, const Launch& launch, Target& file, std::string name)
        : found_(found), launch_(launch), file_(file), name_(std::move(name)) {}

    Result<MergedSizes> write(unsigned threads, Progress& progress) {
        progress.files = 0;
        progress.total_files = launch_.files.size();
        merged::Header header{};
        file_.write(std::as_bytes(std::span(&header, 1)));
        for (const std::string& line : found_.problems) add_line(merged::of_file, line);
        write_blocks(threads, progress);
        if (files_.empty()) return problem(name_, "is not written: not one profile could be read");
        for (const std::string& line : launch_.problems) add_line(merged::of_launch, line);
        for (const std::string& ids : launch_.job_ids) add_line(merged::job_ids, ids);
        write_index(header);
        if (const auto ok = file_.place(); !ok) return tl::make_unexpected(ok.error());
        return MergedSizes{.files = files_.size(), .bytes_in_use = bytes_in_use_, .file_bytes = header.file_bytes};
    }

  private:
    merged::Text add_text(std::string_view text) {
        const merged::Text at{static_cast<std::uint32_t>(texts_.size()), static_cast<std::uint32_t>(text.size())};
        texts_ += text;
        return at;
    }
    void add_line(merged::LineKind kind, std::string_view line) { lines_.push_back({kind, 0, add_text(line)}); }

    void write_blocks(unsigned threads, Progress& progress) {
        const std::vector<Range> ranges = blocks_of(launch_.files);
        const unsigned workers = std::max(1u, threads);
        std::vector<RankFileReader> readers(workers);
        // So many at a time that the threads have something to do, and what waits to be written stays small.
        for (std::size_t first = 0; first < ranges.size() && file_.takes_more(); first += workers) {
            const std::size_t count = std::min<std::size_t>(workers, ranges.size() - first);
            std::vector<MadeBlock> made(count);
            run_in_parallel(count, static_cast<unsigned>(count), [&](std::size_t i, unsigned worker) {
                made[i] = make_block(readers[worker], launch_.files, ranges[first + i], progress);
            });
            for (MadeBlock& block : made) take(block);
        }
    }

    void take(MadeBlock& block) {
        for (const std::string& line : block.problems) add_line(merged::of_file, line);
        may_run_ |= block.may_run;
        if (block.files.empty()) return;
        for (std::size_t i = 0; i < block.files.size(); ++i) {
            block.files[i].block = static_cast<std::uint32_t>(blocks_.size());
            block.files[i].path = add_text(block.paths[i]);
            bytes_in_use_ += block.files[i].bytes;
        }
        files_.insert(files_.end(), block.files.begin(), block.files.end());
        blocks_.push_back({file_.at(), block.stream.size(), block.size});
        file_.write(block.stream);
    }

    void write_index(merged::Header& header) {
        const std::string first_line =
            fmt::format("{}{}. Read it with: mpiprof-report <this file>\n", merged::magic, merged::format_major);
        first_line.copy(header.first_line, sizeof header.first_line);
        header.byte_order = merged::byte_order_mark;
        header.format_major = merged::format_major;
        header.format_minor = merged::format_minor;
        header.header_size = sizeof header;
        header.launch = add_text(launch_.launch);
        header.job = add_text(launch_.job);
        header.command = add_text(launch_.command);
        Bytes index;
        append(index, blocks_);
        append(index, files_);
        append(index, lines_);
        const auto texts = std::as_bytes(std::span(texts_));
        index.insert(index.end(), texts.begin(), texts.end());
        const Bytes stream = deflated(index);
        header.index_offset = file_.at();
        header.index_bytes = stream.size();
        file_.write(stream);
        header.file_bytes = file_.at();
        header.merged_at_ns = merged_at_ns();
        header.started_at_ns = launch_.started_at_ns;
        header.blocks = static_cast<std::uint32_t>(blocks_.size());
        header.files = static_cast<std::uint32_t>(files_.size());
        header.lines = static_cast<std::uint32_t>(lines_.size());
        header.texts_bytes = static_cast<std::uint32_t>(texts_.size());
        header.world_size = launch_.size;
        header.flags = (launch_.is_text ? merged::texts_alone : 0u) |
                       (launch_.is_spawned ? merged::world_was_spawned : 0u) |
                       (found_.only_files ? merged::ranks_were_chosen : 0u);
        const auto bytes = std::as_bytes(std::span(&header, 1));
        header.checksum = checksum(bytes.first(offsetof(merged::Header, checksum)));
        file_.write_header(bytes);
    }

    // What has been merged once has been seen then. Of ranks that have all ended nothing changes after the last file
    // was written: so that merging them again makes the same bytes, whenever that is.
    std::uint64_t merged_at_ns() const {
        if (may_run_)
            return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                  std::chrono::system_clock::now().time_since_epoch())
                                                  .count());
        std::uint64_t newest_ns = launch_.merged_at_ns;
        for (std::size_t i = 0; i < files_.size(); ++i) newest_ns = std::max(newest_ns, files_[i].modified_at_ns);
        return newest_ns;
    }

    const Found& found_;
    const Launch& launch_;
    Target& file_;
    std::string name_;
    std::vector<merged::Block> blocks_;
    std::vector<merged::File> files_;
    std::vector<merged::Line> lines_;
    std::string texts_;
    std::uint64_t bytes_in_use_ = 0;
    bool may_run_ = false;
};

}  // namespace

void keep_part(Launch& launch, std::size_t part, std::size_t of) {
    const std::vector<Range> blocks = blocks_of(launch.files);
    const std::size_t first = blocks.size() * (part - 1) / of, end = blocks.size() * part / of;
    std::vector<RankFile> kept;
    if (first < end)
        kept.assign(launch.files.begin() + static_cast<std::ptrdiff_t>(blocks[first].first),
                    launch.files.begin() + static_cast<std::ptrdiff_t>(blocks[end - 1].end));
    launch.files = std::move(kept);
}

Result<MergedSizes> write_merged(const Found& found, const Launch& launch, const std::string& path, unsigned threads,
                                 Progress& progress) {
    NewFile file(path);
    return Writer(found, launch, file, path).write(threads, progress);
}

Result<std::vector<std::byte>> merged_bytes(const Found& found, const Launch& launch, std::uint64_t most,
                                            unsigned threads, Progress& progress) {
    Memory memory(most);
    const auto ok = Writer(found, launch, memory, "the data of the page").write(threads, progress);
    if (!ok) return tl::make_unexpected(ok.error());
    return memory.take();
}

}  // namespace mpiprof::report
