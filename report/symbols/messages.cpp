// Texts, each behind its length; numbers as they lie in memory: both ends are the same program.
#include "report/symbols/messages.h"

#include <algorithm>
#include <cstring>

namespace mpiprof::report {
namespace {

constexpr std::size_t most_lines = 64;
constexpr std::size_t longest_text = 512;  // of an answer: a path is told by its end

void put(std::string& message, std::uint64_t number) {
    message.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void put(std::string& message, std::string_view text) {
    put(message, std::uint64_t{text.size()});
    message += text;
}

bool take(std::string_view& message, std::uint64_t& number) {
    if (message.size() < sizeof number) return false;
    std::memcpy(&number, message.data(), sizeof number);
    message.remove_prefix(sizeof number);
    return true;
}
bool take(std::string_view& message, std::string& text) {
    std::uint64_t length = 0;
    if (!take(message, length) || length > message.size()) return false;
    text = message.substr(0, length);
    message.remove_prefix(length);
    return true;
}

std::string_view end_of(std::string_view text) {
    return text.size() > longest_text ? text.substr(text.size() - longest_text) : text;
}

}  // namespace

std::string encode(const SymbolQuestion& question) {
    std::string message;
    put(message, question.module.path);
    put(message, question.module.build_id);
    put(message, question.module.run_began_ns);
    put(message, std::uint64_t{question.module.ran_here});
    put(message, question.offset);
    return message;
}

std::optional<SymbolQuestion> decode_question(std::string_view message) {
    SymbolQuestion question;
    Module& module = question.module;
    std::uint64_t ran_here = 0;
    if (!take(message, module.path) || !take(message, module.build_id) || !take(message, module.run_began_ns) ||
        !take(message, ran_here) || !take(message, question.offset))
        return {};
    module.ran_here = ran_here != 0;
    return question;
}

std::string encode(const Symbol& symbol) {
    std::string message;
    put(message, end_of(symbol.problem));
    const std::size_t lines = std::min(symbol.lines.size(), most_lines);
    put(message, std::uint64_t{lines});
    for (std::size_t i = 0; i < lines; ++i) {
        put(message, symbol.lines[i].function.substr(0, longest_text));
        put(message, end_of(symbol.lines[i].file));
        put(message, std::uint64_t{symbol.lines[i].line});
    }
    return message;
}

std::optional<Symbol> decode_symbol(std::string_view message) {
    Symbol symbol;
    std::uint64_t lines = 0;
    if (!take(message, symbol.problem) || !take(message, lines) || lines > most_lines) return {};
    for (; lines != 0; --lines) {
        SourceLine line;
        std::uint64_t number = 0;
        if (!take(message, line.function) || !take(message, line.file) || !take(message, number)) return {};
        line.line = static_cast<unsigned>(number);
        symbol.lines.push_back(std::move(line));
    }
    return symbol;
}

}  // namespace mpiprof::report
