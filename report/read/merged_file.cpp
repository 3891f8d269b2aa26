// Nothing that a damaged file promises is believed: offsets are checked before they are followed, and room is made only
// for what the bytes that are there can hold.
#include "report/read/merged_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "report/read/deflate.h"
#include "report/read/page_data.h"

namespace mpiprof::report {
namespace {

using namespace merged;

constexpr std::uint64_t most_index = std::uint64_t{1} << 30;
constexpr std::uint64_t most_page = std::uint64_t{64} << 20;
constexpr std::uint64_t most_block = FileReader::largest_file;

// Records of the index, which has been measured before.
template <class T>
void take(std::vector<T>& records, std::uint32_t count, ByteSpan& bytes) {
    if (count == 0) return;
    records.resize(count);
    std::memcpy(static_cast<void*>(records.data()), bytes.data(), count * sizeof(T));
    bytes = bytes.subspan(count * sizeof(T));
}

std::uint64_t index_size(const Header& header) {
    return std::uint64_t{header.blocks} * sizeof(Block) + std::uint64_t{header.files} * sizeof(File) +
           std::uint64_t{header.lines} * sizeof(Line) + header.texts_bytes;
}

}  // namespace

bool looks_merged(ByteSpan beginning) { return as_text(beginning).starts_with(magic); }

tl::unexpected<Problem> MergedFile::damaged(std::string_view what) const {
    return problem(path_, fmt::format("is damaged: {}", what), "copy it again, or merge the profiles once more");
}

Result<std::shared_ptr<const MergedFile>> MergedFile::open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return problem(path, fmt::format("cannot be read: {}", std::strerror(errno)));
    std::shared_ptr<MergedFile> file(new MergedFile(path, fd));
    struct stat info {};
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return problem(path, "is no regular file");
    const auto size = file->read_page(static_cast<std::uint64_t>(info.st_size));
    if (!size) return tl::make_unexpected(size.error());
    if (const auto ok = file->read_header(*size); !ok) return tl::make_unexpected(ok.error());
    if (const auto ok = file->read_index(); !ok) return tl::make_unexpected(ok.error());
    return file;
}

MergedFile::~MergedFile() { close(fd_); }

Result<std::uint64_t> MergedFile::read_page(std::uint64_t file_size) {
    Bytes beginning(std::min<std::uint64_t>(file_size, page_head_bytes));
    if (!read_at(0, beginning) || !looks_like_page(beginning)) return file_size;
    if (file_size > most_page)
        return problem(path_, fmt::format("is a page of {} bytes", file_size), "name the job's directory");
    Bytes page(file_size);
    if (!read_at(0, page)) return problem(path_, "cannot be read");
    auto data = data_in_page(page, path_);
    if (!data) return tl::make_unexpected(data.error());
    in_page_ = std::move(data->launch);
    names_ = std::move(data->names);
    return in_page_.size();
}

bool MergedFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
    if (!in_page_.empty()) {
        if (!lies_within(offset, bytes.size(), in_page_.size())) return false;
        std::copy_n(in_page_.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
        return true;
    }
    while (!bytes.empty()) {
        const ssize_t n = pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(n));
        offset += static_cast<std::uint64_t>(n);
    }
    return true;
}

Result<std::monostate> MergedFile::read_header(std::uint64_t file_size) {
    const auto bytes = std::as_writable_bytes(std::span(&header_, 1));
    if (file_size < sizeof header_ || !read_at(0, bytes))
        return problem(path_, fmt::format("is truncated: {} bytes", file_size), "copy it again");
    if (header_.byte_order == __builtin_bswap64(byte_order_mark))
        return problem(path_, "was written on a big-endian machine", "merge the profiles on this one");
    if (!looks_merged(bytes) || header_.byte_order != byte_order_mark) return damaged("bad magic number");
    if (header_.format_major != format_major)
        return problem(path_,
                       fmt::format("has format {}, this mpiprof-report reads merged files of format {}",
                                   header_.format_major, format_major),
                       "use the mpiprof-report that wrote it");
    if (header_.checksum != checksum(bytes.first(offsetof(Header, checksum))))
        return damaged("bad checksum of the header");
    if (file_size < header_.file_bytes)
        return problem(path_, fmt::format("is truncated: {} of {} bytes", file_size, header_.file_bytes),
                       "copy it again, or merge the profiles once more");
    return std::monostate{};
}

