// Texts are NCCL's own words, shown as they are but for what no terminal should see.
#include "report/read/nccl_operations.h"

#include <algorithm>

#include "report/model/words.h"
#include "report/read/bytes.h"

namespace mpiprof::report {
namespace {

template <std::size_t N>
std::string word_of(const char (&field)[N]) {
    std::string word(text_of(field));
    std::replace_if(
        word.begin(), word.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
    return word;
}

}  // namespace

NcclOperation nccl_operation_of(const format::NcclOperation& record, std::uint16_t call, std::size_t communicators) {
    return {.call = call,
            .bin = std::min<std::uint8_t>(record.bin, size_bins - 1),
            .channels = record.channels,
            .communicator = record.communicator < communicators ? record.communicator : std::uint16_t{0},
            .is_called_elsewhere = (record.flags & format::not_called_through_us) != 0,
            .algorithm = word_of(record.algorithm),
            .protocol = word_of(record.protocol),
            .operations = record.operations,
            .bytes = record.bytes};
}

}  // namespace mpiprof::report
