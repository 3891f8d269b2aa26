// What NCCL chose for its operations. Texts are NCCL's own words, shown as they are but for what no terminal should
// see.
#include "report/read/reading.h"

#include <algorithm>

namespace mpiprof::report {
namespace {

template <std::size_t N>
std::string word_of(const char (&field)[N]) {
    std::string word(text_of(field));
    std::replace_if(
        word.begin(), word.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
    return word;
}

NcclOperation nccl_operation_of(const format::NcclOperation& record, std::uint16_t call, std::size_t communicators) {
    return {.call = call,
            .bin = std::min<std::uint8_t>(record.bin, size_bins - 1),
            .channels = record.channels,
            .communicator = record.communicator < communicators ? record.communicator : std::uint16_t{0},
            .is_called_elsewhere = (record.flags & format::not_called_through_us) != 0,
            .algorithm = word_of(record.algorithm),
            .protocol = word_of(record.protocol),
            .operations = record.operations,
            .bytes = record.bytes,
            .tag = record.tag};
}

}  // namespace

void read_nccl_operations(Reading& r) {
    r.tables.each<format::NcclOperation>(
        format::TableType::nccl_operations, [&](const format::NcclOperation& record, const format::Table&) {
            if (record.operations != 0)
                r.profile.nccl_operations.push_back(
                    nccl_operation_of(record, r.calls.of(record.call), r.profile.communicators.size()));
        });
}

}  // namespace mpiprof::report
