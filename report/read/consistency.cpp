// Cells against histograms and peers, and each cell against what its own numbers allow.
#include "report/read/consistency.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace mpiprof::report {
namespace {

using Wide = unsigned __int128;

std::string name_of_bin(const Profile& profile, std::uint16_t call, std::uint8_t bin) {
    const std::string size = bin == 0 ? "" : fmt::format(" up to {} bytes", bin_max_bytes(bin));
    return profile.calls[call].name + size;
}

// Times are converted from ticks one by one, each rounded.
bool is_about(Wide small, Wide large) { return small <= large + large / 1000 + 1000; }

std::string wrong_with(const Cell& cell) {
    const std::uint64_t least_ns = cell.min_ns.value_or(0);
    const bool has_time = least_ns != 0 || cell.max_ns != 0;
    if (cell.calls == 0) return cell.bytes != 0 ? fmt::format("no calls, but {} bytes", cell.bytes) : "";
    const Wide most_bytes = Wide{cell.calls} * bin_max_bytes(cell.bin);
    const Wide least_bytes =
        cell.bin == 0 ? Wide{0} : Wide{cell.calls} * (cell.bin == 1 ? 1 : bin_max_bytes(cell.bin - 1u) + 1);
    if (cell.bytes > most_bytes || cell.bytes < least_bytes)
        return fmt::format("{} calls of this size cannot be {} bytes", cell.calls, cell.bytes);
    if (has_time && least_ns > cell.max_ns)
        return fmt::format("the shortest call took {} ns, the longest {} ns", least_ns, cell.max_ns);
    if (has_time && (!is_about(Wide{cell.calls} * least_ns, cell.time_ns) ||
                     !is_about(cell.time_ns, Wide{cell.calls} * cell.max_ns)))
        return fmt::format("{} calls of {} to {} ns cannot take {} ns", cell.calls, least_ns, cell.max_ns,
                           cell.time_ns);
    return "";
}

// A call more or less in the count, and it would add up.
bool is_nearly_right(Cell cell) {
    ++cell.calls;
    if (wrong_with(cell).empty()) return true;
    cell.calls -= 2;
    return cell.calls != 0 && wrong_with(cell).empty();
}

void look_at_cells(const Profile& profile, std::vector<Disagreement>& found) {
    for (const Cell& cell : profile.cells) {
        const Call& call = profile.calls[cell.call];
        if (call.treatment == Treatment::counted || call.is_sampled) continue;
        if (const std::string wrong = wrong_with(cell); !wrong.empty())
            found.push_back({name_of_bin(profile, cell.call, cell.bin) + ": " + wrong, is_nearly_right(cell)});
    }
}

// A thread has one call in flight at most.
void look_at_histograms(const Profile& profile, std::vector<Disagreement>& found) {
    if (profile.drops.histograms != 0) return;
    std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint8_t>, std::pair<std::uint64_t, std::uint64_t>> counts;
    for (const Histogram& histogram : profile.histograms) {
        std::uint64_t& durations = counts[{histogram.thread, histogram.call, histogram.bin}].second;
        for (std::uint32_t i = 0; i < histogram.buckets; ++i)
            durations += profile.buckets[histogram.first_bucket + i].calls;
    }
    for (const Cell& cell : profile.cells) counts[{cell.thread, cell.call, cell.bin}].first += cell.calls;
    for (const auto& [key, count] : counts) {
        const auto& [thread, index, bin] = key;
        const Call& call = profile.calls[index];
        const auto [calls, durations] = count;
        if (call.treatment == Treatment::counted || call.is_sampled || calls == durations) continue;
        found.push_back({fmt::format("{}: {} calls, {} durations", name_of_bin(profile, index, bin), calls, durations),
                         calls <= durations + 1 && durations <= calls + 1});
    }
}

// Peers count messages, cells the calls that carried them. Calls that start several persistent requests carry several;
// those to MPI_PROC_NULL none.
void look_at_peers(const Profile& profile, std::vector<Disagreement>& found) {
    std::uint64_t sends = 0, receives = 0, one_sided = 0, sent = 0, received = 0, done = 0;
    for (const Cell& cell : profile.cells) {
        const Traffic traffic = profile.calls[cell.call].traffic;
        if (traffic == Traffic::start && cell.calls != 0) return;
        if (traffic == Traffic::send || traffic == Traffic::exchange) sends += cell.calls;
        if (traffic == Traffic::receive || traffic == Traffic::exchange) receives += cell.calls;
        if (traffic == Traffic::one_sided) one_sided += cell.calls;
    }
    for (const Peer& peer : profile.peers) {
        (peer.kind == PeerKind::one_sided ? done : sent) += peer.sent.messages;
        (peer.kind == PeerKind::one_sided ? done : received) += peer.received.messages;
    }
    const auto compare = [&](std::uint64_t messages, std::uint64_t calls, const char* what) {
        if (messages > calls)
            found.push_back({fmt::format("{} {} peers, {} calls", messages, what, calls),
                             messages <= calls + profile.threads.size()});
    };
    compare(sent, sends, "messages to");
    compare(received, receives, "messages from");
    compare(done, one_sided, "one-sided operations with");
}

}  // namespace

std::vector<Disagreement> disagreements(const Profile& profile) {
    std::vector<Disagreement> found;
    if (profile.is_text) return found;  // mpitrace's text has neither
    look_at_cells(profile, found);
    look_at_histograms(profile, found);
    look_at_peers(profile, found);
    return found;
}

}  // namespace mpiprof::report
