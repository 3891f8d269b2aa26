// The slow half of the ledger: new threads, new calls, new sites, and what is forgotten when a handle ends.
#include "libmpiprof/record/ledger.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "libmpiprof/base/text.h"
#include "libmpiprof/base/used_stack.h"
#include "libmpiprof/record/token.h"

namespace mpiprof {

constinit thread_local ThreadState thread_state{~std::uint64_t{0}, nullptr, nullptr};
constinit Gate gate{};

using namespace format;

void Records::add_call(std::uint16_t call) {
    const Guard guard(lock);
    if (is_published(call) || (call != any_call && !catalogue.has(call))) return;
    CallRecord* record = dictionary.next(image);
    if (!record) return;
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
        record->bus = info.bus;
        copy(record->name, catalogue.row_name(call));
        append(record->name, Catalogue::name_suffix(call));
    }
    dictionary.publish();
    std::uint64_t& bits = bits_of(call);
    __atomic_store_n(&bits, bits | std::uint64_t{1} << (call % 64), __ATOMIC_RELEASE);
}

Ledger* Ledger::create(Records& records, std::uint32_t id, ThreadKind kind) {
    auto* ledger = static_cast<Ledger*>(private_pages(sizeof(Ledger)));
    if (!ledger) return nullptr;
    new (ledger) Ledger;  // without (): that would write zeros into all of its zero pages
    if (ledger->open(records, id, kind)) return ledger;
    // Given back, since a thread without a ledger asks for one at each of its calls.
    ledger->books.give_back();
    munmap(ledger, sizeof(Ledger));
    return nullptr;
}

bool Ledger::open(Records& records, std::uint32_t id, ThreadKind kind) {
    Image& image = records.image;
    records_ = &records;
    monotonic_ = records.clock == ClockKind::monotonic;
    Table* threads = nullptr;
    hand.thread = Rows<Thread, 1>::room_for(image, 1, id, threads);
    if (!hand.thread || !counters.open(records, id)) return false;
    hand.thread->id = id;
    hand.thread->kind = kind;
    if (!books.open(records, id, kind)) return false;
    memos.open();
    callers_.open();
    requests.open(records, id);
    peers.open(image, id, records.peers);
    forgets_seen_ = relaxed(records.forgets);
    unloads_seen_ = records.sites.unloads();
    ended_seen_ = records.ended.count();
    adopt(static_cast<std::uint32_t>(raw(SYS_gettid)));
    activity_.open(image, id, image.header().started.ticks);
    if (kind == ThreadKind::main) stretches_.open(*hand.thread, read_clock());
    turns_at_ = std::min(activity_.ends(), stretches_.due());
    if (records.trace_events != 0) trace = Trace::create(records, id, records.trace_events);
    Image::publish(threads);
    return true;
}

void Ledger::adopt(std::uint32_t os_thread) {
    const NativeStack before = stack;
    stack = NativeStack::of_this_thread();
    // Where the last owner's ended another owner's may have nothing.
    if (hand.thread->owners != 0 && stack != before) {
        memos.forget();
        callers_.forget();
    }
    hand.thread->os_thread = os_thread;
    hand.thread->owners += 1;
    hand.leave();
}

void Ledger::turn_bin(Bytes bytes, Ticks ticks) {
    const Ticks end = hand.since() + ticks;
    if (activity_.is_over(end)) {
        const bool is_message = records_->catalogue.carries_messages(call_of(hand.key()));
        activity_.turn(hand.since(), ticks, is_message ? bytes : 0, books.total());
    }
    // The next call comes by the plain form, which says that it begins.
    if (end >= stretches_.due() && stretches_.after_call(hand.since(), end)) thread_state.epoch = ~std::uint64_t{0};
    turns_at_ = std::min(activity_.ends(), stretches_.due());
    if (const auto ask = __atomic_load_n(&records_->sometimes, __ATOMIC_RELAXED)) ask();
}

// ---- where calls are made ----

void Ledger::begin_in_script(std::uint64_t key) {
    script_site_ = records_->sites.find_script(records_->image, address_of(key));
    hand.begin(key, read_clock());
    asked_script_ = hand.since();
    if (script_site_ != 0) hand.tell_script(script_site_);
}

// A call and its callers, whose return addresses lie there.
static Sites::Identity identity(Word return_address, const Word* frame, const std::uint16_t (&at)[2]) {
    return {{return_address, at[0] != 0 ? frame[at[0]] : 0, at[1] != 0 ? frame[at[1]] : 0}};
}

