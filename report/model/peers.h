// Who sends how much to whom: between two ranks, each way, as the sender and as the receiver counted it. merge/ makes
// it of what each rank's profile says of its peers; sections and exports ask.
#pragma once

#include <cstdint>
#include <vector>

namespace mpiprof::report {

enum class PeerKind : std::uint8_t {
    messages,
    one_sided,  // Put, Get, Accumulate ...: only the rank that made them has counted them
};

struct Flow {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;  // in the calls that sent, received or posted it

    Flow& operator+=(const Flow& other) {
        messages += other.messages;
        bytes += other.bytes;
        time_ns += other.time_ns;
        return *this;
    }
    bool operator==(const Flow&) const = default;
};

// What one rank exchanged with another, over its threads.
struct Peer {
    std::uint32_t rank = 0;  // of MPI_COMM_WORLD
    PeerKind kind = PeerKind::messages;
    Flow sent;      // one-sided: put there
    Flow received;  // one-sided: fetched from there
};

// The same where the partner is no single rank.
struct VaguePeers {
    Flow received_from_any;               // MPI_ANY_SOURCE, and no status told who it was
    Flow sent_unknown, received_unknown;  // of another world, or a communicator that could not be asked
    Flow sent_others, received_others;    // further peers than are told apart

    VaguePeers& operator+=(const VaguePeers& other) {
        received_from_any += other.received_from_any;
        sent_unknown += other.sent_unknown;
        received_unknown += other.received_unknown;
        sent_others += other.sent_others;
        received_others += other.received_others;
        return *this;
    }
    bool operator==(const VaguePeers&) const = default;
    bool hides_received() const {
        return received_from_any.messages + received_unknown.messages + received_others.messages != 0;
    }
    bool hides_sent() const { return sent_unknown.messages + sent_others.messages != 0; }
};

// What travelled from one rank to another.
struct PeerPair {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    PeerKind kind = PeerKind::messages;
    Flow sent{};      // as `from` counted it; one-sided: what it put
    Flow received{};  // as `to` counted it; one-sided: what it fetched

    // What is known of it best: the sender counted what it sent, a receiver may have counted its buffers.
    std::uint64_t messages() const {
        return kind == PeerKind::one_sided ? sent.messages + received.messages : best().messages;
    }
    std::uint64_t bytes() const { return kind == PeerKind::one_sided ? sent.bytes + received.bytes : best().bytes; }
    std::uint64_t time_ns() const { return sent.time_ns + received.time_ns; }

  private:
    const Flow& best() const { return sent.messages != 0 ? sent : received; }
};

// Ranks of which not all is told by pair.
struct VagueRank {
    std::uint32_t rank = 0;
    bool hides_sent = false;
    bool hides_received = false;
};

struct Peers {
    bool is_recorded = false;            // some profile has peers
    std::vector<PeerPair> pairs;         // sorted by from, to, kind
    VaguePeers vague;                    // of all ranks
    std::vector<VagueRank> vague_ranks;  // sorted
    std::uint32_t most_of_rank = 0;      // so many peers of each rank are told apart in a job of this size; 0 = all
};

}  // namespace mpiprof::report
