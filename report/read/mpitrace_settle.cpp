// Makes the rounded numbers of an mpitrace text agree with one another; see settle() in mpitrace_lines.h.
#include <algorithm>
#include <numeric>
#include <span>

#include "report/read/mpitrace_lines.h"

namespace mpiprof::report {

namespace {

// Moves the parts so that their sum lies in the range of the total. The largest parts move first: there it matters
// least. A list that is not whole cannot have that sum; its parts stay as they were printed.
void share_out(std::vector<PrintedRange*> parts, const PrintedRange& total) {
    Wide sum = 0, least = 0, most = 0;
    for (const PrintedRange* part : parts) {
        sum += part->value;
        least += part->low;
        most += part->high;
    }
    if (most < total.low || least > total.high) return;
    std::stable_sort(parts.begin(), parts.end(),
                     [](const PrintedRange* a, const PrintedRange* b) { return a->value > b->value; });
    Wide missing = std::clamp(sum, total.low, total.high) - sum;
    for (PrintedRange* part : parts) {
        const Wide step = std::clamp(missing, part->low - part->value, part->high - part->value);
        part->value += step;
        missing -= step;
    }
}

bool is_file_routine(const TextRoutine& routine) { return routine.name.starts_with("MPI_File_"); }

TextRank* find(std::vector<TextRank>& ranks, std::uint32_t rank) {
    const auto at = std::lower_bound(ranks.begin(), ranks.end(), rank,
                                     [](const TextRank& line, std::uint32_t wanted) { return line.rank < wanted; });
    return at != ranks.end() && at->rank == rank ? &*at : nullptr;
}

void meet(std::optional<PrintedRange>& own, PrintedRange& line) {
    if (!own) {
        own = line;
        return;
    }
    own->meet(line);
    line.meet(*own);
}

// This rank's line of the table, with fewer digits, and its own totals are the same numbers.
void settle_own_line(MpitraceText& text) {
    TextRank* line = find(text.ranks, text.rank);
    if (line == nullptr) return;
    meet(text.communication, line->communication);
    meet(text.elapsed, line->elapsed);
    meet(text.user, line->user);
    meet(text.system, line->system);
    meet(text.resident, line->resident);
}

// What a routine took is what its bins took together; what its rows took is the communication time. Narrows the
// ranges from the bins upwards and proposes the sum as the communication time.
void narrow_sums(MpitraceText& text) {
    PrintedRange sum;
    for (TextRoutine& routine : text.routines) {
        PrintedRange bins;
        for (const TextBin& bin : routine.bins) {
            bins.low += bin.time.low;
            bins.high += bin.time.high;
        }
        if (!routine.bins.empty()) routine.time.meet(bins);
        if (is_file_routine(routine)) continue;
        sum.value += routine.time.value;
        sum.low += routine.time.low;
        sum.high += routine.time.high;
    }
    const Wide apart = text.synchronization ? text.synchronization->value : 0;
    sum = {sum.value + apart, sum.low + apart, sum.high + apart};
    if (!text.communication) text.communication = sum;
    text.communication->meet(sum);
    text.communication->value = std::clamp(sum.value, text.communication->low, text.communication->high);
    if (TextRank* line = find(text.ranks, text.rank)) line->communication = *text.communication;
}

// Then downwards: rows that add up to the communication time, bins that add up to their rows.
void settle_sums(MpitraceText& text) {
    const auto exactly = [](Wide value) { return PrintedRange{value, value, value}; };
    std::vector<PrintedRange*> rows;
    std::vector<PrintedRange*> file_rows;
    for (TextRoutine& routine : text.routines) (is_file_routine(routine) ? file_rows : rows).push_back(&routine.time);
    const Wide apart = text.synchronization ? text.synchronization->value : 0;
    share_out(std::move(rows), exactly(text.communication->value - apart));
    if (text.io) share_out(std::move(file_rows), *text.io);
    for (TextRoutine& routine : text.routines) {
        std::vector<PrintedRange*> times;
        std::vector<PrintedRange*> bytes;
        for (TextBin& bin : routine.bins) {
            times.push_back(&bin.time);
            bytes.push_back(&bin.bytes);
        }
        share_out(std::move(times), exactly(routine.time.value));
        share_out(std::move(bytes), routine.bytes);
    }
}

// Gives these ranges values that never descend in this order; false, and nothing is done, if that cannot be. Equal ones
// stay equal: which of them is more is nothing that was measured.
bool ascend(std::span<PrintedRange* const> order) {
    std::vector<Wide> values(order.size());
    Wide next = order.empty() ? 0 : order.back()->high;
    for (std::size_t i = order.size(); i-- > 0; next = values[i]) values[i] = std::min(order[i]->high, next);
    Wide last = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Wide most = values[i];  // leaves room for those behind
        values[i] = std::min(most, std::max({order[i]->value, order[i]->low, last}));
        if (values[i] < order[i]->low || values[i] < last) return false;
        last = values[i];
    }
    for (std::size_t i = 0; i < order.size(); ++i) order[i]->value = values[i];
    return true;
}

// Puts the ranks that the text names as first, middle and last by communication time to these places. Numbers
// of equal digits are otherwise in no order: TextRank::place has it.
void settle_communication_order(MpitraceText& text) {
    auto& ranks = text.ranks;
    for (const std::optional<Claim>* claim : {&text.minimum, &text.median, &text.maximum}) {
        TextRank* const line = *claim ? find(ranks, (*claim)->rank) : nullptr;
        if (line) line->communication.meet((*claim)->value);
    }
    if (ranks.size() < text.size || !text.minimum || !text.median || !text.maximum) return;
    for (TextRank& line : ranks) line.communication.meet(text.minimum->value.low, text.maximum->value.high);

    std::vector<TextRank*> order;
    TextRank* const middle = find(ranks, text.median->rank);
    for (TextRank& line : ranks)
        if (&line != middle) order.push_back(&line);
    const auto place = [&](const TextRank* line) {  // 0 first, 2 last; a rank may be both the first and the middle
        return line->rank == text.minimum->rank ? 0 : line->rank == text.maximum->rank ? 2 : 1;
    };
    std::stable_sort(order.begin(), order.end(), [&](const TextRank* a, const TextRank* b) {
        if (place(a) != place(b)) return place(a) < place(b);
        return a->communication.value < b->communication.value;
    });
    if (middle != nullptr) order.insert(order.begin() + static_cast<std::ptrdiff_t>((ranks.size() - 1) / 2), middle);
    std::vector<PrintedRange*> ranges;
    for (TextRank* line : order) ranges.push_back(&line->communication);
    if (!ascend(ranges)) return;
    for (std::size_t i = 0; i < order.size(); ++i) order[i]->place = static_cast<std::uint32_t>(i);
}

// Makes the rank that the text names as the one with the largest number that one.
void settle_largest(std::vector<TextRank>& ranks, const std::optional<Claim>& claim, PrintedRange TextRank::*number) {
    TextRank* const named = claim ? find(ranks, claim->rank) : nullptr;
    if (named == nullptr) return;
    PrintedRange& largest = named->*number;
    largest.meet(claim->value);
    for (const TextRank& line : ranks) largest.value = std::max(largest.value, (line.*number).value);
    largest.value = std::min(largest.value, largest.high);
    for (TextRank& line : ranks) {
        PrintedRange& other = line.*number;
        if (&line != named && other.value >= largest.value) other.value = std::max(other.low, largest.value - 1);
    }
}

}  // namespace

void settle(MpitraceText& text) {
    settle_own_line(text);
    narrow_sums(text);
    settle_communication_order(text);
    settle_largest(text.ranks, text.largest_elapsed, &TextRank::elapsed);
    settle_largest(text.ranks, text.largest_memory, &TextRank::resident);
    if (const TextRank* line = find(text.ranks, text.rank)) {
        text.communication = line->communication;
        text.elapsed = line->elapsed;
        text.resident = line->resident;
    }
    settle_sums(text);
}

}  // namespace mpiprof::report