// The site of a call of this key, and where the words lie that tell its callers: on the thread's own stack alone. On
// any other the place that the call returns to is all that is compared.
std::uint32_t Ledger::site(std::uint64_t key, const Word* frame, std::uint16_t (&at)[2]) {
    const Word return_address = address_of(key);
    Sites& sites = records_->sites;
    at[0] = at[1] = 0;
    is_scripted_ = false;
    const bool is_asked = asked_script_ == hand.since();
    if (const std::uint32_t scripted = is_asked ? script_site_ : sites.find_script(records_->image, return_address)) {
        is_scripted_ = true;
        if (!is_asked) hand.tell_script(scripted);
        return scripted;
    }
    // Another size or communicator, where all else is known.
    if (const Memo* first = memos.first_of_place(key, frame); first && first->cell->site != 0) {
        memcpy(at, first->at, sizeof at);
        return first->cell->site;
    }
    const std::size_t words_above = stack.words_above(frame);
    Callers::Places places;
    const bool is_known = words_above != 0 && callers_.find(return_address, frame, words_above, places);
    if (is_known) memcpy(at, places.at, sizeof at);
    if (is_known || words_above == 0)
        if (const std::uint32_t known = sites.known(records_->image, identity(return_address, frame, at))) return known;
    bool is_shallow;
    const std::uint32_t found = site_by_walk(return_address, frame, words_above, at, is_shallow);
    if (is_shallow)
        clear_used_stack<stack_of_shallow_walk>();
    else
        clear_used_stack<stack_of_walk>();
    return found;
}

// With what libunwind leaves on the stack. Its errors are not the program's.
[[gnu::noinline]] void Ledger::go_on_from_cut(CallStack& found) {
    Sites& sites = records_->sites;
    if (!sites.general_unwinder || !stack.holds(found.place[0])) return;
    for (unsigned i = 0; i < found.depth; ++i)
        if (!found.place[i]) return;  // what a signal interrupted was not called
    const int error = errno;
    sites.general_unwinder(found, sites.depth, stack);
    errno = error;
    clear_used_stack<stack_of_general_walk>();
}

// What it leaves on the stack is its caller's to clear, all of it.
[[gnu::noinline]] std::uint32_t Ledger::site_by_walk(Word return_address, const Word* frame, std::size_t words_above,
                                                     std::uint16_t (&at)[2], bool& is_shallow) {
    Sites& sites = records_->sites;
    const bool may_unwind = sites.unwinder && sites.depth > 1 && unwound_ < most_unwound;
    unwound_ += may_unwind;
    CallStack found = unwind(may_unwind ? sites.unwinder() : nullptr, frame, return_address, sites.depth);
    is_shallow = found.is_shallow;
    if (found.is_cut) [[unlikely]]
        go_on_from_cut(found);
    at[0] = at[1] = 0;
    if (words_above != 0) {
        const std::size_t most = words_above <= 0xffff ? words_above - 1 : 0xffff;
        for (unsigned i = 1; i < found.depth && i <= 2 && found.place[i]; ++i) {
            const auto words = static_cast<std::size_t>(found.place[i] - frame);
            if (words - 1 >= most) break;
            at[i - 1] = static_cast<std::uint16_t>(words);
        }
        callers_.learn(return_address, frame, {{at[0], at[1]}});
    }
    return sites.find(records_->image, identity(return_address, frame, at), found);
}

// ---- booking what is new ----

Cell Ledger::wanted_cell(std::uint16_t call, std::uint16_t communicator) {
    Cell wanted{};
    wanted.call = call;
    wanted.communicator = communicator;
    wanted.region = records_->regions.current();
    records_->publish_call(call);
    return wanted;
}

Memo& Ledger::learn(std::uint64_t key, Word type, Word comm, const Word* frame, const Meaning& meaning, Bytes bytes) {
    Memo& m = memos.take(key, frame, meaning, bytes);
    Cell wanted = wanted_cell(call_of(key), meaning.communicator);
    wanted.buffer = meaning.buffer;
    wanted.site = site(key, frame, m.at);
    for (unsigned i = 0; i < 2; ++i) m.word[i] = Memos::word_above(frame, m.at[i]);
    if (!moved_) {
        const Traffic traffic = records_->catalogue.info(wanted.call).traffic;
        moved_ = traffic != Traffic::none && traffic != Traffic::setup && traffic != Traffic::local;
    }
    books.resolve(m, wanted, bytes);
    if (memos.is_first(m)) memos.hold(m, type, comm, meaning);
    // The stack does not tell who calls in a script: it is asked each time.
    if (!is_scripted_) m.key = key;
    return m;
}

void Ledger::add_untimed(std::uint16_t call, std::uint16_t communicator, Bytes bytes) {
    Cell wanted = wanted_cell(call, communicator);
    wanted.bin = static_cast<std::uint8_t>(size_bin(bytes));
    moved_ = true;
    Cell& cell = books.cell_for(wanted);
    mpiprof::add(cell.bytes, bytes);
    mpiprof::add(cell.calls, 1);
}

void Ledger::add_error(std::uint64_t key, std::uint16_t communicator, const Word* frame) {
    std::uint16_t at[2];
    Cell wanted = wanted_cell(call_of(key), communicator);
    wanted.site = site(key, frame, at);
    mpiprof::add(books.cell_for(wanted).errors, 1);
}

void Ledger::keep_arrival(const Memo& m, Ticks ticks, bool has_root) {
    const Cell& cell = *m.cell;
    const Arrival arrival{
        .number_and_call = cell.call,
        .begin = hand.since(),
        .ticks_and_kind = ticks << 16 | std::uint64_t{cell.bin} << 8 | static_cast<std::uint64_t>(cell.buffer),
        .site = cell.site,
        .root = has_root ? hand.peer() : 0};
    records_->arrivals.keep(records_->image, cell.communicator, counted(m), arrival);
}