Result<std::monostate> MergedFile::read_index() {
    const std::uint64_t size = index_size(header_);
    if (!lies_within(header_.index_offset, header_.index_bytes, header_.file_bytes) || size > most_index ||
        size > most_inflated(header_.index_bytes))
        return damaged("bad offset of the index");
    Bytes stream(header_.index_bytes), index(size);
    if (!read_at(header_.index_offset, stream) || !inflate_into(index, stream)) return damaged("its index");
    ByteSpan rest(index);
    take(blocks_, header_.blocks, rest);
    take(files_, header_.files, rest);
    take(lines_, header_.lines, rest);
    texts_ = as_text(rest);
    first_file_.assign(blocks_.size(), 0);
    for (std::size_t i = files_.size(); i-- > 0;)
        if (files_[i].block < blocks_.size()) first_file_[files_[i].block] = static_cast<std::uint32_t>(i);
    if (!is_index_sound()) return damaged("the index points outside the file");
    return std::monostate{};
}

bool MergedFile::is_index_sound() const {
    const auto is_block_sound = [&](const Block& block) {
        return lies_within(block.offset, block.bytes, header_.file_bytes) && block.size <= most_block &&
               block.size <= most_inflated(block.bytes);
    };
    if (files_.empty() || !std::all_of(blocks_.begin(), blocks_.end(), is_block_sound)) return false;
    const auto says_something = [&](const Line& line) { return !text(line.text).empty(); };
    if (!std::all_of(lines_.begin(), lines_.end(), says_something)) return false;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        const File& file = files_[i];
        if (file.block >= blocks_.size() || !lies_within(file.offset, file.bytes, blocks_[file.block].size))
            return false;
        if (file.rank >= header_.world_size) return false;
        if (i == 0) continue;
        // In order, and the files of a block do not overlap: one is made from the one before it.
        const File& before = files_[i - 1];
        if (file.rank <= before.rank || file.block < before.block) return false;
        if (file.block == before.block && file.offset < before.offset + before.bytes) return false;
    }
    return true;
}

std::string MergedFile::text(const Text& text) const {
    return lies_within(text.offset, text.length, texts_.size()) ? texts_.substr(text.offset, text.length) : "";
}

std::shared_ptr<const MergedFile::Bytes> MergedFile::inflated(std::uint32_t number) const {
    Kept& kept = kept_[number % kept_.size()];
    const std::lock_guard lock(kept.mutex);
    if (kept.block == number) return kept.bytes;
    kept.block = number;
    kept.bytes.reset();
    const Block& block = blocks_[number];
    Bytes stream(block.bytes);
    auto bytes = std::make_shared<Bytes>(block.size);
    if (!read_at(block.offset, stream) || !inflate_into(*bytes, stream)) return nullptr;
    for (std::size_t i = first_file_[number] + 1; i < files_.size() && files_[i].block == number; ++i) {
        if ((files_[i].flags & is_difference) == 0) continue;
        const File &file = files_[i], &before = files_[i - 1];
        const std::span all(*bytes);
        xor_with(all.subspan(file.offset, file.bytes), all.subspan(before.offset, before.bytes));
    }
    return kept.bytes = std::move(bytes);
}

std::optional<MergedFile::WholeBlock> MergedFile::whole_block(std::size_t first, std::size_t count) const {
    const std::uint32_t number = files_[first].block;
    const std::size_t last = first + count - 1;
    if (first_file_[number] != first || files_[last].block != number ||
        (last + 1 < files_.size() && files_[last + 1].block == number))
        return std::nullopt;
    const Block& block = blocks_[number];
    WholeBlock whole{Bytes(block.bytes), block.size};
    if (Bytes inflated(block.size); !read_at(block.offset, whole.stream) || !inflate_into(inflated, whole.stream))
        return std::nullopt;
    return whole;
}

Result<MergedFile::Image> MergedFile::image(std::size_t number) const {
    const File& file = files_[number];
    auto block = inflated(file.block);
    if (!block) return damaged(fmt::format("the part with rank {}", file.rank));
    const ByteSpan bytes = ByteSpan(*block).subspan(file.offset, file.bytes);
    return Image{std::move(block), bytes};
}

}  // namespace mpiprof::report
