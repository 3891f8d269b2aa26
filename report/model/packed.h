// Texts and numbers one after the other as bytes, and back: texts stand behind their length, numbers as they lie in
// memory. Whoever takes believes nothing: false, and what was asked for is not to be used, where the bytes end early.
// For what the reporter and its process for symbols say to each other, and for names that a page carries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/model/symbol.h"

namespace mpiprof::report {

void put(std::string& bytes, std::uint64_t number);
void put(std::string& bytes, std::string_view text);
void put(std::string& bytes, const Symbol& symbol);  // long names are cut, paths at their beginning

bool take(std::string_view& bytes, std::uint64_t& number);
bool take(std::string_view& bytes, std::string& text);
bool take(std::string_view& bytes, Symbol& symbol);

}  // namespace mpiprof::report
