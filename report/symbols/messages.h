// What the reporter and its process for symbols say to each other, as bytes: a question and its answer, one message
// each. The answer comes from a process that may have been damaged by what it read, so any bytes at all are decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "report/model/profile.h"
#include "report/model/symbol.h"

namespace mpiprof::report {

inline constexpr std::size_t longest_message = 64 * 1024;

struct SymbolQuestion {
    Module module;  // never a script
    std::uint64_t offset = 0;
};

std::string encode(const SymbolQuestion& question);
std::optional<SymbolQuestion> decode_question(std::string_view message);
std::string encode(const Symbol& symbol);
std::optional<Symbol> decode_symbol(std::string_view message);

}  // namespace mpiprof::report
