// The ledger of one thread: for each (call, size bin, buffer, communicator, region, site) one cell of counts and times.
// add() is called once per timed call, so it neither locks, allocates nor makes system calls; what is new to it (a memo
// miss) goes through the slow path. The cells lie in the image: what is added is already in the profile.
// What a handle stands for is forgotten with the handle (end_of), what is known of a place in the program stays.
#pragma once

#include <initializer_list>

#include "libmpiprof/base/clock.h"
#include "libmpiprof/calls/call.h"
#include "libmpiprof/format/collective_order.h"
#include "libmpiprof/format/histogram.h"
#include "libmpiprof/format/size_bins.h"
#include "libmpiprof/record/activity.h"
#include "libmpiprof/record/callers.h"
#include "libmpiprof/record/communicator_table.h"
#include "libmpiprof/record/ended_handles.h"
#include "libmpiprof/record/handles.h"
#include "libmpiprof/record/image.h"
#include "libmpiprof/record/memo.h"
#include "libmpiprof/record/peers.h"
#include "libmpiprof/record/regions.h"
#include "libmpiprof/record/requests.h"
#include "libmpiprof/record/sites.h"
#include "libmpiprof/record/trace.h"

namespace mpiprof {

// What the recorder needs to know of a row when it first sees it; the catalogue itself stays above.
struct CallInfo {
    std::uint16_t name;  // offset into Catalogue::names
    Family family;
    Treatment treatment;
    Traffic traffic;
    SizeRule size_rule;
    std::uint16_t counter;
    std::uint8_t arguments;  // format::CallArguments
};
struct Catalogue {
    const char* names;
    const CallInfo* calls;
    std::uint16_t size;
    std::uint16_t counted;  // how many of them are counted
    static constexpr std::uint16_t most_counted = 352;

    // Each row has a second id, of the barrier that is put before its calls where the user asks for it.
    static constexpr std::uint16_t barrier_before = 1024;
    static constexpr std::uint16_t most_ids = 2 * barrier_before;
    bool has(std::uint16_t call) const { return call < most_ids && call % barrier_before < size; }
    CallInfo info(std::uint16_t call) const {
        CallInfo info = calls[call % barrier_before];
        if (call < barrier_before) return info;
        info.treatment = Treatment::timed;
        info.traffic = Traffic::sync;
        info.size_rule = SizeRule::none;
        info.arguments = 0;
        return info;
    }
    const char* row_name(std::uint16_t call) const { return names + calls[call % barrier_before].name; }
    static const char* name_suffix(std::uint16_t call) { return call < barrier_before ? "" : " [barrier]"; }
};
// Of all that this library wraps. Defined above the rooms that hold the rows (libmpiprof/catalogue.cpp).
[[gnu::visibility("hidden")]] extern const Catalogue whole_catalogue;

// What all ledgers of a process share.
struct Records {
    Image image;
    Sites sites;
    Regions regions;
    CommunicatorTable communicators;
    Catalogue catalogue;
    format::ClockKind clock;
    Lock lock;  // for the dictionary
    format::Table* dictionary;
    std::uint64_t in_dictionary[32];     // a bit per call id
    std::uint32_t peers;                 // records of them, of all threads
    std::uint32_t trace_events;          // that each thread's trace keeps; 0: there is none
    EndedHandles ended;                  // for the other threads
    std::uint64_t forgets;               // how often all that memos know became untrue
    Requests::Shown requests_of_nobody;  // where threads show their requests that found no room for it
    void publish_call(std::uint16_t call);
};

class Ledger {
  public:
    static Ledger* create(Records& records, std::uint32_t id, format::ThreadKind kind);

    CallInHand hand{};

