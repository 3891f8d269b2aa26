// The key of a record is its beginning, up to its sums.
#include "libmpiprof/nccl/operations.h"

namespace mpiprof::nccl {
namespace {

constexpr std::size_t key_bytes = offsetof(format::NcclOperation, operations);
static_assert(key_bytes % 8 == 0);

std::uint64_t hash(const format::NcclOperation& kind) {
    std::uint64_t result = 0;
    for (std::size_t at = 0; at < key_bytes; at += 8) {
        std::uint64_t word;
        __builtin_memcpy(&word, reinterpret_cast<const char*>(&kind) + at, sizeof word);
        result = mix(result ^ word ^ result >> 32);
    }
    return result >> 40;
}

}  // namespace

format::NcclOperation* Operations::find(Records& records, const format::NcclOperation& kind, unsigned limit) {
    for (std::uint64_t i = hash(kind);; ++i) {
        std::uint32_t& slot = index_[i % slots];
        if (slot != 0) {
            auto* known = reinterpret_cast<format::NcclOperation*>(records.image.at(std::uint64_t{slot} * 8));
            if (memcmp(known, &kind, key_bytes) == 0) return known;
            continue;
        }
        if (used_ >= limit) return nullptr;
        auto* made = static_cast<format::NcclOperation*>(records.image.next_record(
            table_, format::TableType::nccl_operations, sizeof(format::NcclOperation), 32, 0));
        if (!made) return nullptr;
        memcpy(static_cast<void*>(made), &kind, key_bytes);
        made->operations = made->bytes = 0;
        Image::publish(table_);
        ++used_;
        slot = static_cast<std::uint32_t>(records.image.offset_of(made) / 8);
        return made;
    }
}

void Operations::add(Records& records, const format::NcclOperation& kind, Bytes bytes) {
    const Guard guard(lock_);
    format::NcclOperation* operation = find(records, kind, most_exact);
    if (!operation) {
        count_drop(records.image.header().drops.cells);
        format::NcclOperation rest{};
        rest.call = kind.call;
        rest.bin = kind.bin;
        rest.flags = kind.flags;
        operation = find(records, rest, most);
    }
    if (!operation) return;
    mpiprof::add(operation->bytes, bytes);
    mpiprof::add(operation->operations, 1);
}

}  // namespace mpiprof::nccl
