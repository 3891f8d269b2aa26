// The ledger of one thread: for each (call, size bin, buffer, communicator, region, site) one cell of counts and times.
// add() is called once per timed call, so it neither locks, allocates nor makes system calls; what is new to it (a memo
// miss) goes through the slow path. The cells lie in the image: what is added is already in the profile.
#pragma once

#include "libmpiprof/calls/call.h"
#include "libmpiprof/format/histogram.h"
#include "libmpiprof/format/size_bins.h"
#include "libmpiprof/record/clock.h"
#include "libmpiprof/record/image.h"
#include "libmpiprof/record/sites.h"

namespace mpiprof {

// What the recorder needs to know of a row when it first sees it; the catalogue itself stays above.
struct CallInfo {
    std::uint16_t name;      // offset into Catalogue::names
    Family family;
    Treatment treatment;
    Traffic traffic;
    SizeRule size_rule;
    std::uint16_t counter;
};
struct Catalogue {
    const char* names;
    const CallInfo* calls;
    std::uint16_t size;
    std::uint16_t counted;   // how many of them are counted
};

// What all ledgers of a process share.
struct Records {
    Image image;
    Sites sites;
    Catalogue catalogue;
    format::ClockKind clock;
    Lock lock;                           // for the dictionary
    format::Table* dictionary;
    std::uint64_t in_dictionary[32];     // a bit per call id
    void publish_call(std::uint16_t call);
};

// A call's identity on the hot path: where it returns to, and which call it is. Addresses use 47 bits.
constexpr std::uint64_t call_key(std::uint16_t call, Word return_address) {
    return static_cast<std::uint64_t>(call) << 48 | (static_cast<std::uint64_t>(return_address) & 0xffffffffffffull);
}
constexpr std::uint16_t call_of(std::uint64_t key) { return static_cast<std::uint16_t>(key >> 48); }
constexpr Word address_of(std::uint64_t key) { return static_cast<Word>(key & 0xffffffffffffull); }

// What one (return address, call, type, communicator) led to last time. A hit compares three words.
struct alignas(64) Memo {
    std::uint64_t key;       // call_key ^ epoch, so that a freed handle's entries die with the epoch
    Word type;
    Word comm;
    std::uint64_t type_size;
    format::Cell* cell;
    format::Histogram* histogram;
    std::uint32_t site;
    std::uint16_t communicator;
    std::uint8_t bin;        // the bin that `cell` is of; no_bin: look again
    std::uint8_t buffer;
    std::uint16_t call;
};
static_assert(sizeof(Memo) == 64);
inline constexpr std::uint8_t no_bin = 0xff;

class Ledger {
  public:
    static Ledger* create(Records& records, std::uint32_t id, format::ThreadKind kind);

    // ---- hot ----
    void begin(std::uint64_t key) {
        relaxed(thread_->in_call, key);
        start_ = now(monotonic_);
        relaxed(thread_->in_call_since, start_);
    }
    Ticks elapsed() {
        const Ticks end = now(monotonic_);
        relaxed(thread_->in_call, 0);
        if (__builtin_expect(end < start_, 0)) return backwards();
        return end - start_;
    }
    Memo& memo(std::uint64_t hashed_key) { return memos_[mix(hashed_key) >> (64 - memo_bits)]; }
    static bool hit(const Memo& m, std::uint64_t key, Word type, Word comm) { return m.key == key && m.type == type && m.comm == comm; }
    void add(Memo& m, Bytes bytes, Ticks ticks) {
        const unsigned bin = format::size_bin(bytes);
        if (__builtin_expect(m.bin != bin, 0)) change_bin(m, bin);
        format::Cell& cell = *m.cell;
        mpiprof::add(cell.calls, 1);
        mpiprof::add(cell.bytes, bytes);
        mpiprof::add(cell.ticks, ticks);
        if (ticks < cell.min_ticks) relaxed(cell.min_ticks, ticks);
        if (ticks > cell.max_ticks) relaxed(cell.max_ticks, ticks);
        const auto position = format::histogram_position(ticks);
        const std::uint32_t block = m.histogram->block[position.octave];
        if (__builtin_expect(block == 0, 0)) return first_in_octave(m, position);
        mpiprof::add(reinterpret_cast<format::HistogramBlock*>(base_ + std::uint64_t{block} * 8)->count[position.sub], 1);
    }
    void count(std::uint16_t call, std::uint16_t counter) {
        const std::uint64_t n = counters_[counter].calls + 1;
        relaxed(counters_[counter].calls, n);
        if (__builtin_expect(n == 1, 0)) records_->publish_call(call);
    }
    void count_error(std::uint16_t call, std::uint16_t counter);
    void count_nested() { mpiprof::add(thread_->nested, 1); }
    void leave_call() { relaxed(thread_->in_call, 0); }