    // ---- hot ----
    // size_bin() without its branch: 63 stands for size 0, all others are the bins themselves.
    static std::uint8_t hot_bin(Bytes bytes) { return static_cast<std::uint8_t>(top_bit((bytes - 1) | 3)); }
    void begin(std::uint64_t key, Ticks start) {
        begin(key);
        begin_at(start);
    }
    // The same in two steps: what can be done before the clock is read.
    void begin(std::uint64_t key) { thread_->in_call = key; }
    void begin_at(Ticks start) { thread_->in_call_since = start; }
    // Of the call in hand, until leave_call().
    std::uint64_t key_in_call() const { return thread_->in_call; }
    // The same, and of the last one when it has ended.
    std::uint64_t key() const { return thread_->in_call & ~format::has_returned; }
    // The communicator handle of the call in hand as it was passed, or no_handle. It lies in the profile: who waits for
    // whom.
    Word comm() const { return static_cast<Word>(thread_->in_call_communicator); }
    void set_comm(Word comm) { thread_->in_call_communicator = static_cast<std::uint64_t>(comm); }
    // With whom it talks, as passed: the rank that is sent to, or else received from; or the root. Of calls that have
    // none it is another call's.
    int peer() const { return thread_->in_call_peer; }
    void set_peer(int peer) { thread_->in_call_peer = peer; }
    void set_tag(int tag) { thread_->in_call_tag = tag; }
    void set_source(int source, int tag) {
        thread_->in_call_source = source;
        thread_->in_call_source_tag = tag;
    }
    // What it waits for.
    void set_request(Word only) { thread_->in_call_request = static_cast<std::uint64_t>(only); }
    void set_requests(std::int64_t n) { thread_->in_call_requests = static_cast<std::uint32_t>(n); }
    // The call that this memo books has returned, and was one that all members make in one order.
    void count_collective(const Memo& m, std::uint64_t word) {
        records_->communicators.at(m.cell->communicator).count(word);
    }
    // Ticks since begin(); sane() makes 0 of a clock that ran backwards.
    Ticks ticks_until(Ticks end) const { return end - thread_->in_call_since; }
    // Whether the call in hand, which ended then, did so behind the current bin of time. Then it is the plain form's.
    bool turns_bin(Ticks end) const { return activity_.is_over(end); }
    // Where a call's memo lies: the first place is by where it was called alone. What changes there from call to call,
    // a size or a caller, has a second one, in a table of its own, so that it takes nobody's first.
    std::size_t place(std::uint64_t key) const {
        std::size_t at = short_hash<memo_bits>(key) * sizeof(MemoPeer);
        asm("" : "+r"(at));  // a compiler that knows how it was found finds it anew for whatever lies there
        return at;
    }
    Memo& memo_at(std::size_t place) {
        return *reinterpret_cast<Memo*>(reinterpret_cast<char*>(memos_) + place * (sizeof(Memo) / sizeof(MemoPeer)));
    }
    const MemoPeer& peer_at(std::size_t place) const {
        return *reinterpret_cast<const MemoPeer*>(reinterpret_cast<const char*>(memo_peers_) + place);
    }
    // Second memos share one place, where nobody is remembered.
    std::size_t place_of(const Memo& m) const {
        return static_cast<std::size_t>(is_first(m) ? &m - memos_ : std::ptrdiff_t{first_memos}) * sizeof(MemoPeer);
    }
    std::size_t no_place() const { return first_memos * sizeof(MemoPeer); }
    Memo& memo(std::uint64_t key) { return memos_[short_hash<memo_bits>(key)]; }
    // The second memo that knows a call of the same key as this first one; null: none does.
    Memo* second_memo(const Memo& first, const Word* frame, std::uint16_t communicator, std::uint8_t bin) {
        Memo* m = seconds_.places(second_hash(first.key, first, frame, communicator, bin));
        if (is_same_place(*m, first.key, frame, communicator, bin)) [[likely]]
            return m;
        return is_same_place(m[1], first.key, frame, communicator, bin) ? m + 1 : nullptr;
    }
    // The first place of this call is another call's, which may not be made any more: now and then it is left to
    // whoever asks. True: known_memo() will take it.
    bool takes_turn(std::uint64_t key) {
        constexpr unsigned calls_a_turn = 64;
        if (++disputed_ % calls_a_turn != 0) [[likely]]
            return false;
        memo(key).key = no_key;
        return true;
    }
    // What differs between callers; where the next but one lies is known below the first memo's own caller only.
    static std::uint64_t caller_part(const Memo& first, const Word* frame) {
        const Word caller = frame[first.at[0]];
        const Word next = lower_half(caller) == first.word[0] ? frame[first.at[1]] : 0;
        return static_cast<std::uint64_t>(caller + next * 2);
    }
    static std::uint64_t second_hash(std::uint64_t key, const Memo& first, const Word* frame,
                                     std::uint16_t communicator, std::uint8_t bin) {
        std::uint64_t x = key + std::uint64_t{bin} * 8 + std::uint64_t{communicator} * 512;
        if (first.frame == lower_half(frame) && first.key == key)
            x += caller_part(first, frame);
        else
            x += lower_half(frame) * 5u;
        return x;
    }
    // Whether the callers are those that this memo, of the same return address, was made for. Another frame may be of
    // other callers, or the same ones deeper in a recursion: it is looked into, and has a memo of its own.
    static bool is_called_alike(const Memo& m, const Word* frame) {
        if (m.frame != lower_half(frame)) [[unlikely]]
            return false;
        if (!compares_words) return true;
        return lower_half(frame[m.at[0]]) == m.word[0] && lower_half(frame[m.at[1]]) == m.word[1];
    }
    static bool hit(const Memo& m, std::uint64_t key, Word type, Word comm) {
        return m.key == key && m.type == type && m.comm == comm;
    }
    // Whether the first memo knows this call by its place, whatever its handles.
    static bool is_same_place(const Memo& m, std::uint64_t key, const Word* frame, std::uint16_t communicator,
                              std::uint8_t bin) {
        return m.key == key && m.bin == bin && is_called_alike(m, frame) && m.cell->communicator == communicator;
    }
    // From now on the first memo of a place holds these handles: a call with the same ones asks for nothing.
    void hold(Memo& first, Word type, Word comm, const Meaning& meaning);
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
    void count(std::uint16_t counter) { counters_[counter].calls += 1; }
    void count_error(std::uint16_t counter) { counters_[counter].errors += 1; }
    // Polls (Test, Iprobe) are asked in loops: all are counted, every 16th is timed and stands for the 16.
    static constexpr unsigned polls_per_sample = 16;
    bool is_sample(std::uint16_t counter) const { return counters_[counter].calls % polls_per_sample == 0; }
    Ticks since() const { return thread_->in_call_since; }
    void count_nested() { thread_->nested += 1; }
    // The call in hand has returned, or is not recorded after all.
    void leave_call() { thread_->in_call |= format::has_returned; }
    // Null: not asked yet.
    const Group* group(Word handle) const {
        const Group& g = group_place(handle);
        return g.handle == handle ? &g : nullptr;
    }

