// Records are published when they are taken, zeroed: a reader meets a communicator of which nothing is known yet.
#include "libmpiprof/record/communicator_table.h"

namespace mpiprof {

CommunicatorTable::Slot CommunicatorTable::take(Image& image) {
    const Guard guard(lock_);
    if (used_ == 0) {  // record 0: not told apart
        if (!rows_.add(image, {})) return {nullptr, 0};
        used_ = 1;
    }
    if (given_back_count_ != 0) {
        const std::uint16_t index = given_back_[--given_back_count_];
        static_cast<format::Communicator&>(*at_[index]) = {};
        return {at_[index], index};
    }
    format::Communicator* record = used_ < most ? rows_.next(image) : nullptr;
    if (!record) return {nullptr, 0};
    rows_.publish();
    at_[used_] = static_cast<Counted*>(record);
    return {record, static_cast<std::uint16_t>(used_++)};
}

void CommunicatorTable::give_back(const Slot& slot) {
    const Guard guard(lock_);
    if (given_back_count_ < sizeof given_back_ / sizeof *given_back_) given_back_[given_back_count_++] = slot.index;
}

}  // namespace mpiprof
