// Text from formats like printf's, whose numbers have a point whatever locale the program has set. Ours, since libc has
// the program's locale alone: to change it for a moment, even of one thread, loads and keeps things in its process.
#pragma once

#include <stdarg.h>

#include <cstddef>

namespace mpiprof {

// Puts the text into `buffer`, terminated, and returns its length; what has no room is left out. Of printf's language
// it knows what the formats of format/mpitrace_layout.h say: flag '-', a width, decimals, and the conversions s, u,
// llu, f and %. Rounds as printf does: the number as it is, halves to the even digit. At most 9 decimals.
std::size_t print_into(char* buffer, std::size_t size, const char* format, va_list arguments);

}  // namespace mpiprof
