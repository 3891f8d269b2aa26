// The datatypes that the program has made and not freed, each with the place that made it: what is left of them at
// MPI_Finalize is said in the report. They lie in the profile itself, so that nothing is to be done at the end. Small
// and lossy: a type whose slot is another's is not remembered. Asked by the runtime; neither locks nor waits.
#pragma once

#include "libmpiprof/format/table_of.h"
#include "libmpiprof/record/image.h"

namespace mpiprof {

class LiveTypes {
  public:
    // `from`: its call and the address that this returns to. True: it is the first.
    bool made(Image& image, Word type, std::uint64_t from) {
        const bool is_first = !slots_;
        if (is_first) open(image);
        if (!slots_) return false;
        format::LiveType& slot = slot_of(type);
        const auto handle = static_cast<std::uint64_t>(type);
        if (slot.handle != 0 && slot.handle != handle) return is_first;
        // The place first: what is counted as alive has one.
        relaxed(slot.made_from, from);
        relaxed(slot.handle, handle);
        return is_first;
    }
    // By any thread, inside any call.
    void ended(Word type) {
        if (!slots_) return;
        format::LiveType& slot = slot_of(type);
        if (slot.handle == static_cast<std::uint64_t>(type)) relaxed(slot.handle, std::uint64_t{0});
    }

  private:
    static constexpr unsigned bits = 9;
    format::LiveType& slot_of(Word type) { return slots_[short_hash<bits>(static_cast<std::uint64_t>(type))]; }
    [[gnu::noinline]] void open(Image& image) {
        format::Table* table =
            image.add_large_table(format::table_of<format::LiveType>, sizeof(format::LiveType), 1u << bits, 0);
        if (!table) return;
        __atomic_store_n(&table->used, table->capacity, __ATOMIC_RELEASE);
        slots_ = reinterpret_cast<format::LiveType*>(image.at(table->offset));
    }
    format::LiveType* slots_;  // null: none was made yet
};

}  // namespace mpiprof
