// A graph has few kinds of operations (one call, size and communicator each) and programs have up to thousands of
// graphs: lists of entries in pages of our own, found by their handles, and gone with them.
#include "libmpiprof/gpu/graphs.h"

#include "libmpiprof/format/facts.h"
#include "libmpiprof/gpu/platform.h"

namespace mpiprof::gpu {

constinit Graphs graphs{};

namespace {
// The two names that the function has had since it tells the same: the older one is left in all drivers.
constexpr char capture_info_names[] = "?cuStreamGetCaptureInfo_v2\0?cuStreamGetCaptureInfo\0";
constexpr int capturing = 1;
}  // namespace

Word Graphs::capture_of(Word stream) {
    if (!is_capturing() || !runtime.is_recording()) return 0;
    auto ask = capture_info_.load(std::memory_order_relaxed);
    if (!ask) {
        void* found[2] = {};
        const InUse in_use = look_for_gpu();
        if (in_use.platform != Platform::cuda || !find_functions(in_use.library, capture_info_names, found)) return 0;
        ask = reinterpret_cast<decltype(ask)>(found[0] ? found[0] : found[1]);
        if (!ask) return 0;
        capture_info_.store(ask, std::memory_order_relaxed);
    }
    int status = 0;
    std::uint64_t id = 0;
    return ask(stream, &status, &id, 0, 0, 0, 0) == success && status == capturing ? static_cast<Word>(id) : 0;
}

// ---- entries ----

// The place that names it, in its list; the place behind the last one if there is none. Null: there is no memory.
std::uint32_t* Graphs::find(Kind kind, Word handle) {
    if (!pages_) return nullptr;
    std::uint32_t* place =
        &pages_->head[mix(static_cast<std::uint64_t>(handle) + static_cast<std::uint64_t>(kind)) % heads];
    while (*place && (pages_->entry[*place].handle != handle || pages_->entry[*place].kind != kind))
        place = &pages_->entry[*place].next;
    return place;
}

Graphs::Entry* Graphs::entry_of(Kind kind, Word handle) {
    const std::uint32_t* place = find(kind, handle);
    return place && *place ? &pages_->entry[*place] : nullptr;
}

Graphs::Entry* Graphs::make(Kind kind, Word handle) {
    if (!pages_) pages_ = static_cast<Pages*>(private_pages(sizeof(Pages)));
    std::uint32_t* place = find(kind, handle);
    if (!place) return nullptr;
    if (*place) return &pages_->entry[*place];
    std::uint32_t index = free_;
    if (index)
        free_ = pages_->entry[index].next;
    else if (used_ + 1 < most_entries)
        index = ++used_;
    if (index == 0) return nullptr;
    *place = index;
    Entry& entry = pages_->entry[index];
    entry = {};
    entry.kind = kind;
    entry.handle = handle;
    return &entry;
}

void Graphs::erase(Kind kind, Word handle) {
    std::uint32_t* place = find(kind, handle);
    if (!place || !*place) return;
    const std::uint32_t index = *place;
    Entry& entry = pages_->entry[index];
    *place = entry.next;
    entry.next = free_;
    free_ = index;
}

void Graphs::lose() {
    if (!has_lost_) runtime.note_fact(format::facts::graphs_followed, format::facts::no);
    has_lost_ = true;
}

void Graphs::add(Entry* to, const Item& item) {
    if (!to) return lose();
    Content& content = to->content;
    for (unsigned i = 0; i < content.count; ++i) {
        Item& known = content.items[i];
        if (known.call != item.call || known.communicator != item.communicator || known.bin != item.bin) continue;
        known.operations += item.operations;
        known.bytes += item.bytes;
        return;
    }
    if (content.count == most_items) return lose();
    content.items[content.count++] = item;
}

void Graphs::add(Kind kind, Word handle, const Content& content) {
    if (content.count == 0) return;
    Entry* to = make(kind, handle);
    for (unsigned i = 0; i < content.count; ++i) add(to, content.items[i]);
}

// An earlier one of the same handle is gone, whatever it was.
void Graphs::replace(Kind kind, Word handle, Kind from_kind, Word from) {
    const Entry* found = entry_of(from_kind, from);
    const Content content = found ? found->content : Content{};
    erase(kind, handle);
    add(kind, handle, content);
}

// ---- captures ----

template <class Work>
void Graphs::if_of_use(Work work) {
    if (!is_of_use()) return;
    const Guard guard(lock_);
    work();
}

void Graphs::enqueued(Word stream, const Booked& what) {
    const Word capture = capture_of(stream);
    if (capture == 0) return;
    if (!has_any_.exchange(true, std::memory_order_relaxed))
        runtime.note_fact(format::facts::graphs_followed, format::facts::yes);
    const Guard guard(lock_);
    add(make(Kind::capture, capture), {what.call, what.communicator, what.bin, 1, what.bytes});
}

void Graphs::enqueued_unrecorded(Word stream) {
    if (capture_of(stream) == 0) return;
    const Guard guard(lock_);
    lose();
}

void Graphs::end_capture(Word capture, Word graph) {
    for (unsigned open = open_captures_.load(std::memory_order_relaxed);
         open != 0 && !open_captures_.compare_exchange_weak(open, open - 1, std::memory_order_relaxed);) {
    }
    if (capture == 0 || !is_of_use()) return;
    const Guard guard(lock_);
    if (graph) replace(Kind::graph, graph, Kind::capture, capture);
    erase(Kind::capture, capture);
}

void Graphs::begin_capture_to(Word graph, Word stream) {
    begin_capture();
    const Word capture = is_of_use() ? capture_of(stream) : 0;
    if (capture == 0) return;
    const Guard guard(lock_);
    replace(Kind::capture, capture, Kind::graph, graph);
}

// ---- graphs ----

void Graphs::copy(Word graph, Word from) {
    if_of_use([&] { replace(Kind::graph, graph, Kind::graph, from); });
}

void Graphs::add_child(Word graph, Word child) {
    if (!is_of_use()) return;
    const Guard guard(lock_);
    const Entry* of_child = entry_of(Kind::graph, child);
    const Content content = of_child ? of_child->content : Content{};
    add(Kind::graph, graph, content);
}

void Graphs::forget(Word graph) {
    if_of_use([&] { erase(Kind::graph, graph); });
}

void Graphs::instantiate(Word executable, Word graph) {
    if_of_use([&] { replace(Kind::executable, executable, Kind::graph, graph); });
}

void Graphs::forget_executable(Word executable) {
    if_of_use([&] { erase(Kind::executable, executable); });
}

void Graphs::launch(Word executable, Word stream) {
    if (!is_of_use()) return;
    const Word capture = capture_of(stream);
    Content content{};
    {
        const Guard guard(lock_);
        const Entry* of = entry_of(Kind::executable, executable);
        if (!of) return;
        content = of->content;
        if (capture != 0) return add(Kind::capture, capture, content);
    }
    if (gate_epoch() == 0) return;
    for (unsigned i = 0; i < content.count; ++i) {
        const Item& item = content.items[i];
        times.count({item.call, item.bin, item.communicator, format::replays, item.bytes, 0, 0, 0}, item.operations);
    }
}

}  // namespace mpiprof::gpu
