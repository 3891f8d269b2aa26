// Choices that have the same key are added up; beyond most_kept keys only calls and sizes are told apart.
#include "report/merge/nccl_choices.h"

#include <algorithm>
#include <tuple>

namespace mpiprof::report {

void NcclChoicesPart::take(Key key, const Sums& sums) {
    if (sums_.size() >= most_kept && !sums_.contains(key)) {
        key.algorithm = key.protocol = "";
        key.channels = 0;
        key.tag = key.tag == 0 ? 0 : other_tags;
        key.comm_size = 0;
    }
    Sums& to = sums_[std::move(key)];
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

void NcclChoicesPart::absorb(NcclChoicesPart&& other) {
    for (const auto& [key, sums] : other.sums_) take(key, sums);
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

}  // namespace mpiprof::report
