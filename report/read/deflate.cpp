// Streams of more than 4 GiB do not occur: a block is a few MiB, or one file.
#include "report/read/deflate.h"

#include <zlib.h>

#include <array>
#include <new>

namespace mpiprof::report {
namespace {

Bytef* raw(std::byte* bytes) { return reinterpret_cast<Bytef*>(bytes); }
Bytef* raw(const std::byte* bytes) { return reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes)); }  // zlib reads it

}  // namespace

std::vector<std::byte> deflated(std::span<const std::byte> bytes) {
    std::vector<std::byte> stream(compressBound(bytes.size()));
    uLongf length = stream.size();
    if (compress2(raw(stream.data()), &length, raw(bytes.data()), bytes.size(), 6) != Z_OK) throw std::bad_alloc();
    stream.resize(length);
    return stream;
}

bool inflate_into(std::span<std::byte> bytes, std::span<const std::byte> stream) {
    // One byte more than there may be: a stream that holds more is not what was promised.
    z_stream state{};
    if (inflateInit(&state) != Z_OK) throw std::bad_alloc();
    std::array<std::byte, 1> beyond{};
    state.next_in = raw(stream.data());
    state.avail_in = static_cast<uInt>(stream.size());
    state.next_out = raw(bytes.data());
    state.avail_out = static_cast<uInt>(bytes.size());
    int result = inflate(&state, Z_FINISH);
    if (result == Z_BUF_ERROR && state.avail_out == 0) {
        state.next_out = raw(beyond.data());
        state.avail_out = 1;
        result = inflate(&state, Z_FINISH);
    }
    const bool is_whole = result == Z_STREAM_END && state.total_out == bytes.size() && state.avail_in == 0;
    inflateEnd(&state);
    return is_whole;
}

std::uint32_t checksum(std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(crc32(0, raw(bytes.data()), static_cast<uInt>(bytes.size())));
}

}  // namespace mpiprof::report