    // ---- slow ----
    Ticks read_clock() const { return now(monotonic_); }
    // As begin(), of a call that a script may make: its line is in the profile before the real call, which may never
    // return.
    void begin_in_script(std::uint64_t key);
    // Whether a script made the call whose memo was learned last.
    bool is_scripted() const { return is_scripted_; }
    // Books a sampled poll; the counter counts it afterwards.
    void add_poll(Memo& m, Ticks ticks, Ticks end, std::uint16_t counter);
    void add_completed(Memo& m, std::int64_t n) { m.histogram->completed += static_cast<std::uint64_t>(n); }

    // ---- peers (peers.cpp) ----
    format::Peer* quick_peer(Word key, int peer) const { return peers_.quick(key, peer); }
    // The same of a call that the memo at this place books.
    format::Peer* quick_peer(std::size_t place, Word key, int peer) const {
        const MemoPeer& last = peer_at(place);
        if (last.peer != peer) [[unlikely]]
            return quick_peer(key, peer);
        if (!last.record) __builtin_unreachable();  // no peer is no_rank
        return last.record;
    }
    void forget_peer(const Memo& m) {
        peer_of(m) = {MemoPeer::no_rank, nullptr};
    }  // of another call at its place; also of none
    void remember_peer(const Memo& m, Word key, int peer) {
        if (format::Peer* known = is_first(m) ? quick_peer(key, peer) : nullptr) peer_of(m) = {peer, known};
    }
    format::Peer* known_peer(Word key, int peer) { return peers_.known(key, peer); }
    format::Peer& learn_peer(Word key, int peer, std::uint32_t rank, format::PeerKind kind) {
        return *peers_.learn(records_->image, thread_->id, records_->peers, key, peer, rank, kind);
    }
    void learn_like_world(Word key) { peers_.learn_like_world(key); }
    format::Peer& learn_nobody(Word key, int peer) { return *peers_.learn_nobody(key, peer); }
    format::Peer& peer_of_rank(std::uint32_t rank, format::PeerKind kind) {
        return *peers_.of_rank(records_->image, thread_->id, records_->peers, rank, kind);
    }

