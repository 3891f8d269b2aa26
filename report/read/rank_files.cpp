// One question, three places to look.
#include "report/read/rank_files.h"

#include <algorithm>

#include "report/read/node_file.h"
#include "report/read/profile_reader.h"

namespace mpiprof::report {

std::string RankFile::name() const { return range ? name_of_range(path.text(), *range) : path.text(); }

// It may have grown since it was looked at.
Result<FileBytes> RankFileReader::read_range(const RankFile& file) {
    auto node = NodeFile::open(file.path.text());
    if (!node) return tl::make_unexpected(node.error());
    const std::uint64_t known = std::max<std::uint64_t>(file.image_bytes, head_bytes);
    auto bytes = node->read(*file.range, known, range_);
    if (!bytes || image_bytes_of(bytes->bytes) <= known) return bytes;
    return node->read(*file.range, image_bytes_of(bytes->bytes), range_);
}

// A file grows by large segments of which the end is not in use yet: it is not read, unless it came into use meanwhile.
Result<FileBytes> RankFileReader::read(const RankFile& file) {
    if (file.merged) {
        auto image = file.merged->image(file.number);
        if (!image) return tl::make_unexpected(image.error());
        image_ = std::move(*image);
        return FileBytes{image_.bytes, image_.bytes.size()};
    }
    if (file.range) return read_range(file);
    if (file.image_bytes == 0) return reader_.read(file.path.text());
    auto bytes = reader_.read(file.path.text(), file.image_bytes);
    if (!bytes || image_bytes_of(bytes->bytes) <= file.image_bytes) return bytes;
    return reader_.read(file.path.text());
}

SignsOfLife RankFileReader::signs_of(const RankFile& file, const Profile& profile) {
    // All ranks of a node write to its file: its times say nothing of one of them, but when it was merged.
    if (file.range) return signs_here(profile, {.modified_at_ns = FileReader::times(file.path.text()).modified_at_ns});
    if (!file.merged) return signs_here(profile, FileReader::times(file.path.text()));
    const merged::File& record = file.merged->files()[file.number];
    return {.times = {.modified_at_ns = record.modified_at_ns, .born_at_ns = record.born_at_ns},
            .now_ns = file.merged->header().merged_at_ns,
            .process = record.life <= static_cast<std::uint32_t>(Life::ended) ? static_cast<Life>(record.life)
                                                                              : Life::unknown};
}

}  // namespace mpiprof::report
