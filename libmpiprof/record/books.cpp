// The slow half: new cells, new histograms, and what happens when a table is full.
#include "libmpiprof/record/books.h"

#include <stddef.h>
#include <string.h>

namespace mpiprof {
namespace {

using namespace format;

// What tells cells apart: the twelve bytes that they begin with.
struct Key {
    std::uint64_t kind;
    std::uint32_t site;
    explicit Key(const Cell& cell) : site(cell.site) {
        static_assert(offsetof(Cell, call) == 0 && offsetof(Cell, site) == sizeof kind);
        memcpy(&kind, &cell, sizeof kind);
    }
    bool operator==(const Key&) const = default;
    std::uint32_t hash() const { return static_cast<std::uint32_t>(mix(kind ^ mix(site + 1)) >> 32); }
};

}  // namespace

bool Books::open(Records& records, std::uint32_t thread, ThreadKind kind) {
    records_ = &records;
    base_ = records.image.at(0);
    thread_ = thread;
    kind_ = kind;
    Cell any{};  // made first, so that there is always one to count in, whatever fills up later
    any.call = any_call;
    last_resort_ = new_cell(any, Key(any).hash());
    return last_resort_;
}

mpiprof::Activity::Booked Books::total() const {
    mpiprof::Activity::Booked sum{0, 0};
    for (std::uint32_t t = 0; t < cell_table_count_; ++t) {
        const Table& table = *cell_tables_[t];
        const Cell* cells = &records_->image.as<Cell>(table.offset);
        for (std::uint32_t i = 0; i < table.used; ++i) {
            sum.ticks += cells[i].ticks;
            if (cells[i].bytes != 0 && records_->catalogue.carries_messages(cells[i].call)) sum.bytes += cells[i].bytes;
        }
    }
    return sum;
}

// Further threads, which may be many and do little, begin with small tables.
std::uint32_t Books::at_once(const Table* newest, std::uint32_t most) const {
    if (kind_ == ThreadKind::main) return most;
    if (!newest) return most / 4;
    return newest->capacity * 2 < most ? newest->capacity * 2 : most;
}

// ---- cells ----

Cell* Books::cell(const Cell& wanted, std::uint32_t limit) {
    const Image& image = records_->image;
    const Key key(wanted);
    const std::uint32_t hash = key.hash();
    const std::uint32_t* known =
        index_.find(hash, [&](std::uint32_t line) { return Key(image.at_line<Cell>(line)) == key; });
    if (known) return &image.at_line<Cell>(*known);
    return index_.count() < limit ? new_cell(wanted, hash) : nullptr;
}

void Books::note_cell_table() {
    if (cell_table_count_ == first_cell_tables) {
        auto* all = static_cast<const Table**>(private_pages(most_cell_tables * sizeof(Table*)));
        if (!all) return;
        memcpy(all, first_cell_tables_, sizeof first_cell_tables_);
        cell_tables_ = all;
    }
    if (cell_table_count_ < most_cell_tables) cell_tables_[cell_table_count_++] = cells_.newest();
}

Cell* Books::new_cell(const Cell& wanted, std::uint32_t hash) {
    Image& image = records_->image;
    if (!index_.make_room([&](std::uint32_t line) { return Key(image.at_line<Cell>(line)).hash(); })) return nullptr;
    Cell* cell = cells_.next(image, thread_, at_once(cells_.newest(), cells_per_table));
    if (!cell) return nullptr;
    if (cells_.newest()->used == 0) note_cell_table();
    *cell = wanted;
    cell->min_ticks = ~std::uint64_t{0};
    cell->histogram = 0;
    cells_.publish();
    index_.insert(hash, image.line_of(cell));
    return cell;
}

// The call's cell with nothing told apart but the bin, then nothing at all, then the thread's last resort.
Cell* Books::other_cell(const Cell& wanted) {
    count_drop(records_->image.header().drops.cells);
    Cell other{};
    other.call = wanted.call;
    other.bin = wanted.bin;
    if (Cell* c = cell(other, max_cells + max_other_cells)) return c;
    other.bin = 0;
    if (Cell* c = cell(other, max_cells + max_other_cells)) return c;
    records_->publish_call(any_call);
    return last_resort_;
}

Cell& Books::cell_for(const Cell& wanted) {
    Cell* exact = cell(wanted, max_cells);
    return exact ? *exact : *other_cell(wanted);
}

// What found no room is looked for again at every call (no_bin matches no size), so that the drop counters count calls.
void Books::resolve(Memo& m, Cell& wanted, Bytes bytes) {
    wanted.bin = static_cast<std::uint8_t>(size_bin(bytes));
    Cell* exact = cell(wanted, max_cells);
    m.cell = exact ? exact : other_cell(wanted);
    Histogram* h = histogram(wanted.call, wanted.bin);
    if (!h) count_drop(records_->image.header().drops.histograms);
    m.histogram = h ? h : &no_histogram_;
    if (h && exact) exact->histogram = records_->image.word_of(h);
    m.bin = h && exact && bytes <= most_hot_bytes ? hot_bin(bytes) : no_bin;
}

// ---- histograms ----

Histogram* Books::histogram(std::uint16_t call, std::uint8_t bin) {
    if (last_histogram_ && last_histogram_->call == call && last_histogram_->bin == bin) return last_histogram_;
    Image& image = records_->image;
    const std::uint64_t hash = mix(call * 64u + bin + 1u) >> 40;
    const std::uint32_t* known = histogram_index_.find(hash, [&](std::uint32_t word) {
        const auto& h = image.at_word<Histogram>(word);
        return h.call == call && h.bin == bin;
    });
    if (known) return last_histogram_ = &image.at_word<Histogram>(*known);
    if (!histogram_index_.make_room(never_moves)) return nullptr;
    Histogram* h = histograms_.next(image, thread_, at_once(histograms_.newest(), histograms_per_table));
    if (!h) return nullptr;
    h->call = call;
    h->bin = bin;
    histograms_.publish();
    histogram_index_.insert(hash, image.word_of(h));
    return last_histogram_ = h;
}

void Books::add(Memo& m, Bytes bytes, Ticks ticks) {
    if (add_of_bin(m, bytes, ticks)) [[likely]]
        return;
    add_to(*m.cell, bytes, ticks);
    add_to_histogram(*m.histogram, ticks);
}

// The first duration of its octave claims a block.
void Books::add_to_histogram(Histogram& histogram, Ticks ticks) {
    if (&histogram == &no_histogram_) return;
    const Position position = histogram_position(ticks);
    std::uint32_t& at = histogram.block[position.octave];
    Image& image = records_->image;
    if (at == 0) {
        HistogramBlock* block = blocks_.next(image, thread_, at_once(blocks_.newest(), blocks_per_table));
        if (!block) {
            count_drop(image.header().drops.histograms);
            return;
        }
        blocks_.publish();
        __atomic_store_n(&at, image.word_of(block), __ATOMIC_RELEASE);
    }
    image.at_word<HistogramBlock>(at).count[position.sub] += 1;
}

}  // namespace mpiprof
