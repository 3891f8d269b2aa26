// Three bytes are four letters; lines of 76 of them, since mail and editors break longer ones.
#include "report/model/base64.h"

#include <array>
#include <cstdint>

namespace mpiprof::report {
namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t line_letters = 76;
constexpr std::uint8_t none = 0xff;

constexpr auto values = [] {
    std::array<std::uint8_t, 256> all{};
    all.fill(none);
    for (std::size_t i = 0; i < letters.size(); ++i)
        all[static_cast<unsigned char>(letters[i])] = static_cast<std::uint8_t>(i);
    return all;
}();

}  // namespace

std::string base64_of(std::span<const std::byte> bytes) {
    std::string text;
    text.reserve(bytes.size() / 3 * 4 + bytes.size() / 54 + 8);
    for (std::size_t i = 0, on_line = 0; i < bytes.size(); i += 3, on_line += 4) {
        if (on_line == line_letters) {
            text += '\n';
            on_line = 0;
        }
        const auto byte = [&](std::size_t at) {
            return at < bytes.size() ? std::to_integer<std::uint32_t>(bytes[at]) : 0;
        };
        const std::uint32_t word = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
        text += letters[word >> 18];
        text += letters[word >> 12 & 63];
        text += i + 1 < bytes.size() ? letters[word >> 6 & 63] : '=';
        text += i + 2 < bytes.size() ? letters[word & 63] : '=';
    }
    return text;
}

std::optional<std::vector<std::byte>> bytes_of_base64(std::string_view text) {
    std::vector<std::byte> bytes;
    bytes.reserve(text.size() / 4 * 3);
    std::uint32_t word = 0;
    unsigned taken = 0, padding = 0;
    for (const char c : text) {
        if (c == '\n' || c == '\r') continue;
        const std::uint8_t value = c == '=' ? 0 : values[static_cast<unsigned char>(c)];
        padding += c == '=';
        if (value == none || (padding != 0 && c != '=') || padding > 2) return {};
        word = word << 6 | value;
        if (++taken % 4 != 0) continue;
        for (unsigned i = 0; i < 3 - padding; ++i) bytes.push_back(static_cast<std::byte>(word >> (16 - 8 * i) & 255));
        word = 0;
    }
    if (taken % 4 != 0) return {};
    return bytes;
}

}  // namespace mpiprof::report
