// What tells whether the members of a communicator have made the same collectives in the same order, with the same
// roots, and of NCCL's with the same counts, types and reductions: a number that each adds to with each of them. The
// recorder does so once a call; the reporter compares what the members have, and from two that are one call apart it
// finds which call that was. Asks nobody.
#pragma once

#include <cstdint>
#include <string_view>

namespace mpiprof::format {

inline constexpr std::uint64_t order_factor = 0x5bd1e995;  // odd, and one operand of a multiplication

// Names of one and the same collective: those with large counts, and NCCL's with a configuration or two spellings.
constexpr std::string_view collective_of(std::string_view name) {
    if (name.ends_with("_c")) name.remove_suffix(2);
    if (!name.starts_with("nccl")) return name;
    if (name.ends_with("Config")) name.remove_suffix(6);
    if (name == "ncclBcast") return "ncclBroadcast";
    return name == "ncclAllToAll" ? "ncclAlltoAll" : name;
}

// What stands for calls of this name. 64 bits that have nothing to do with each other, so that a root can be added to
// them.
constexpr std::uint64_t order_word(std::string_view name) {
    name = collective_of(name);
    std::uint64_t word = 0xcbf29ce484222325;
    for (const char c : name) word = (word ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    word = (word ^ (word >> 31)) * 0x94d049bb133111eb;
    return word ^ (word >> 29);
}
// The same with the root of a call that has one, else 0.
constexpr std::uint64_t order_word(std::string_view name, std::int32_t root) {
    return order_word(name) + static_cast<std::uint64_t>(root);
}

// What all members of a communicator of NCCL's have to give a collective alike, beside its root: count << 16 |
// type << 8 | reduction, with the numbers that NCCL has for types. It is added to the order besides.
constexpr std::uint64_t collective_detail(std::uint64_t count, unsigned type, unsigned reduction) {
    return count << 16 | std::uint64_t{type << 8 | reduction};
}
// 0: it does not reduce. Reductions that the program made (PreMulSum) may have other numbers on each rank, so they are
// all one.
inline constexpr unsigned reductions = 6;
constexpr unsigned reduction_of(unsigned op) {
    if (op >= reductions - 1) [[unlikely]]
        return reductions;
    return op + 1;
}

constexpr std::uint64_t order_after(std::uint64_t order, std::uint64_t word) { return order * order_factor + word; }
// What the last call added, by what there was before it.
constexpr std::uint64_t order_difference(std::uint64_t before, std::uint64_t after) {
    return after - before * order_factor;
}

}  // namespace mpiprof::format
