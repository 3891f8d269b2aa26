// Bounds-checked reading from bytes that may be damaged or hostile: nothing outside them is ever touched.
// Used by the readers of this room; it neither opens files nor knows what the bytes mean.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace mpiprof::report {

using ByteSpan = std::span<const std::byte>;

// True if [offset, offset + length) lies within `size` bytes; never overflows.
constexpr bool lies_within(std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
    return offset <= size && length <= size - offset;
}

// A record of which the file may hold fewer bytes than this reader knows (the rest is zero) or more (ignored).
// The caller has checked that `stored` bytes lie at `at`.
template <class T>
T load_prefix(const std::byte* at, std::size_t stored) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (stored >= sizeof(T)) {  // nearly all: as many bytes as the compiler knows, and nothing to clear before
        T value;
        std::memcpy(static_cast<void*>(&value), at, sizeof(T));
        return value;
    }
    T value{};
    std::memcpy(static_cast<void*>(&value), at, stored);
    return value;
}

// A text field: up to its NUL, or all of it.
template <std::size_t N>
std::string_view text_of(const char (&field)[N]) {
    return {field, strnlen(field, N)};
}

inline std::string_view as_text(ByteSpan bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace mpiprof::report
