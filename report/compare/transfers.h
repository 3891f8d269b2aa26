// How fast data moved between two ranks: each message with its time from the moment at which both sides were there,
// where the job has a trace, else what receiving took by size. Values; transfer_tables puts them into lines and tables.
// It knows no file: the command hands over profiles, one after the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/analysis/peer_places.h"
#include "report/messages/clocks.h"
#include "report/messages/messages.h"
#include "report/model/job.h"
#include "report/model/result.h"

namespace mpiprof::report {

// Whose memory a message left and where it arrived. Empty: the profile does not tell, or calls of one size used both.
struct BufferPath {
    std::optional<Buffer> from, to;
    auto operator<=>(const BufferPath&) const = default;
};

struct Transfer {
    std::uint64_t key = 0;  // of the message, over looks at a running job
    std::uint32_t from = 0, to = 0;
    std::uint64_t bytes = 0;
    std::int32_t tag = 0;
    std::int64_t posted_ns = 0;     // when both sides were there, since the first rank left MPI_Init
    std::uint64_t ns = 0;           // from then until the receiver had it; never 0
    bool returned_early = false;    // a blocking send that was over long before the message was there
    bool includes_waiting = false;  // the clocks of the two cannot be compared: the time is the receiver's
    Nearness distance = Nearness::unknown;
    BufferPath buffers;

    double bytes_per_second() const { return static_cast<double>(bytes) / static_cast<double>(ns) * 1e9; }
    std::int64_t done_ns() const { return posted_ns + static_cast<std::int64_t>(ns); }
};

// The fastest that each way can be, as the user says. In bytes per second; empty: not said.
struct Peaks {
    std::optional<double> net, memory, host_to_device, device_to_host, device_to_device;

    bool are_known() const { return net || memory || host_to_device || device_to_host || device_to_device; }
    // Of what goes from these buffers so far.
    std::optional<double> of(Nearness distance, const BufferPath& buffers) const;
    std::optional<double> of(GpuWorkKind copies) const;
};
// "net=10Gbit,h2d=12GB": bits or bytes per second.
Result<Peaks> peaks_of(const std::string& text);

// Messages of one size bin, distance and kind of buffers; or without a trace the receives of one call.
struct TransferClass {
    Nearness distance = Nearness::unknown;
    BufferPath buffers;
    std::uint8_t bin = 0;
    std::string call;           // without a trace
    bool is_both_ways = false;  // its size is that of what was sent and received together
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t early = 0;                           // of the messages: their send returned early
    std::optional<double> low_ns, middle_ns, high_ns;  // 5th, 50th and 95th percentile; without a trace 99th
    double ns = 0;                                     // of all messages
    double bytes_per_second = 0;                       // of the one in the middle, or the mean where that is not known
    std::optional<double> best_bytes_per_second;

    double size() const { return messages != 0 ? static_cast<double>(bytes) / static_cast<double>(messages) : 0; }
};

struct TransferPair {
    std::uint32_t from = 0, to = 0;
    Nearness distance = Nearness::unknown;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    double ns = 0;
    std::uint64_t largest_bytes = 0;
    double largest_rate = 0;  // the middle one of its largest messages

    double bytes_per_second() const { return ns > 0 ? static_cast<double>(bytes) / ns * 1e9 : 0; }
};

// The transfers of one run and what explains them.
struct TransferRun {
    std::string label;
    std::string in_a_line{};  // what ran when, on how many ranks
    bool is_traced = false;
    std::vector<Transfer> transfers;      // in the order in which they were done
    std::vector<TransferClass> classes;   // by distance, buffers, call, size
    std::vector<TransferClass> receives;  // the classes that there are without a trace
    std::vector<GpuWork> copies;          // by CUPTI
    std::string mpi_library;
    std::optional<bool> is_cuda_aware;
    std::optional<bool> has_gpudirect_rdma;
    std::map<std::string, std::string> environment;  // variables that MPI reads, of most ranks
    std::uint64_t unmatched = 0;                     // ends of messages whose other end is not known
    std::uint64_t lost_events = 0;                   // older ones that made room for these
    std::vector<std::uint32_t> untraced_ranks;
    bool has_several_nodes = false;
    std::optional<std::uint64_t> clock_error_ns;  // of clocks of several nodes, where they were measured
};

std::vector<TransferClass> classes_of(const std::vector<Transfer>& transfers);
std::vector<TransferPair> pairs_of(const std::vector<Transfer>& transfers);
std::vector<TransferPair> distances_of(const std::vector<Transfer>& transfers);  // from, to: nothing

// Fed with the profiles of a run, with their events.
class TransferReader {
  public:
    explicit TransferReader(const Job& job) : job_(job), places_(job) {}
    void add(const Profile& profile);
    TransferRun finish(std::string label);

  private:
    struct End : MessageEnd {
        std::optional<Buffer> buffer;
    };
    Transfer transfer_of(const End& send, const End& receive) const;

    const Job& job_;
    RankPlaces places_;
    Clocks clocks_;
    std::vector<End> sends_, receives_;
    TransferRun run_;
    bool has_peer_memory_ = false;
};

}  // namespace mpiprof::report
