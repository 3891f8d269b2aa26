// A communicator is known here by its context: NCCL hands out the address of a member of the communicator for us to
// fill in, so that address and handle differ by the same for all communicators of that NCCL. It is learned from those
// of which both are seen.
#include "libmpiprof/nccl/contexts.h"

#include "libmpiprof/base/text.h"
#include "libmpiprof/nccl/library.h"

namespace mpiprof::nccl {

constinit Contexts contexts{};
constinit OwnHandles own_handles{};

namespace {

bool is_the_same_seat(const Context& a, const Context& b) { return a.hash == b.hash && a.rank == b.rank; }

std::uint64_t id_of(const Context& context) {
    return context.hash == 0 ? 0 : hash_of_id(hash_of_id(8, context.hash), context.earlier);
}

// Into the profile, with the first operation on it.
void publish(Records& records, Context& context) {
    const CommunicatorTable::Slot slot = records.communicators.take(records.image);
    if (!slot.record) return count_drop(records.image.header().drops.communicators);
    format::Communicator& record = *slot.record;
    record.id = id_of(context);
    record.size = static_cast<std::uint32_t>(context.size);
    record.rank = static_cast<std::uint32_t>(context.rank);
    record.handle = record.fortran_handle = static_cast<std::uint64_t>(context.address);
    record.how = format::origin_unknown;
    copy(record.name, context.name);
    context.index = slot.index;
}

}  // namespace

Context& Contexts::take(Word address) {
    for (unsigned i = 0; i < most; ++i) {
        Context& c = contexts_[i];
        if (c.address != 0) continue;
        c = {};
        c.address = address;
        if (i >= highest_) highest_ = i + 1;
        return c;
    }
    return nowhere_;
}

// Communicators are made in the same order by all their members, so those that NCCL gives one hash are told apart by
// that.
void Contexts::number(Context& context) {
    for (unsigned i = 0; i < highest_; ++i) {
        const Context& other = contexts_[i];
        if (&other == &context || other.hash == 0 || !is_the_same_seat(other, context)) continue;
        if (other.earlier >= context.earlier) context.earlier = other.earlier + 1;
    }
}

// Several GPUs of this process may be members: then there are as many fewer processes.
void Contexts::tell_world(const Context& context) const {
    int here = 0, lowest = context.rank;
    for (unsigned i = 0; i < highest_; ++i) {
        const Context& c = contexts_[i];
        if (c.address == 0 || c.hash != context.hash || c.earlier != context.earlier) continue;
        ++here;
        if (c.rank < lowest) lowest = c.rank;
    }
    if (here > 0 && context.size > 0 && context.size % here == 0)
        runtime.learn_world(static_cast<unsigned>(lowest / here), static_cast<unsigned>(context.size / here), here > 1);
}

Context& Contexts::begin(const Seat& seat) {
    const Guard guard(lock_);
    Context& made = take(seat.address);
    if (is_nowhere(made)) return made;
    made.is_through_us = seat.is_through_us;
    made.rank = seat.rank;
    made.size = seat.size;
    if (seat.name) copy(made.name, seat.name);
    if (seat.hash == 0) return made;
    made.hash = seat.hash;
    number(made);
    if (!made.is_through_us) tell_world(made);
    return made;
}

void Contexts::end(Context& context) {
    const Guard guard(lock_);
    if (!is_nowhere(context)) context.address = 0;
}

void Contexts::learn(Context& context, const Told& told) {
    if (is_nowhere(context) || context.hash != 0 || told.hash == 0) return;
    const Guard guard(lock_);
    if (context.hash != 0) return;
    context.rank = told.rank;
    if (told.communicator) copy(context.name, told.communicator);
    context.hash = told.hash;
    number(context);
}

// The communicator that our wrappers know behind a context; 0: none of these, or not sure which.
std::uint16_t Contexts::known_index(Records& records, const Context& context, Word handle_in_hand) const {
    if (handle_in_hand != no_handle) return library.communicators.find(records, handle_in_hand).index;
    const Word offset = offset_.load(std::memory_order_relaxed);
    if (offset != 0)
        if (const std::uint16_t index = library.communicators.known_index(records, context.address - offset))
            return index;
    return library.communicators.only_index(records, context.rank, context.size);
}

void Contexts::learn_offset(const Context& context, Word handle) {
    constexpr Word largest_communicator = Word{1} << 26;
    const Word offset = context.address - handle;
    if (offset > 0 && offset < largest_communicator) offset_.store(offset, std::memory_order_relaxed);
}

std::uint16_t Contexts::index_of(Records& records, Context& context, Word handle_in_hand) {
    if (context.index != 0 || is_nowhere(context)) return context.index;
    if (context.is_through_us && handle_in_hand != no_handle) learn_offset(context, handle_in_hand);
    const std::uint16_t known =
        context.is_through_us ? known_index(records, context, handle_in_hand) : std::uint16_t{0};
    const Guard guard(lock_);
    if (context.index == 0 && !context.is_through_us)
        publish(records, context);
    else if (known != 0)
        context.index = known;
    return context.index;
}

void Contexts::expect(int n) {
    if (n > 0) expected_.fetch_add(n, std::memory_order_relaxed);
}

bool Contexts::is_expected() {
    int n = expected_.load(std::memory_order_relaxed);
    while (n > 0)
        if (expected_.compare_exchange_weak(n, n - 1, std::memory_order_relaxed)) return true;
    return false;
}

}  // namespace mpiprof::nccl
