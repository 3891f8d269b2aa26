// The slow half of the ledger: new cells, new histograms, new bins, and what happens when a table is full.
// A count is never lost: without room a call goes to its call's "other" cell, without that to the thread's.
#include "libmpiprof/record/ledger.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <new>

#include "libmpiprof/base/text.h"
#include "libmpiprof/base/used_stack.h"
#include "libmpiprof/record/token.h"

namespace mpiprof {

constinit thread_local ThreadState thread_state{~std::uint64_t{0}, nullptr, nullptr};
constinit Gate gate{};

namespace {

using namespace format;

constexpr std::uint32_t histograms_per_table = 8;
constexpr std::uint32_t blocks_per_table = 32;
constexpr std::uint16_t any_call = 0xffff;  // the thread's last resort

bool same_key(const Cell& a, const Cell& b) {
    return a.call == b.call && a.bin == b.bin && a.buffer == b.buffer && a.communicator == b.communicator &&
           a.region == b.region && a.site == b.site;
}

std::uint32_t hash(const Cell& c) {
    const std::uint64_t low = c.call | std::uint64_t{c.bin} << 16 | std::uint64_t(c.buffer) << 24 |
                              std::uint64_t{c.communicator} << 32 | std::uint64_t{c.region} << 48;
    return static_cast<std::uint32_t>(mix(low ^ mix(c.site + 1)) >> 32);
}

}  // namespace

void Records::publish_call(std::uint16_t call) {
    const Guard guard(lock);
    if (call != any_call && !catalogue.has(call)) return;
    std::uint64_t& bits = in_dictionary[call / 64 % 32];  // any_call's is the last, which no id of a catalogue reaches
    if (bits >> (call % 64) & 1) return;
    auto* record = static_cast<CallRecord*>(image.next_record(dictionary, TableType::calls, sizeof(CallRecord), 48, 0));
    if (!record) return;
    memset(record, 0, sizeof *record);
    record->call = call;
    if (call == any_call) {
        record->family = Family::mpi;
        record->treatment = Treatment::timed;
        memcpy(record->name, "(other calls)", 14);
    } else {
        const CallInfo info = catalogue.info(call);
        record->family = info.family;
        record->treatment = info.treatment;
        record->traffic = info.traffic;
        record->size_rule = info.size_rule;
        record->counter = info.counter;
        record->arguments = info.arguments;
        copy(record->name, catalogue.row_name(call));
        append(record->name, Catalogue::name_suffix(call));
    }
    bits |= std::uint64_t{1} << (call % 64);
    Image::publish(dictionary);
}

Ledger* Ledger::create(Records& records, std::uint32_t id, ThreadKind kind) {
    auto* ledger = static_cast<Ledger*>(private_pages(sizeof(Ledger)));
    if (!ledger) return nullptr;
    new (ledger) Ledger;  // without (): that would write zeros into all of its zero pages
    if (ledger->open(records, id, kind)) return ledger;
    // Given back, since a thread without a ledger asks for one at each of its calls.
    ledger->give_back_index();
    munmap(ledger, sizeof(Ledger));
    return nullptr;
}

bool Ledger::open(Records& records, std::uint32_t id, ThreadKind kind) {
    Image& image = records.image;
    records_ = &records;
    base_ = image.at(0);
    monotonic_ = records.clock == ClockKind::monotonic;
    Table* threads = image.add_table(TableType::threads, sizeof(Thread), 1, id);
    Table* counters = image.add_table(TableType::counters, sizeof(Counter), records.catalogue.counted, id);
    if (!threads || !counters) return false;
    thread_ = reinterpret_cast<Thread*>(image.at(threads->offset));
    thread_->id = id;
    thread_->kind = kind;
    counters_ = reinterpret_cast<Counter*>(image.at(counters->offset));
    __atomic_store_n(&counters->used, counters->capacity, __ATOMIC_RELEASE);
    Cell any{};  // made first, so that there is always one to count in, whatever fills up later
    any.call = any_call;
    last_resort_ = new_cell(any);
    if (!last_resort_) return false;
    memo_peers_[first_memos].peer = MemoPeer::no_rank;
    callers_.open();
    seconds_.open();
    requests_.show_in(&records.requests_of_nobody);
    records.communicators.open();
    forgets_seen_ = relaxed(records.forgets);
    ended_seen_ = records.ended.count();
    adopt(static_cast<std::uint32_t>(raw(SYS_gettid)));
    activity_.open(image, id, image.header().started.ticks);
    if (records.trace_events != 0) trace_ = Trace::create(image, id, records.trace_events);
    Image::publish(threads);
    return true;
}

void Ledger::adopt(std::uint32_t os_thread) {
    thread_->os_thread = os_thread;
    thread_->owners += 1;
    leave_call();
}

void Ledger::add(Memo& m, Bytes bytes, Ticks ticks) {
    add_to(*m.cell, bytes, ticks);
    add_to_histogram(*m.histogram, ticks);
}

void Ledger::add_poll(Memo& m, Ticks ticks, Ticks end, std::uint16_t counter) {
    m.cell->ticks += time_of_polls(polls_[counter], ticks, end);
    add_to(*m.cell, ticks);
    add_to_histogram(*m.histogram, ticks);
}

// What a sample stands for: the polls since the one before, which have taken no longer than that is ago. Where one that
// moved data stands for more, there were others that did, and were no samples: it is theirs, as far as there is time
// between later ones. Of a sample as long as a time slice the process was interrupted: how often that happened to
// others would be a guess.
Ticks Ledger::time_of_polls(Polls& polls, Ticks sample, Ticks end) {
    constexpr Ticks time_slice = Ticks{1} << 21;  // 0.5 to 1 ms by an x86-64 processor's counter
    if (polls.since == 0) [[unlikely]] {          // the first poll stands for itself
        polls.since = end;
        return sample;
    }
    const Ticks passed = end - polls.since, due = sample * polls_per_sample + polls.owed;
    polls.since = end;
    polls.owed = 0;
    if (due <= passed) [[likely]]
        return due;
    if (sample < time_slice) polls.owed = due - passed;
    return passed;
}

// What all cells hold.
mpiprof::Activity::Booked Ledger::booked() const {
    mpiprof::Activity::Booked sum{0, 0};
    for (std::uint32_t t = 0; t < cell_table_count_; ++t) {
        const Table& table = *cell_tables_[t];
        const auto* cells = reinterpret_cast<const Cell*>(base_ + table.offset);
        for (std::uint32_t i = 0; i < table.used; ++i) {
            sum.ticks += cells[i].ticks;
            if (carries_messages(cells[i].call)) sum.bytes += cells[i].bytes;
        }
    }
    return sum;
}

bool Ledger::carries_messages(std::uint16_t call) const {
    return records_->catalogue.has(call) && format::carries_messages(records_->catalogue.info(call).traffic);
}

void Ledger::turn_bin(Bytes bytes, Ticks ticks) {
    activity_.turn(since(), ticks, carries_messages(call_of(key())) ? bytes : 0, booked());
}

bool Ledger::grow_index() {
    const std::uint32_t capacity = index_capacity_ * 2;
    auto* index = static_cast<std::uint32_t*>(private_pages(capacity * sizeof(std::uint32_t)));
    if (!index) return false;
    std::uint32_t* old = index_;
    const std::uint32_t old_capacity = index_capacity_;
    index_ = index;
    index_capacity_ = capacity;
    for (std::uint32_t i = 0; i < old_capacity; ++i)
        if (old[i] != 0) index_cell(reinterpret_cast<Cell*>(base_ + std::uint64_t{old[i]} * 64));
    if (old != first_index_) munmap(old, old_capacity * sizeof(std::uint32_t));
    return true;
}

void Ledger::give_back_index() {
    if (index_ != first_index_) munmap(index_, index_capacity_ * sizeof(std::uint32_t));
}

void Ledger::index_cell(Cell* cell) {
    for (std::uint32_t i = hash(*cell);; ++i) {
        std::uint32_t& slot = index_[i & (index_capacity_ - 1)];
        if (slot != 0) continue;
        slot = static_cast<std::uint32_t>(records_->image.offset_of(cell) / 64);
        return;
    }
}

Cell* Ledger::cell(const Cell& wanted, std::uint32_t limit) {
    for (std::uint32_t i = hash(wanted);; ++i) {
        const std::uint32_t slot = index_[i & (index_capacity_ - 1)];
        if (slot == 0) break;
        auto* known = reinterpret_cast<Cell*>(base_ + std::uint64_t{slot} * 64);
        if (same_key(*known, wanted)) return known;
    }
    return cell_count_ < limit ? new_cell(wanted) : nullptr;
}

// Further threads, which may be many and do little, begin with small tables.
std::uint32_t Ledger::records_at_once(const Table* newest, std::uint32_t most) const {
    if (kind() == ThreadKind::main) return most;
    if (!newest) return most / 4;
    return newest->capacity * 2 < most ? newest->capacity * 2 : most;
}

void Ledger::note_cell_table() {
    if (cell_table_count_ == first_cell_tables) {
        auto* all = static_cast<Table**>(private_pages(most_cell_tables * sizeof(Table*)));
        if (!all) return;
        memcpy(all, first_cell_tables_, sizeof first_cell_tables_);
        cell_tables_ = all;
    }
    if (cell_table_count_ < most_cell_tables) cell_tables_[cell_table_count_++] = cells_;
}

Cell* Ledger::new_cell(const Cell& wanted) {
    if (cell_count_ * 2 >= index_capacity_ && !grow_index()) return nullptr;
    auto* cell = static_cast<Cell*>(records_->image.next_record(cells_, TableType::cells, sizeof(Cell),
                                                                records_at_once(cells_, cells_per_table), thread_->id));
    if (!cell) return nullptr;
    if (cells_->used == 0) note_cell_table();
    *cell = wanted;
    cell->min_ticks = ~std::uint64_t{0};
    cell->histogram = 0;
    Image::publish(cells_);
    ++cell_count_;
    index_cell(cell);
    return cell;
}

// The call's cell with nothing told apart but the bin, then nothing at all, then the thread's last resort.
Cell* Ledger::other_cell(const Cell& wanted) {
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

// One histogram per (call, bin), shared by all sites; made on first use.
Histogram* Ledger::histogram(std::uint16_t call, std::uint8_t bin) {
    std::uint32_t i = static_cast<std::uint32_t>(mix(call * 64u + bin + 1u) >> 40);
    for (;; ++i) {
        const std::uint32_t slot = histogram_index_[i % histogram_slots];
        if (slot == 0) break;
        auto* known = reinterpret_cast<Histogram*>(base_ + std::uint64_t{slot} * 8);
        if (known->call == call && known->bin == bin) return known;
    }
    if (histogram_count_ * 2 >= histogram_slots) return nullptr;
    auto* h = static_cast<Histogram*>(records_->image.next_record(histograms_, TableType::histograms, sizeof(Histogram),
                                                                  records_at_once(histograms_, histograms_per_table),
                                                                  thread_->id));
    if (!h) return nullptr;
    memset(h, 0, sizeof *h);
    h->call = call;
    h->bin = bin;
    Image::publish(histograms_);
    ++histogram_count_;
    histogram_index_[i % histogram_slots] = static_cast<std::uint32_t>(records_->image.offset_of(h) / 8);
    return h;
}

// Points the memo at a cell and its histogram. What found no room is looked for again at every call (no_bin matches no
// size), so that the drop counters count calls.
void Ledger::resolve(Memo& m, Cell wanted, Bytes bytes) {
    wanted.bin = static_cast<std::uint8_t>(size_bin(bytes));
    wanted.region = records_->regions.current();
    Cell* exact = cell(wanted, max_cells);
    m.cell = exact ? exact : other_cell(wanted);
    Histogram* h = histogram(wanted.call, wanted.bin);
    if (!h) count_drop(records_->image.header().drops.histograms);
    m.histogram = h ? h : &no_histogram_;
    if (h && exact) exact->histogram = static_cast<std::uint32_t>(records_->image.offset_of(h) / 8);
    m.bin = h && exact && bytes <= most_hot_bytes ? hot_bin(bytes) : no_bin;
}

void Ledger::begin_in_script(std::uint64_t key) {
    script_site_ = records_->sites.find_script(records_->image, address_of(key));
    begin(key, read_clock());
    asked_script_ = since();
    if (script_site_ == 0) return;
    thread_->script_site = script_site_;
    __atomic_store_n(&thread_->script_call, static_cast<std::uint32_t>(since()), __ATOMIC_RELEASE);
}

// The site of a call that returns to `return_address`, and where the words lie that tell its callers.
std::uint32_t Ledger::site(Word return_address, const Word* frame, std::uint16_t (&at)[2]) {
    Sites& sites = records_->sites;
    at[0] = at[1] = 0;
    is_scripted_ = false;
    const bool is_asked = asked_script_ == since();
    if (const std::uint32_t scripted = is_asked ? script_site_ : sites.find_script(records_->image, return_address)) {
        is_scripted_ = true;
        return scripted;
    }
    const auto identity = [&] {
        Sites::Identity who{{return_address, 0, 0}};
        for (unsigned i = 0; i < 2; ++i)
            if (at[i] != 0) who.address[i + 1] = frame[at[i]];
        return who;
    };
    if (Callers::Places places; callers_.find(return_address, frame, places)) {
        at[0] = places.at[0];
        at[1] = places.at[1];
        if (const std::uint32_t known = sites.known(identity())) return known;
    }
    const bool may_unwind = sites.unwinder && sites.depth > 1 && unwound_ < most_unwound;
    unwound_ += may_unwind;
    const CallStack stack = unwind(may_unwind ? sites.unwinder() : nullptr, frame, return_address, sites.depth);
    at[0] = at[1] = 0;
    for (unsigned i = 1; i < stack.depth && i <= 2 && stack.place[i]; ++i) {
        const auto words = stack.place[i] - frame;
        if (words <= 0 || words > 0xffff) break;
        at[i - 1] = static_cast<std::uint16_t>(words);
    }
    callers_.learn(return_address, frame, {{at[0], at[1]}});
    const std::uint32_t found = sites.find(records_->image, identity(), stack);
    clear_used_stack<stack_of_walk>();
    return found;
}

Memo* Ledger::known_memo(std::uint64_t key, Word type, Word comm, const Word* frame, const Meaning& meaning,
                         Bytes bytes) {
    Memo& first = memo(key);
    if (is_memo_of(first, key, frame, meaning, bytes)) {
        if (meaning.is_lasting && !hit(first, key, type, comm)) hold(first, type, comm, meaning);
        return &first;
    }
    Memo* m = seconds_.places(second_hash(key, first, frame, meaning.communicator, hot_bin(bytes)));
    for (unsigned i = 0; i < 2; ++i, ++m) {
        if (!is_memo_of(*m, key, frame, meaning, bytes)) continue;
        if (first.key != no_key) return m;
        forget_peer(first);
        first = *m;  // its first place was left to it
        m->key = no_key;
        hold(first, type, comm, meaning);
        return &first;
    }
    return nullptr;
}

Memo& Ledger::learn(std::uint64_t key, Word type, Word comm, const Word* frame, const Meaning& meaning, Bytes bytes) {
    // The first place unless it is taken; of a first and second ones that other calls have, each in its turn: rivals
    // end up in places of their own.
    Memo* m = &memo(key);
    if (m->key != no_key) {
        const std::uint64_t hash = second_hash(key, *m, frame, meaning.communicator, hot_bin(bytes));
        if (m->key == key || seconds_.has_room(hash) || ++learned_ % 2 == 0) m = &seconds_.take(hash);
    }
    m->key = no_key;  // not valid while half filled: a fork or a longjmp out of here must not leave a wrong entry
    m->frame = lower_half(frame);
    Cell wanted{};
    wanted.call = call_of(key);
    wanted.buffer = meaning.buffer;
    wanted.communicator = meaning.communicator;
    wanted.site = site(address_of(key), frame, m->at);
    for (unsigned i = 0; i < 2; ++i) m->word[i] = compares_words ? lower_half(frame[m->at[i]]) : 0;
    records_->publish_call(wanted.call);
    const Traffic traffic = records_->catalogue.info(wanted.call).traffic;
    if (traffic != Traffic::none && traffic != Traffic::setup && traffic != Traffic::local) moved_ = true;
    resolve(*m, wanted, bytes);
    if (is_first(*m)) hold(*m, type, comm, meaning);
    // The stack does not tell who calls in a script: it is asked each time.
    if (!is_scripted_) m->key = key;
    return *m;
}

void Ledger::add_untimed(std::uint16_t call, std::uint16_t communicator, Bytes bytes) {
    Cell wanted{};
    wanted.call = call;
    wanted.bin = static_cast<std::uint8_t>(size_bin(bytes));
    wanted.communicator = communicator;
    wanted.region = records_->regions.current();
    records_->publish_call(call);
    moved_ = true;
    Cell* c = cell(wanted, max_cells);
    if (!c) c = other_cell(wanted);
    mpiprof::add(c->bytes, bytes);
    mpiprof::add(c->calls, 1);
}

void Ledger::add_error(std::uint64_t key, std::uint16_t communicator, const Word* frame) {
    std::uint16_t at[2];
    Cell wanted{};
    wanted.call = call_of(key);
    wanted.communicator = communicator;
    wanted.region = records_->regions.current();
    wanted.site = site(address_of(key), frame, at);
    records_->publish_call(wanted.call);
    Cell* c = cell(wanted, max_cells);
    mpiprof::add((c ? c : other_cell(wanted))->errors, 1);
}

// The first duration of its octave claims a block.
void Ledger::add_to_histogram(Histogram& histogram, Ticks ticks) {
    if (&histogram == &no_histogram_) return;
    const Position position = histogram_position(ticks);
    std::uint32_t& at = histogram.block[position.octave];
    if (at == 0) {
        auto* block = static_cast<HistogramBlock*>(
            records_->image.next_record(blocks_, TableType::histogram_blocks, sizeof(HistogramBlock),
                                        records_at_once(blocks_, blocks_per_table), thread_->id));
        if (!block) {
            count_drop(records_->image.header().drops.histograms);
            return;
        }
        Image::publish(blocks_);
        __atomic_store_n(&at, static_cast<std::uint32_t>(records_->image.offset_of(block) / 8), __ATOMIC_RELEASE);
    }
    reinterpret_cast<HistogramBlock*>(base_ + std::uint64_t{at} * 8)->count[position.sub] += 1;
}

}  // namespace mpiprof
