// The ledger's side of requests: posting, starting, completing. Called after the real call, outside the timed interval.
#include "libmpiprof/record/ledger.h"

namespace mpiprof {

bool Ledger::remember(const Requests::Request& request) {
    const Requests::Put put = requests_.put(request);
    if (put != Requests::Put::shared) return put == Requests::Put::done;
    // A library gives one handle to all sends that are complete when they return: the older one is, then. Each will be
    // waited for by that handle.
    Requests::Request& older = *requests_.find(request.handle);
    book(older, request.since, 0);
    older.posted_by = request.posted_by;
    older.since = request.since;
    older.more += older.more == 0 ? 2 : 1;
    return true;
}

void Ledger::set_up(Word handle, Bytes bytes, std::uint16_t call) {
    format::Histogram* h = histogram(call, static_cast<std::uint8_t>(format::size_bin(bytes)));
    if (!h || !remember({handle, h, 0, bytes | Requests::persistent})) count_unknown_request();
}

Bytes Ledger::start(Word handle, Ticks since) {
    Requests::Request* request = requests_.find(handle);
    if (!request || !request->is_persistent()) {
        count_unknown_request();
        return 0;
    }
    request->since = since;
    return request->more - Requests::persistent;
}

void Ledger::forget_request(Word handle) {
    if (Requests::Request* request = requests_.find(handle)) requests_.drop(*request);
}

Word* Ledger::room_for_handles(std::int64_t n) {
    if (n <= handles_capacity_) return handles_;
    const std::int64_t capacity = n < 512 ? 512 : n + n / 2;
    auto* larger = static_cast<Word*>(private_pages(static_cast<std::size_t>(capacity) * sizeof(Word)));
    if (!larger) return nullptr;
    if (handles_) munmap(handles_, static_cast<std::size_t>(handles_capacity_) * sizeof(Word));
    handles_ = larger;
    handles_capacity_ = capacity;
    return handles_;
}

}  // namespace mpiprof