    // ---- slow ----
    // Fills a memo for a call seen for the first time (or again after an epoch): finds its site and its cell.
    void learn(Memo& m, std::uint64_t hashed_key, std::uint64_t key, Word type, Word comm, std::uint64_t type_size,
               std::uint16_t communicator, Bytes bytes);
    // A call that returned an error: no bytes, no time; counted in its cell of size 0.
    void add_error(std::uint64_t key, std::uint16_t communicator);

    Records& records() { return *records_; }
    std::uint32_t id() const { return thread_->id; }
    format::ThreadKind kind() const { return thread_->kind; }

    // Whether this thread moved or waited for anything; queries, set-up and local copies are not counted.
    bool has_moved_data() const { return moved_; }

    // Hand-over of a finished thread's ledger to the next thread.
    std::atomic<bool> in_use{true};
    Ledger* next = nullptr;
    void adopt(std::uint32_t os_thread);

    // Sizes of datatypes seen by this thread, direct-mapped; dies with the epoch like the memos.
    struct TypeSize {
        Word handle;
        std::uint64_t epoch;
        std::uint64_t size;
    };
    TypeSize& type_size_entry(Word handle) { return type_sizes_[mix(static_cast<std::uint64_t>(handle)) >> (64 - type_bits)]; }

  private:
    static constexpr unsigned memo_bits = 8;
    static constexpr unsigned type_bits = 6;

    [[gnu::noinline]] void change_bin(Memo& m, unsigned bin);
    [[gnu::noinline]] void first_in_octave(Memo& m, format::Position position);
    [[gnu::noinline]] Ticks backwards();
    format::Cell* cell(const format::Cell& wanted);
    format::Cell* new_cell(const format::Cell& wanted);
    format::Cell* other_cell(const format::Cell& wanted);
    format::Histogram* histogram(std::uint16_t call, std::uint8_t bin);
    void resolve(Memo& m, unsigned bin);
    bool grow_index();
    void index_cell(format::Cell* cell);

    format::Thread* thread_ = nullptr;
    Ticks start_ = 0;
    char* base_ = nullptr;
    format::Counter* counters_ = nullptr;
    bool monotonic_ = false;
    bool moved_ = false;
    Records* records_ = nullptr;
    format::Table* cells_ = nullptr;
    format::Table* histograms_ = nullptr;
    format::Table* blocks_ = nullptr;
    std::uint32_t* index_ = nullptr;   // open addressing: file offset / 64 of a cell, 0 = empty; at most half full
    std::uint32_t index_capacity_ = 0;
    std::uint32_t cell_count_ = 0;
    format::Cell* last_resort_ = nullptr;
    format::Histogram* no_histogram_ = nullptr;  // all its octaves lead to one block that nobody reads
    static constexpr std::uint32_t histogram_slots = 512;
    std::uint32_t histogram_count_ = 0;
    std::uint32_t histogram_index_[histogram_slots] = {};  // open addressing: file offset / 8
    Memo memos_[1u << memo_bits];
    TypeSize type_sizes_[1u << type_bits];
};

}  // namespace mpiprof