    // A message that was probed for and waits for its receive: from whom it is (the communicator's key and C handle,
    // the rank in it). The last few, which is all that a thread has at once.
    struct Message {
        Word handle;
        Word key;
        Word comm;
        int source;
    };
    void remember_message(const Message& message) {
        has_messages_ = true;
        message_place(message.handle) = message;
    }
    const Message* message(Word handle) {
        const Message& known = message_place(handle);
        return handle != 0 && known.handle == handle ? &known : nullptr;
    }

    // ---- requests (requests.cpp) ----
    // A request was posted by the call that `m` books; since when its begin says. False, and nothing done, if the table
    // does not take it as it is; then post().
    bool post_fast(const Memo& m, Word handle) {
        const Requests::Request* place = requests_.put_fast({handle, m.histogram, since(), 0});
        if (!place) [[unlikely]]
            return false;
        show(*place, handle, m.key);
        return true;
    }
    void post(const Memo& m, Word handle, Ticks since) {
        // Without a place it will be completed as one that is not remembered, and counted as such there.
        if (remember({handle, m.histogram, since, 0})) show_in_hand(handle);
    }
    // Persistent. `shown`: what the profile is to say of it, but for the handle.
    void set_up(Word handle, Bytes bytes, std::uint16_t call, const Requests::Partner& partner = {},
                format::Request shown = {});
    // The same as post() of a request to receive from whoever sends first. It is counted with `partner` until its
    // status tells.
    void post_open(const Memo& m, Word handle, const Requests::Partner& partner);
    bool has_open_sources() const { return has_open_sources_; }
    const Requests::Partner* open_source(Word handle);  // null: its source is known
    void close_source(const Requests::Partner& partner, format::Peer& from);
    Bytes start(Word handle, Ticks since);  // its bytes; 0 if it is not remembered
    void forget_request(Word handle);
    bool has_requests() const { return !requests_.is_empty(); }
    // The request was seen to complete at `end`; `blocked` is its share of the time inside the completing call. How
    // many did: none if it is a persistent one that was not started, not_remembered if it may be any.
    static constexpr int not_remembered = -1;
    int complete(Word handle, Ticks end, Ticks blocked, Ticks inside) {
        Requests::Request* request = requests_.find(handle);
        if (!request) [[unlikely]]
            return not_remembered;
        if (request->more == 0) [[likely]] {
            book(*request, end, blocked, inside);
            requests_.release(*request);
            return 1;
        }
        const bool was_active = request->since != 0;
        if (was_active) book(*request, end, blocked, inside);
        request->since = 0;
        if (request->is_persistent()) {
            requests_.shown(*request).posted_by |= format::not_started;
            return was_active;
        }
        request->more &= ~Requests::with_partner;
        if (request->more == 0 || --request->more == 0) requests_.release(*request);
        return 1;
    }
    void count_unknown_request() {
        mpiprof::add(records_->image.header().drops.requests, 1);
    }  // lossy itself: several threads may add
    // Room for a copy of `n` handles; null if there is none (yet: room_for_handles() makes it).
    Word* ready_room_for_handles(std::int64_t n) { return n <= handles_capacity_ ? handles_ : nullptr; }
    Word* room_for_handles(std::int64_t n);
    Ticks sane(Ticks ticks) {
        if (static_cast<std::int64_t>(ticks) >= 0) [[likely]]
            return ticks;
        count_drop(records_->image.header().drops.backwards);
        return 0;
    }
    void add(Memo& m, Bytes bytes, Ticks ticks);
    // After the call in hand is booked.
    void turn_bin(Bytes bytes, Ticks ticks);
    // Makes the profile name the module of this address, so that a call that hangs there can be told.
    void know_site(Word address) { records_->sites.know_module(records_->image, address); }
    // The memo of a call whose handles have this meaning: the one that hits, else null.
    Memo* known_memo(std::uint64_t key, Word type, Word comm, const Word* frame, const Meaning& meaning, Bytes bytes);
    // Fills one of the memos of a call that has none: finds its site, its cell and its histogram.
    Memo& learn(std::uint64_t key, Word type, Word comm, const Word* frame, const Meaning& meaning, Bytes bytes);
    // Brings the thread up to date: handles have ended, or (Records::forgets) all that memos know.
    void enter_epoch(std::uint64_t epoch);
    bool is_monotonic() const { return monotonic_; }
    // A call that was told of, by another than its caller: it has no time, and no place where it was called.
    void add_untimed(std::uint16_t call, std::uint16_t communicator, Bytes bytes);
    // A call that returned an error: no bytes, no time; counted in its cell of size 0.
    void add_error(std::uint64_t key, std::uint16_t communicator, const Word* frame);

