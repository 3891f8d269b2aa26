// What an mpitrace text says, as numbers. mpitrace printed them rounded, so each is a range: the value as printed, and
// what it may have been.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpiprof::report {

// Wide enough for products and sums of whatever digits a damaged file may show.
__extension__ using Wide = __int128;

// A number that was printed rounded, in ns or bytes: low <= the truth <= high.
struct PrintedRange {
    Wide value = 0;
    Wide low = 0;
    Wide high = 0;

    // Keeps what both say; nothing, if they contradict each other.
    void meet(Wide other_low, Wide other_high) {
        const Wide new_low = std::max(low, other_low);
        const Wide new_high = std::min(high, other_high);
        if (new_low > new_high) return;
        low = new_low;
        high = new_high;
        value = std::clamp(value, low, high);
    }
    void meet(const PrintedRange& other) { meet(other.low, other.high); }
};

// Digits with a decimal point: 117124.9 is {1171249, 1}.
struct Decimal {
    std::uint64_t digits = 0;
    int decimals = 0;
};

struct TextBin {
    std::uint64_t calls = 0;
    PrintedRange bytes;  // of all calls
    PrintedRange time;
};

struct TextRoutine {
    std::string name;
    std::uint64_t calls = 0;
    PrintedRange bytes;
    PrintedRange time;
    std::vector<TextBin> bins;  // empty if the routine moved no bytes
};

// A line of the table of all ranks.
struct TextRank {
    std::uint32_t rank = 0;
    std::string host;  // empty where the table has no such column
    std::optional<std::int32_t> cpu;
    PrintedRange communication;
    PrintedRange elapsed;
    PrintedRange user;
    PrintedRange system;
    PrintedRange resident;
    std::uint64_t switches = 0;
    std::uint32_t place = 0;  // among ranks of equal communication time, as the text claims it
};

// "minimum communication time = 10.602 sec for task 0"
struct Claim {
    std::uint32_t rank = 0;
    PrintedRange value;
};

struct MpitraceText {
    std::uint32_t rank = 0;
    std::uint32_t size = 0;
    bool is_pcontrol = false;  // between MPI_Pcontrol(1) and MPI_Pcontrol(0)
    std::vector<TextRoutine> routines;
    std::optional<PrintedRange> communication, synchronization, io, elapsed, exclusive, user, system, resident;
    std::optional<Claim> minimum, median, maximum, largest_memory, largest_elapsed;
    std::vector<TextRank> ranks;  // sorted by rank
    std::vector<std::string> notes;
};

}  // namespace mpiprof::report