// ---- requests ----

void Ledger::set_up(Word handle, Bytes bytes, std::uint16_t call, const Requests::Partner& partner, Request shown) {
    Histogram* posted_by = books.histogram(call, static_cast<std::uint8_t>(size_bin(bytes)));
    requests.set_up(handle, bytes, posted_by, partner, shown);
}

Histogram* Ledger::own_histogram(const Requests::Taken& taken) {
    const Histogram& of_other = *taken.request.posted_by;
    return books.histogram(of_other.call, of_other.bin);
}

bool Ledger::take_over(Word handle, Ticks before) {
    Requests::Taken taken;
    return requests.take_from_others(handle, before, taken) && adopt(taken);
}

bool Ledger::adopt(const Requests::Taken& taken) {
    Histogram* own = own_histogram(taken);
    if (!own) return false;
    Flow* flow = taken.request.has_partner() ? taken.partner.flow : nullptr;
    if (flow) flow = &peers.own_flow(*flow);
    return requests.adopt(taken, *own, flow);
}

int Ledger::complete_of_others(Word handle, Ticks end, Ticks blocked, Ticks inside) {
    const Ticks begin = end - inside;
    Requests::Taken taken;
    if (!requests.take_from_others(handle, begin, taken)) {
        const int own = requests.complete_own(handle, end, blocked, inside);
        if (own != Requests::not_remembered) return own;
        switch (find_later_one(handle, taken)) {
            case Later::booked:
                return 1;
            case Later::taken:
                break;
            case Later::none:
                return Requests::not_remembered;
        }
        taken.request.since = std::min(taken.request.since, begin);
    }
    if (taken.request.is_persistent())
        return adopt(taken) ? requests.complete_own(handle, end, blocked, inside) : Requests::not_remembered;
    Histogram* own = own_histogram(taken);
    if (!own) return Requests::not_remembered;
    requests.complete_taken(taken, *own, end, blocked, inside);
    return 1;
}

// Where several share a handle another thread may have taken this one's for its own, and left it a later one. While the
// tables are looked through, one after the other, that one may go, too, and be replaced where this look has been: only
// a look during which none was posted has seen that there is none.
Ledger::Later Ledger::find_later_one(Word handle, Requests::Taken& taken) {
    for (int look = 0; look < most_looks; ++look) {
        const Ticks posted = requests.last_posted(handle);
        if (requests.is_booked_already(handle)) return Later::booked;
        if (requests.take_from_others(handle, ~Ticks{0}, taken)) return Later::taken;
        if (requests.last_posted(handle) == posted) break;
    }
    return Later::none;
}

void Ledger::forget_request(Word handle) {
    Requests::Taken taken;
    if (!requests.forget(handle)) requests.take_from_others(handle, ~Ticks{0}, taken);
}

Bytes Ledger::start(Word handle, Word now, Ticks since) {
    if (!requests.knows(handle)) take_over(handle, since);
    if (now != handle) requests.rename(handle, now);
    const auto [bytes, partner] = requests.start(now, since);
    if (trace && partner) trace->start(hand, *partner, since, bytes);
    return bytes;
}

// ---- handles that end ----

// A communicator or window: its ranks stood for others, too.
void Ledger::end_of_group(const EndedHandle& ended) {
    if (ended.kind == HandleKind::communicator) {
        memos.forget_comm(ended.c);
        groups.forget(ended.c);
        groups.forget(ended.fortran);
    }
    forget_peers_of(ended.c);
    if (!may_be_same_handle(ended.fortran, ended.c)) forget_peers_of(ended.fortran);
}

void Ledger::forget_peers_of(Word key) {
    if (key == 0) return;
    peers.forget(key);
    if (has_messages_) messages_.forget_if([&](const Message& m) { return may_be_same_handle(m.key, key); });
    requests.forget_communicator(key);
}

// Code that was called from has gone, and other code may have come to its place.
void Ledger::forget_unloaded() {
    const std::uint64_t unloads = records_->sites.unloads();
    if (unloads == unloads_seen_) return;
    unloads_seen_ = unloads;
    memos.forget();
    callers_.forget();
}

void Ledger::enter_epoch(std::uint64_t epoch) {
    if (epoch_ == epoch) return;
    epoch_ = epoch;
    requests.guard_if_they_cross_threads();
    forget_unloaded();
    requests.mix_if_languages_do();
    const std::uint64_t forgets = __atomic_load_n(&records_->forgets, __ATOMIC_ACQUIRE);
    bool is_all_gone = forgets != forgets_seen_;
    forgets_seen_ = forgets;
    if (!records_->ended.since(ended_seen_, [&](const EndedHandle& ended) { end_of(ended); })) {
        is_all_gone = true;
        peers.forget();
        messages_.forget_if([](const Message&) { return true; });
        requests.forget_communicators();
    }
    if (!is_all_gone) return;
    memos.forget();
    groups.forget_if([](const Group&) { return true; });
}

}  // namespace mpiprof