    // ---- the trace (ledger_trace.cpp): what ends is written there, by the plain form alone ----
    bool is_traced() const { return trace_ != nullptr; }
    Trace* trace() { return trace_; }
    // The call in hand, or what it received besides. `side`: with whom.
    void trace_call(const Memo& m, Bytes bytes, Ticks ticks, const Trace::Side& side = {},
                    format::TraceKind kind = format::TraceKind::call);
    void trace_error(Ticks ticks);
    // The request is completed at `end`, before complete() forgets it. False: it is not remembered. Of one that
    // received from whoever sent first, `who` says who it was.
    template <class Who>
    bool trace_completed(Word handle, Ticks end, Who who) {
        Requests::Request* request = requests_.find(handle);
        if (!request || request->since == 0) return false;
        Requests::Partner* partner = request->has_partner() ? &requests_.partner_of(*request) : nullptr;
        Trace::Side side;
        if (partner && partner->key != 0) side = who(*partner);
        trace_completion(request->since, end, partner, side);
        return true;
    }
    void trace_region(format::TraceKind kind, std::uint16_t region, Ticks now, std::uint64_t items);

    Records& records() { return *records_; }
    std::uint32_t id() const { return thread_->id; }
    std::uint32_t os_thread() const { return thread_->os_thread; }
    format::ThreadKind kind() const { return thread_->kind; }

    // Whether this thread moved or waited for anything; queries, set-up and local copies are not counted.
    bool has_moved_data() const { return moved_; }

    // Hand-over of a finished thread's ledger to the next thread.
    std::atomic<bool> in_use{true};
    Ledger* next = nullptr;
    void adopt(std::uint32_t os_thread);

    // ---- handles (ledger_handles.cpp) ----
    // Few: what has lost its place is asked for again, and with as many more a thread would take a page more.
    using Types = Handles<5>;
    using Comms = Handles<4>;
    // What is known of a C handle; null: it is to be asked for, and learned.
    Types::Known* known_type(Word type) { return types_.find(type); }
    Comms::Known* known_comm(Word comm) { return comms_.find(comm); }
    // Before it is asked for: whoever ends or makes this type from now on tells this thread.
    void will_learn_type(Word type) { records_->ended.note_holder(type, thread_->id); }
    Types::Known* learn_type(Word type, std::uint64_t bytes);
    Comms::Known* learn_comm(Word comm, std::uint16_t index);
    std::uint8_t place_of_type(Word type) const { return types_.place(type); }
    std::uint8_t place_of_comm(Word comm) const { return comms_.place(comm); }
    // A handle's life ends, or begins: what this thread knew of its value is no longer so.
    void end_of(const EndedHandle& ended) {
        if (ended.kind != HandleKind::type)
            end_of_group(ended);
        else if (const std::uint8_t place = types_.place(ended.c); types_.at(place).handle == ended.c) [[unlikely]]
            release_type(place);
    }
    // This thread knows what it has published itself.
    void has_caught_up(std::uint64_t epoch) {
        epoch_ = epoch;
        ended_seen_ = records_->ended.count();
    }

