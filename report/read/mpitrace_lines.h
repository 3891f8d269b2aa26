// The lines of an mpitrace text as numbers, before anything is concluded from them. mpitrace printed its numbers
// rounded, so each is a range: the value as printed, and what it may have been.
// mpitrace_lines.cpp reads them from the text, mpitrace_settle.cpp makes them agree, mpitrace_text.cpp makes a
// Profile of them. Any bytes at all are safe: a line that is not understood is passed over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/result.h"

namespace mpiprof::report {

// Wide enough for products and sums of whatever digits a damaged file may show.
__extension__ using Wide = __int128;

// A number that was printed rounded, in ns or bytes: low <= the truth <= high.
struct Range {
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
    void meet(const Range& other) { meet(other.low, other.high); }
};

// Digits with a decimal point: 117124.9 is {1171249, 1}.
struct Decimal {
    std::uint64_t digits = 0;
    int decimals = 0;
};
std::optional<Decimal> parse_decimal(std::string_view text);

struct TextBin {
    std::uint64_t calls = 0;
    Range bytes;  // of all calls
    Range time;
};

struct TextRoutine {
    std::string name;
    std::uint64_t calls = 0;
    Range bytes;
    Range time;
    std::vector<TextBin> bins;  // empty if the routine moved no bytes
};

// A line of the table of all ranks.
struct TextRank {
    std::uint32_t rank = 0;
    std::string host;  // empty where the table has no such column
    std::optional<std::int32_t> cpu;
    Range communication;
    Range elapsed;
    Range user;
    Range system;
    Range resident;
    std::uint64_t switches = 0;
};

// "minimum communication time = 10.602 sec for task 0"
struct Claim {
    std::uint32_t rank = 0;
    Range value;
};

struct MpitraceText {
    std::uint32_t rank = 0;
    std::uint32_t size = 0;
    bool is_pcontrol = false;  // between MPI_Pcontrol(1) and MPI_Pcontrol(0)
    std::vector<TextRoutine> routines;
    std::optional<Range> communication, synchronization, io, elapsed, exclusive, user, system, resident;
    std::optional<Claim> minimum, median, maximum, largest_memory, largest_elapsed;
    std::vector<TextRank> ranks;  // sorted by rank
    std::vector<std::string> notes;
};

Result<MpitraceText> parse_mpitrace(std::string_view text, std::string_view path);

// Moves every value within its range so that sums are what was printed: bins add up to their routine, routines to
// the communication time and the MPI-IO time, and the order of ranks is the one that the text claims. Printing the
// settled numbers gives the same digits again. Where a (damaged) text contradicts itself the values stay as printed.
void settle(MpitraceText& text);

}  // namespace mpiprof::report
