// Keys are hashes of 64 bits. Where two messages have one, as two threads that send alike, neither is matched.
#include "report/messages/messages.h"

#include <algorithm>

namespace mpiprof::report {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
    hash ^= hash >> 33;
    hash *= 0xff51afd7ed558ccd;
    return hash ^ hash >> 33;
}

// 0: with whom, on which communicator or the how manieth it is is not known.
std::uint64_t key_of(const Profile& profile, const Event& event) {
    if (event.number == 0 || !event.peer || !event.tag || event.communicator >= profile.communicators.size()) return 0;
    const Communicator& communicator = profile.communicators[event.communicator];
    if (communicator.id == 0) return 0;
    const std::uint32_t from = event.is_send ? profile.rank : *event.peer,
                        to = event.is_send ? *event.peer : profile.rank;
    std::uint64_t key = mixed(communicator.id, std::uint64_t{from} << 32 | to);
    key = mixed(key, static_cast<std::uint32_t>(*event.tag));
    key = mixed(key, event.number);
    return key != 0 ? key : 1;
}

}  // namespace

MessageEnds::MessageEnds(const Profile& profile, const ThreadTrace& trace) : ends_(trace.events.size()) {
    const auto end_of = [&](const Event& event, std::uint64_t key) {
        return MessageEnd{.key = key,
                          .is_send = event.is_send,
                          .begin_ns = event.begin_ns,
                          .end_ns = event.end_ns(),
                          .is_posted = event.kind == EventKind::started,
                          .bytes = event.bytes,
                          .call = event.call,
                          .rank = profile.rank,
                          .peer = event.peer.value_or(0),
                          .tag = event.tag.value_or(0)};
    };
    // What may have been posted only, by when it was: a message arrives when the request is completed, which for a
    // blocking call is never said.
    std::unordered_map<std::uint64_t, std::size_t> posted;
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
        const Event& event = trace.events[i];
        const std::uint64_t key = event.is_send || event.is_receive ? key_of(profile, event) : 0;
        if (event.kind == EventKind::completed) {
            const auto found = posted.find(event.begin_ns);
            if (!event.is_receive && found != posted.end() && ends_[found->second] && ends_[found->second]->is_send) {
                ends_[found->second]->is_posted = true;
                ends_[found->second]->completed_ns = event.end_ns();
            } else if (key != 0 && event.is_receive) {
                ends_[i] = end_of(event, key);  // a persistent request, or one that received from anybody
            } else if (found != posted.end() && ends_[found->second]) {
                MessageEnd arrived = *ends_[found->second];
                arrived.end_ns = event.end_ns();
                if (event.bytes != 0) arrived.bytes = event.bytes;
                ends_[i] = arrived;
                ends_[found->second].reset();
            }
            if (found != posted.end()) posted.erase(found);
            continue;
        }
        if (key == 0) continue;
        if (event.kind == EventKind::started && event.is_receive) continue;  // said again when it is completed
        ends_[i] = end_of(event, key);
        if (event.kind == EventKind::call) posted[event.begin_ns] = i;
    }
}

void Messages::add(const MessageEnd& end, std::uint32_t rank) {
    if (end.is_send)
        sends_.push_back({end.key, end.begin_ns, rank});
    else
        receives_.push_back({end.key, end.end_ns, rank});
}

void Messages::match(const std::function<std::int64_t(std::uint32_t rank, std::uint64_t ns)>& time_of) {
    each_matched(sends_, receives_, [&](const Moment& send, const Moment& receive) {
        matched_.push_back(send.key);
        const std::int64_t early = time_of(send.rank, send.ns) - time_of(receive.rank, receive.ns);
        if (early > 0) ++backwards_;
        most_backwards_ns_ = std::max(most_backwards_ns_, early);
    });
}

std::uint64_t Messages::number(std::uint64_t key) const {
    const auto found = std::lower_bound(matched_.begin(), matched_.end(), key);
    return found != matched_.end() && *found == key ? static_cast<std::uint64_t>(found - matched_.begin()) + 1 : 0;
}

}  // namespace mpiprof::report