    void remember_group(const Group& group) { const_cast<Group&>(group_place(group.handle)) = group; }

  private:
    static constexpr unsigned memo_bits = 8;
    static constexpr unsigned first_memos = 1u << memo_bits;
    static constexpr unsigned group_bits = 5;
    bool is_first(const Memo& m) const {
        return reinterpret_cast<std::uintptr_t>(&m) - reinterpret_cast<std::uintptr_t>(memos_) < sizeof memos_;
    }
    bool is_memo_of(const Memo& m, std::uint64_t key, const Word* frame, const Meaning& meaning, Bytes bytes) const {
        return is_same_place(m, key, frame, meaning.communicator, hot_bin(bytes)) && m.cell->buffer == meaning.buffer;
    }

#if defined(__x86_64__)
    static constexpr bool compares_words = true;
#else
    static constexpr bool compares_words = false;
#endif
    // So many times a thread may unwind: calls from ever new frames (alloca, deep recursions) keep their own address
    // then.
    static constexpr unsigned most_unwound = 16384;
    static constexpr unsigned stack_of_walk = 4096;
    std::uint32_t site(Word return_address, const Word* frame, std::uint16_t (&at)[2]);

    static constexpr unsigned message_bits = 4;
    Message& message_place(Word handle) {
        return messages_[short_hash<message_bits>(static_cast<std::uint64_t>(handle))];
    }
    const Group& group_place(Word handle) const {
        return groups_[short_hash<group_bits>(static_cast<std::uint64_t>(handle))];
    }

    void forget_memos();
    void forget_handles();
    void end_of_group(const EndedHandle& ended);
    void release_type(std::uint8_t place);
    void release_comm(std::uint8_t place);
    void forget_peers_of(Word key);
    // What is larger takes the plain form: there are sizes that are not what they seem at a look
    // (quick_bytes_in_status).
    static constexpr Bytes most_hot_bytes = Bytes{1} << 31;

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
    // The polls of one call between two samples.
    struct Polls {
        Ticks since;  // the end of the last sample
        Ticks owed;   // what samples stood for beyond the time there was
    };
    static Ticks time_of_polls(Polls& polls, Ticks sample, Ticks end);
    void show_requests();
    bool remember(const Requests::Request& request);
    // Says in the profile who posted a request: the call in hand.
    void show(const Requests::Request& place, Word handle, std::uint64_t key) {
        format::Request& shown = requests_.shown(place);
        shown.handle = static_cast<std::uint64_t>(handle);
        shown.posted_by = key;
        // Peer, tag and communicator at once.
        __builtin_memcpy(&shown.peer, &thread_->in_call_peer, 2 * sizeof(Word));
    }
    void show_in_hand(Word handle) { show(*requests_.find(handle), handle, key()); }
    void book(const Requests::Request& request, Ticks end, Ticks blocked, Ticks inside) {
        format::Histogram& h = *request.posted_by;
        const Ticks in_flight = end - request.since;
        h.completed += 1;
        h.blocked_ticks += blocked;
        h.inside_ticks += inside;
        if (static_cast<std::int64_t>(in_flight) >= 0) [[likely]]
            h.in_flight_ticks += in_flight;
        else
            count_drop(records_->image.header().drops.backwards);
    }
    bool open(Records& records, std::uint32_t id, format::ThreadKind kind);
    format::Cell* cell(const format::Cell& wanted, std::uint32_t limit);
    format::Cell* new_cell(const format::Cell& wanted);
    format::Cell* other_cell(const format::Cell& wanted);
    format::Histogram* histogram(std::uint16_t call, std::uint8_t bin);
    void resolve(Memo& m, format::Cell wanted, Bytes bytes);
    std::uint32_t records_at_once(const format::Table* newest, std::uint32_t most) const;
    void note_cell_table();
    bool grow_index();
    void give_back_index();
    void index_cell(format::Cell* cell);

