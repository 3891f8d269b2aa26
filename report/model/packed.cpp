// Little-endian machines alone run the reporter: what one wrote another reads.
#include "report/model/packed.h"

#include <algorithm>
#include <cstring>

namespace mpiprof::report {
namespace {

constexpr std::size_t most_lines = 64;
constexpr std::size_t longest_text = 512;

std::string_view end_of(std::string_view text) {
    return text.size() > longest_text ? text.substr(text.size() - longest_text) : text;
}

}  // namespace

void put(std::string& bytes, std::uint64_t number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put(std::string& bytes, std::string_view text) {
    put(bytes, std::uint64_t{text.size()});
    bytes += text;
}

void put(std::string& bytes, const Symbol& symbol) {
    put(bytes, end_of(symbol.problem));
    const std::size_t lines = std::min(symbol.lines.size(), most_lines);
    put(bytes, std::uint64_t{lines});
    for (std::size_t i = 0; i < lines; ++i) {
        put(bytes, std::string_view(symbol.lines[i].function).substr(0, longest_text));
        put(bytes, end_of(symbol.lines[i].file));
        put(bytes, std::uint64_t{symbol.lines[i].line});
    }
}

bool take(std::string_view& bytes, std::uint64_t& number) {
    if (bytes.size() < sizeof number) return false;
    std::memcpy(&number, bytes.data(), sizeof number);
    bytes.remove_prefix(sizeof number);
    return true;
}

bool take(std::string_view& bytes, std::string& text) {
    std::uint64_t length = 0;
    if (!take(bytes, length) || length > bytes.size()) return false;
    text = bytes.substr(0, length);
    bytes.remove_prefix(length);
    return true;
}

bool take(std::string_view& bytes, Symbol& symbol) {
    symbol = {};
    std::uint64_t lines = 0;
    if (!take(bytes, symbol.problem) || !take(bytes, lines) || lines > most_lines) return false;
    for (; lines != 0; --lines) {
        SourceLine line;
        std::uint64_t number = 0;
        if (!take(bytes, line.function) || !take(bytes, line.file) || !take(bytes, number)) return false;
        line.line = static_cast<unsigned>(number);
        symbol.lines.push_back(std::move(line));
    }
    return true;
}

}  // namespace mpiprof::report
