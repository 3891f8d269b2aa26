// What the fake MPI libraries and the program that calls them agree on: the constants of the ABI that is imitated, and
// the words in which the program says what it passes and what it wants back. Included by fake.cpp and program.cpp, both
// compiled once per family with FAKE_MPICH, FAKE_STANDARD or FAKE_UNKNOWN.
#pragma once

#include <cstdint>

using Word = std::intptr_t;

// The upper half of a register that holds an int is whatever the compiler left there.
constexpr Word garbage(int value) { return static_cast<Word>(0xdeadbeef00000000u | static_cast<std::uint32_t>(value)); }

#ifdef FAKE_STANDARD  // MPI 5: handles are pointers, small numbers where predefined
constexpr Word handle(Word value) { return value; }
constexpr Word world = 0x101, self = 0x102, comm_null = 0x100;
constexpr Word type_null = 0x200, type_int = 0x209, type_double = 0x214, type_byte = 0x247;
constexpr Word dynamic_type = 0x7f0012345678, request_null = 0x180, win = 0x7f00aaaa0000;
constexpr Word in_place = 1, status_ignore = 0;
constexpr int proc_null = -3, status_bytes = 32, dist_graph = 213;
using HandleInMemory = Word;
#else  // MPICH's, and one that nobody knows: handles are ints
constexpr Word handle(Word value) { return garbage(static_cast<int>(value)); }
constexpr Word world = 0x44000000, self = 0x44000001, comm_null = 0x04000000;
constexpr Word type_null = 0x0c000000, type_int = 0x4c000405, type_double = 0x4c00080b, type_byte = 0x4c00010d;
constexpr Word dynamic_type = static_cast<int>(0x8c000000), request_null = 0x2c000000,
               win = static_cast<int>(0xa0000000);
constexpr Word in_place = -1, status_ignore = 1;
constexpr int proc_null = -1, status_bytes = 20, dist_graph = 3;
using HandleInMemory = int;
#endif

constexpr int ranks = 4, my_rank = 1;

// One call, as the program expects it to arrive.
struct Expected {
    const char* name;
    int words;  // how many are compared
    Word word[16];
    Word result;            // what the fake returns: the whole register
    std::uint64_t arrived;  // bytes that a receive puts into its status
    int status;             // the argument that is a status, or -1
    int ierror;             // Fortran: the argument that is ierror, or -1
};

extern "C" {
extern Expected fake_expected;
extern long fake_calls, fake_wrong;
extern int fake_dynamic_size;  // of dynamic_type
}
