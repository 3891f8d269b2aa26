// UTF-8 taken apart, and put together again without surprises.
#include "report/model/visible.h"

#include <fmt/format.h>

#include <cwchar>

namespace mpiprof::report {
namespace {

constexpr char32_t broken = 0xffffffff;

struct Character {
    char32_t code;  // `broken`: one byte that is no UTF-8
    std::size_t length;
};

Character next_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return {first, 1};
    const std::size_t length = first >= 0xf0 && first < 0xf5   ? 4
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xc2 && first < 0xe0 ? 2
                                                               : 0;
    if (length == 0 || text.size() < length) return {broken, 1};
    char32_t code = first & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {broken, 1};
        code = code << 6 | (byte(i) & 0x3f);
    }
    constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {broken, 1};
    return {code, length};
}

// What can move the cursor, hide text or turn it around.
bool is_control(char32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
           (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe0000 && code <= 0xe007f);
}

void escape(std::string& out, char32_t code) {
    if (code == '\n')
        out += "\\n";
    else if (code == '\t')
        out += ' ';
    else if (code < 0x100)
        out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(code));
    else
        out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
}

std::size_t width_of(char32_t code) {
    if (code < 0x80) return 1;
    const int width = wcwidth(static_cast<wchar_t>(code));
    return width < 0 ? 1 : static_cast<std::size_t>(width);
}

}  // namespace

std::string visible(std::string_view text, bool utf8) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Character c = next_character(text);
        if (c.code == broken)
            escape(out, static_cast<unsigned char>(text[0]));
        else if (is_control(c.code) || (!utf8 && c.code >= 0x80))
            escape(out, c.code);
        else
            out += text.substr(0, c.length);
        text.remove_prefix(c.length);
    }
    return out;
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const Character c = next_character(text);
        width += width_of(c.code);
        text.remove_prefix(c.length);
    }
    return width;
}

std::string_view fitting(std::string_view text, std::size_t width) {
    std::size_t used = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        const Character c = next_character(text.substr(at));
        if ((used += width_of(c.code)) > width) break;
        at += c.length;
    }
    return text.substr(0, at);
}

std::string json_string(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const Character c = next_character(text);
        if (c.code == broken)
            out += "\xef\xbf\xbd";
        else if (c.code == '"' || c.code == '\\')
            (out += '\\') += static_cast<char>(c.code);
        else if (c.code < 0x20 || c.code == 0x7f || (c.code >= 0x80 && c.code < 0xa0))
            out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c.code));
        else
            out += text.substr(0, c.length);
        text.remove_prefix(c.length);
    }
    return out += '"';
}

std::string csv_field(std::string_view text) {
    std::string plain = visible(text, true);
    if (plain.find_first_of(",\" ;") == std::string::npos) return plain;
    std::string out = "\"";
    for (const char c : plain) {
        if (c == '"') out += '"';
        out += c;
    }
    return out += '"';
}

std::string in_markup(std::string_view text) {
    std::string out;
    for (const char c : visible(text, true)) switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    return out;
}

std::string pair_field(std::string_view key, std::string_view value) {
    const auto encoded = [](std::string_view text, std::string_view apart) {
        std::string result;
        for (const char c : text)
            if (apart.find(c) != std::string_view::npos)
                result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
            else
                result += c;
        return result;
    };
    return encoded(key, "%,=") + "=" + encoded(value, "%,");
}

}  // namespace mpiprof::report