    void trace_start(Requests::Partner& partner, Ticks since, Bytes bytes);
    void trace_completion(Ticks since, Ticks end, Requests::Partner* partner, const Trace::Side& side);
    Activity::Booked booked() const;
    bool carries_messages(std::uint16_t call) const;

    format::Thread* thread_ = nullptr;
    Activity activity_;
    std::uint64_t epoch_ = 0;
    char* base_ = nullptr;
    format::Counter* counters_ = nullptr;
    bool monotonic_ = false;
    bool moved_ = false;
    bool has_messages_ = false;
    bool are_requests_shown_ = false;
    bool has_open_sources_ = false;  // requests that receive from whoever sends first were posted
    std::uint64_t ended_seen_ = 0, forgets_seen_ = 0;
    Records* records_ = nullptr;
    Word* handles_ = nullptr;
    std::int64_t handles_capacity_ = 0;
    format::Table* cells_ = nullptr;  // the newest of these
    static constexpr std::uint32_t cells_per_table = 64;
    static constexpr std::uint32_t max_cells = 16384;       // 1 MiB; what finds no room after them
    static constexpr std::uint32_t max_other_cells = 2048;  // is told apart by call and size only
    static constexpr std::uint32_t most_cell_tables = (max_cells + max_other_cells) / cells_per_table + 3;
    static constexpr std::uint32_t first_cell_tables = 12;
    format::Table* first_cell_tables_[first_cell_tables] = {};
    format::Table** cell_tables_ = first_cell_tables_;
    std::uint32_t cell_table_count_ = 0;
    format::Table* histograms_ = nullptr;
    format::Table* blocks_ = nullptr;
    static constexpr std::uint32_t first_index_slots = 256;
    std::uint32_t first_index_[first_index_slots] = {};
    std::uint32_t* index_ = first_index_;  // open addressing: file offset / 64 of a cell, 0 = empty; at most half full
    std::uint32_t index_capacity_ = first_index_slots;
    std::uint32_t cell_count_ = 0;
    format::Cell* last_resort_ = nullptr;
    format::Histogram no_histogram_{};  // of calls whose durations find no room; has no blocks
    static constexpr std::uint32_t histogram_slots = 512;
    std::uint32_t histogram_count_ = 0;
    std::uint32_t histogram_index_[histogram_slots] = {};  // open addressing: file offset / 8
    Trace* trace_ = nullptr;
    unsigned learned_ = 0, disputed_ = 0;
    bool is_scripted_ = false;  // of the site that was found last
    Ticks asked_script_ = 0;    // the call that began then was looked up before: script_site_
    std::uint32_t script_site_ = 0;
    unsigned unwound_ = 0;
    Callers callers_;
    Types types_;
    Comms comms_;
    Group groups_[1u << group_bits];
    MemoPeer& peer_of(const Memo& m) { return const_cast<MemoPeer&>(peer_at(place_of(m))); }
    Memo memos_[first_memos];
    // Of calls that have another size, communicator, caller or depth of recursion than the first memo of their place in
    // the program. They hold no handle, so that no handle's end concerns them.
    GrowingPairs<Memo, 128, 4096> seconds_;
    MemoPeer memo_peers_[first_memos + 1];
    Polls polls_[Catalogue::most_counted];  // pages of calls that are not polled stay untouched
    Peers peers_;
    Message messages_[1u << message_bits];
    Requests requests_;  // last: its pages are not touched before the first request
};

}  // namespace mpiprof
