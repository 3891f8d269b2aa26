// What a thread has booked: for each (call, size bin, buffer, communicator, region, site) a cell of counts and times,
// and a histogram of durations for each (call, size bin). Part of the ledger, whose hot path adds to what a memo points
// at. Cells lie in the image, so what is added is in the profile; a count is never lost: without room a call goes to
// its call's "other" cell, without that to the thread's.
#pragma once

#include "libmpiprof/base/open_table.h"
#include "libmpiprof/format/histogram.h"
#include "libmpiprof/format/size_bins.h"
#include "libmpiprof/record/activity.h"
#include "libmpiprof/record/memo.h"
#include "libmpiprof/record/records.h"

namespace mpiprof {

class Books {
  public:
    // False: there is no room for a single cell.
    bool open(Records& records, std::uint32_t thread, format::ThreadKind kind);
    void give_back() { index_.give_back(); }

    // ---- hot ----
    // What is larger takes the plain form: there are sizes that are not what they seem at a look
    // (quick_bytes_in_status).
    static constexpr Bytes most_hot_bytes = Bytes{1} << 31;
    // False, and nothing done, if the memo is of other sizes, the histogram block is not at hand, or for durations
    // below 16 ticks.
    bool add_fast(Memo& m, Bytes bytes, Ticks ticks) { return m.bin == hot_bin(bytes) && add_of_bin(m, bytes, ticks); }
    // The same where the memo is known to be of this bin.
    [[gnu::always_inline]] bool add_of_bin(Memo& m, Bytes bytes, Ticks ticks) {
        if (static_cast<std::int64_t>(ticks) < format::histogram_sub_buckets) [[unlikely]]
            return false;
        // histogram_position(), with its constants moved to where they cost no instruction.
        constexpr std::size_t bits = format::histogram_sub_bits;
        const std::uint64_t top = top_bit(ticks);
        const std::size_t block = (m.histogram->block - (bits - 1))[top];
        if (block == 0) [[unlikely]]
            return false;
        add_to(*m.cell, bytes, ticks);
        (reinterpret_cast<std::uint64_t*>(base_) - format::histogram_sub_buckets)[block + (ticks >> (top - bits))] += 1;
        return true;
    }

    // ---- slow ----
    void add(Memo& m, Bytes bytes, Ticks ticks);
    // A sampled poll of that duration, which stands for `all` of them.
    void add_poll(Memo& m, Ticks ticks, Ticks all) {
        m.cell->ticks += all;
        add_to(*m.cell, ticks);
        add_to_histogram(*m.histogram, ticks);
    }
    static void add_completed(Memo& m, std::int64_t n) { m.histogram->completed += static_cast<std::uint64_t>(n); }
    // Points the memo at the cell that is wanted and at its histogram.
    void resolve(Memo& m, format::Cell& wanted, Bytes bytes);
    // The cell that is wanted, or one that stands for it.
    format::Cell& cell_for(const format::Cell& wanted);
    // Of a call at this size, shared by all its sites; null without room.
    format::Histogram* histogram(std::uint16_t call, std::uint8_t bin);
    // What all cells hold.
    Activity::Booked total() const;

  private:
    // Plain adds: one writer, and aligned 8-byte stores that a reader in another process sees whole.
    static void add_to(format::Cell& cell, Bytes bytes, Ticks ticks) {
        cell.bytes += bytes;
        cell.ticks += ticks;
        add_to(cell, ticks);
    }
    // A call of this duration, whose share of the sums is booked apart.
    static void add_to(format::Cell& cell, Ticks ticks) {
        cell.calls += 1;
        if (ticks < cell.min_ticks) [[unlikely]]
            cell.min_ticks = ticks;
        if (ticks > cell.max_ticks) [[unlikely]]
            cell.max_ticks = ticks;
    }
    void add_to_histogram(format::Histogram& histogram, Ticks ticks);
    format::Cell* cell(const format::Cell& wanted, std::uint32_t limit);
    format::Cell* new_cell(const format::Cell& wanted, std::uint32_t hash);
    format::Cell* other_cell(const format::Cell& wanted);
    std::uint32_t at_once(const format::Table* newest, std::uint32_t most) const;
    void note_cell_table();

    static constexpr std::uint32_t cells_per_table = 64, histograms_per_table = 8, blocks_per_table = 32;
    static constexpr std::uint32_t max_cells = 16384;       // 1 MiB; what finds no room after them
    static constexpr std::uint32_t max_other_cells = 2048;  // is told apart by call and size only
    static constexpr std::uint32_t most_cell_tables = (max_cells + max_other_cells) / cells_per_table + 3;
    static constexpr std::uint32_t first_cell_tables = 12;

    char* base_ = nullptr;  // of the image
    Records* records_ = nullptr;
    std::uint32_t thread_ = 0;
    format::ThreadKind kind_{};
    Rows<format::Cell, cells_per_table> cells_;
    Rows<format::Histogram, histograms_per_table, format::TableType::histograms> histograms_;
    Rows<format::HistogramBlock, blocks_per_table> blocks_;
    format::Cell* last_resort_ = nullptr;
    format::Histogram* last_histogram_ = nullptr;  // that was asked for
    const format::Table* first_cell_tables_[first_cell_tables] = {};
    const format::Table** cell_tables_ = first_cell_tables_;
    std::uint32_t cell_table_count_ = 0;
    OpenTable<std::uint32_t, OpenTableSize{.inside = 256, .outside = 512, .most = 65536}> index_;  // lines of the file
    OpenTable<std::uint32_t, OpenTableSize{.inside = 512, .outside = 0, .most = 512}>
        histogram_index_;               // words of the file
    format::Histogram no_histogram_{};  // of calls whose durations find no room; has no blocks
};

}  // namespace mpiprof
