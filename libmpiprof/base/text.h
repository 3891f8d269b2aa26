// Text in fixed buffers, always terminated, cut where there is no room. Ours rather than libc's str* family: every libc
// name is a relocation in every process that the library is preloaded into, and none of those terminates and cuts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpiprof {

constexpr std::size_t length_of(const char* text) {
    std::size_t n = 0;
    while (text[n]) ++n;
    return n;
}

// FNV-1a; of several texts, the second begins with the hash of the first.
inline std::uint64_t hash_of(const char* text, std::uint64_t hash = 0xcbf29ce484222325u) {
    for (; *text; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3u;
    return hash;
}

template <std::size_t Size>
void append(char (&buffer)[Size], const char* text, std::size_t length) {
    std::size_t used = length_of(buffer);
    while (length-- > 0 && *text && used + 1 < Size) buffer[used++] = *text++;
    buffer[used] = 0;
}

template <std::size_t Size>
void append(char (&buffer)[Size], const char* text) {
    append(buffer, text, Size);
}

template <std::size_t Size>
void copy(char (&buffer)[Size], const char* text) {
    buffer[0] = 0;
    append(buffer, text);
}

// The digits at the beginning of a text as a number. Returns where they end: the text itself, and 0, where there are
// none or more than a Number holds. strtoul has newer versions on newer hosts, and accepts signs and blanks.
template <class Number>
const char* read_number(const char* text, Number& number) {
    const char* end = text;
    for (number = 0; *end >= '0' && *end <= '9'; ++end)
        if (__builtin_mul_overflow(number, Number{10}, &number) ||
            __builtin_add_overflow(number, static_cast<Number>(*end - '0'), &number)) {
            number = 0;
            return text;
        }
    return end;
}

// Ends the text at the first of `ends`.
inline void cut(char* text, const char* ends) {
    for (; *text; ++text)
        for (const char* e = ends; *e; ++e)
            if (*text == *e) {
                *text = 0;
                return;
            }
}

// Whether `holds` is true for one of several names, given as one block "a\0b\0" (an array of pointers would be
// relocations again).
template <class Holds>
bool any_of(const char* names, Holds holds) {
    for (; *names; names += length_of(names) + 1)
        if (holds(names)) return true;
    return false;
}

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace mpiprof
