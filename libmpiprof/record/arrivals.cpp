// An arrival is whole when it has its number: a process may be killed at any moment.
#include "libmpiprof/record/arrivals.h"

#include "libmpiprof/record/rows.h"

namespace mpiprof {
namespace {

using namespace format;

void put(Arrival& to, const Arrival& from) {
    (void)__atomic_exchange_n(&to.number_and_call, 0, __ATOMIC_ACQUIRE);  // before what follows
    to.begin = from.begin;
    to.ticks_and_kind = from.ticks_and_kind;
    to.site = from.site;
    to.root = from.root;
    __atomic_store_n(&to.number_and_call, from.number_and_call, __ATOMIC_RELEASE);
}

}  // namespace

// Alone on a communicator nobody waits.
Arrivals::Kept* Arrivals::kept_of(Image& image, std::uint16_t index, const format::Communicator& communicator) {
    const Guard guard(lock_);
    for (unsigned i = 0; i < used_; ++i)
        if (kept_[i].communicator == index) return &kept_[i];
    if (used_ == most || communicator.size < 2) return nullptr;
    Table* table = nullptr;
    Arrival* arrivals = Rows<Arrival, arrivals_kept>::room_for(image, arrivals_kept, 0, table);
    if (!arrivals) return nullptr;
    table->communicator = index;
    __atomic_store_n(&table->used, static_cast<std::uint32_t>(arrivals_kept), __ATOMIC_RELEASE);
    kept_[used_] = {arrivals, 0, index};
    return &kept_[used_++];
}

// What is kept at the next level is among what is kept now. The sources lie behind their targets.
void Arrivals::halve(Kept& kept) {
    ++kept.level;
    for (std::uint64_t block = 0; block < arrivals_kept / 2; ++block) {
        const std::uint64_t from = arrival_of_block(block, kept.level) >> (kept.level - 1);
        if (from != block) put(kept.arrivals[block], kept.arrivals[from]);
    }
    for (std::uint64_t block = arrivals_kept / 2; block < arrivals_kept; ++block)
        kept.arrivals[block].number_and_call = 0;
}

void Arrivals::keep(Image& image, std::uint16_t index, CommunicatorTable::Counted& communicator,
                    const format::Arrival& arrival) {
    const std::uint64_t number = communicator.collectives;
    Kept* kept = kept_of(image, index, communicator);
    if (!kept) {
        communicator.next_arrival = no_arrival;
        return;
    }
    const unsigned level = arrival_level(number + 1);
    while (kept->level < level) halve(*kept);
    Arrival numbered = arrival;
    numbered.number_and_call |= (number + 1) << 16;
    put(kept->arrivals[number >> level], numbered);
    communicator.next_arrival = arrival_after(number);
}

}  // namespace mpiprof
