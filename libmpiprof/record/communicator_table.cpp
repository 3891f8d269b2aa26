// Records are published when they are taken, zeroed: a reader meets a communicator of which nothing is known yet.
#include "libmpiprof/record/communicator_table.h"

namespace mpiprof {

CommunicatorTable::Place CommunicatorTable::take(Image& image) {
    const Guard guard(lock_);
    const auto next = [&] {
        auto* record = static_cast<format::Communicator*>(
            image.next_record(table_, format::TableType::communicators, sizeof(format::Communicator), 16, 0));
        if (record) Image::publish(table_);
        return record;
    };
    if (used_ == 0) {  // record 0: not told apart
        if (!next()) return {nullptr, 0};
        used_ = 1;
    }
    format::Communicator* record = used_ < most ? next() : nullptr;
    if (!record) return {nullptr, 0};
    return {record, static_cast<std::uint16_t>(used_++)};
}

}  // namespace mpiprof
