// The part `nccl_choices`: what NCCL chose for its operations, added up over some of a job's ranks. Communicators of
// one size are one here, so it stays small in any job. Beyond `most_kept` keys only calls and sizes are told apart.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/model/nccl_operation.h"

namespace mpiprof::report {
namespace {

class NcclChoicesPart {
  public:
    void add(const RankProfile& from);
    void absorb(NcclChoicesPart&& other) {
        for (const auto& [key, sums] : other.sums_) take(key, sums);
    }
    void finish(Finishing& end);

  private:
    static constexpr std::size_t most_kept = 65536;  // no NCCL has so many; a damaged file may
    struct Key {
        std::uint16_t call = 0;
        std::uint8_t bin = 0;
        std::uint32_t comm_size = 0;
        std::string algorithm, protocol;
        std::uint8_t channels = 0;
        std::uint64_t tag = 0;
        auto operator<=>(const Key&) const = default;
    };
    struct Sums {
        std::uint64_t operations = 0, bytes = 0, called_elsewhere = 0;
    };
    void take(Key key, const Sums& sums);

    Keyed<Key, Sums, most_kept> sums_;
};

void NcclChoicesPart::take(Key key, const Sums& sums) {
    if (!sums_.has_room_for(key)) {
        key.algorithm = key.protocol = "";
        key.channels = 0;
        key.tag = key.tag == 0 ? 0 : other_tags;
        key.comm_size = 0;
    }
    Sums& to = sums_[key];
    to.operations += sums.operations;
    to.bytes += sums.bytes;
    to.called_elsewhere += sums.called_elsewhere;
}

void NcclChoicesPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    for (const NcclOperation& o : profile.nccl_operations) {
        const std::uint32_t size = o.communicator != 0 ? profile.communicators[o.communicator].size : 0;
        take({.call = from.calls[o.call],
              .bin = o.bin,
              .comm_size = size,
              .algorithm = o.algorithm,
              .protocol = o.protocol,
              .channels = o.channels,
              .tag = o.tag},
             {.operations = o.operations,
              .bytes = o.bytes,
              .called_elsewhere = o.is_called_elsewhere ? o.operations : 0});
    }
}

void NcclChoicesPart::finish(Finishing& end) {
    std::vector<NcclChoice>& choices = end.job.nccl_choices;
    for (const auto& [key, sums] : sums_)
        choices.push_back({.call = end.order[key.call],
                           .bin = key.bin,
                           .comm_size = key.comm_size,
                           .algorithm = key.algorithm,
                           .protocol = key.protocol,
                           .channels = key.channels,
                           .tag = key.tag,
                           .operations = sums.operations,
                           .bytes = sums.bytes,
                           .called_elsewhere = sums.called_elsewhere});
    std::stable_sort(choices.begin(), choices.end(), [](const NcclChoice& a, const NcclChoice& b) {
        return std::tie(a.call, a.bin, a.comm_size, b.operations) < std::tie(b.call, b.bin, b.comm_size, a.operations);
    });
}

}  // namespace

std::unique_ptr<MergePart> nccl_choices_part() { return std::make_unique<PartOf<NcclChoicesPart>>(); }

}  // namespace mpiprof::report
