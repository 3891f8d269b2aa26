// The key of a record is its beginning, up to its sums, and its tag.
#include "libmpiprof/nccl/operations.h"

namespace mpiprof::nccl {
namespace {

constexpr std::size_t key_bytes = offsetof(format::NcclOperation, operations);
static_assert(key_bytes % 8 == 0);

std::uint64_t hash(const format::NcclOperation& kind) {
    std::uint64_t result = mix(kind.tag ^ kind.tag >> 32);
    for (std::size_t at = 0; at < key_bytes; at += 8) {
        std::uint64_t word;
        __builtin_memcpy(&word, reinterpret_cast<const char*>(&kind) + at, sizeof word);
        result = mix(result ^ word ^ result >> 32);
    }
    return result >> 40;
}

}  // namespace

format::NcclOperation* Operations::find(Records& records, const format::NcclOperation& kind, unsigned limit) {
    const Image& image = records.image;
    const std::uint64_t at = hash(kind);
    if (const std::uint32_t* known = known_.find(at, [&](std::uint32_t word) {
            const auto& other = image.at_word<format::NcclOperation>(word);
            return memcmp(&other, &kind, key_bytes) == 0 && other.tag == kind.tag;
        }))
        return &image.at_word<format::NcclOperation>(*known);
    if (known_.count() >= limit || !known_.make_room(never_moves)) return nullptr;
    format::NcclOperation wanted = kind;
    wanted.operations = wanted.bytes = 0;
    format::NcclOperation* made = rows_.add(records.image, wanted);
    if (made) known_.insert(at, image.word_of(made));
    return made;
}

std::uint64_t Operations::known_tag(std::uint64_t tag) {
    if (tag == 0) return 0;
    for (std::uint64_t& known : tags_) {
        if (known == 0) known = tag;
        if (known == tag) return tag;
    }
    return format::other_tags;
}

format::NcclOperation* Operations::add(Records& records, format::NcclOperation kind, Bytes bytes) {
    const Guard guard(lock_);
    kind.tag = known_tag(kind.tag);
    if (format::NcclOperation* operation = find(records, kind, most_exact)) {
        add_known(*operation, bytes);
        return operation;
    }
    count_drop(records.image.header().drops.cells);
    format::NcclOperation rest{};
    rest.call = kind.call;
    rest.bin = kind.bin;
    rest.flags = kind.flags;
    if (format::NcclOperation* operation = find(records, rest, most)) add_known(*operation, bytes);
    return nullptr;
}

}  // namespace mpiprof::nccl
