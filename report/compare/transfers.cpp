// From two ends of a message to its time.
#include "report/compare/transfers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <tuple>

#include "report/sections/run_headline.h"
#include "report/statistics/statistics.h"

namespace mpiprof::report {
namespace {

// A send that was over before so much of the transfer's time had passed did not wait for it.
constexpr double early_share = 0.9;

// Whose memory the calls of one function and size used, where they all used one kind. A message of a Sendrecv or of a
// persistent request has another size than its call, or another call than the one that waits: of these all calls of the
// function tell, or all that the rank made, as far as they used one kind.
class Buffers {
  public:
    explicit Buffers(const Profile& profile) {
        for (const Cell& cell : profile.cells) {
            if (cell.calls == 0 || cell.bytes == 0) continue;
            note(of_size_, std::pair(cell.call, cell.bin), cell.buffer);
            note(of_call_, cell.call, cell.buffer);
            note(of_rank_, 0, cell.buffer);
        }
    }
    std::optional<Buffer> of(std::uint16_t call, std::uint64_t bytes) const {
        const std::pair size(call, static_cast<std::uint8_t>(size_bin(bytes)));
        if (const auto found = of_size_.find(size); found != of_size_.end()) return found->second;
        if (const auto found = of_call_.find(call); found != of_call_.end()) return found->second;
        return of_rank_.empty() ? std::nullopt : of_rank_.begin()->second;
    }

  private:
    // Empty: of several kinds.
    using Kind = std::optional<Buffer>;
    template <class Kinds, class Key>
    static void note(Kinds& kinds, const Key& key, Buffer buffer) {
        const auto [found, is_new] = kinds.try_emplace(key, buffer);
        if (!is_new && found->second != buffer) found->second.reset();
    }

    std::map<std::pair<std::uint16_t, std::uint8_t>, Kind> of_size_;
    std::map<std::uint16_t, Kind> of_call_;
    std::map<int, Kind> of_rank_;
};

struct Sample {
    std::vector<double> ns, rates;
};

TransferClass settled(TransferClass one, Sample& sample) {
    std::sort(sample.ns.begin(), sample.ns.end());
    std::sort(sample.rates.begin(), sample.rates.end());
    one.low_ns = quantile_of(sample.ns, 0.05);
    one.middle_ns = quantile_of(sample.ns, 0.5);
    one.high_ns = quantile_of(sample.ns, 0.95);
    one.bytes_per_second = quantile_of(sample.rates, 0.5);
    one.best_bytes_per_second = sample.rates.back();
    return one;
}

// Without a trace: what the receiving calls took. Where they posted requests, from there to their completion.
std::vector<TransferClass> receives_of(const Job& job) {
    std::vector<TransferClass> classes;
    for (const Row& row : job.rows) {
        const Call& call = job.calls[row.sum.call];
        const bool receives = call.traffic == Traffic::receive || call.traffic == Traffic::exchange;
        if (!receives || call.treatment != Treatment::timed || row.sum.bytes == 0) continue;
        TransferClass one{.buffers = {std::nullopt, row.sum.buffer},
                          .bin = row.sum.bin,
                          .call = call.name,
                          .is_both_ways = call.traffic == Traffic::exchange,
                          .messages = row.sum.calls,
                          .bytes = row.sum.bytes,
                          .low_ns = row.p05_ns,
                          .middle_ns = row.p50_ns,
                          .high_ns = row.p99_ns,
                          .ns = static_cast<double>(row.sum.time_ns),
                          .best_bytes_per_second = {}};
        if (row.requests != 0) {
            one.low_ns = one.middle_ns = one.high_ns = std::nullopt;
            one.ns = static_cast<double>(row.in_flight_ns) / static_cast<double>(row.requests) *
                     static_cast<double>(row.sum.calls);
        }
        const double typical = one.middle_ns.value_or(one.ns / static_cast<double>(one.messages));
        if (typical > 0) one.bytes_per_second = one.size() / typical * 1e9;
        classes.push_back(std::move(one));
    }
    return classes;
}

struct PeakName {
    std::string_view name;
    std::optional<double> Peaks::*to;
};
constexpr PeakName peak_names[] = {{"net", &Peaks::net},
                                   {"memory", &Peaks::memory},
                                   {"h2d", &Peaks::host_to_device},
                                   {"d2h", &Peaks::device_to_host},
                                   {"d2d", &Peaks::device_to_device}};

// "10Gbit", "12.5GB/s", "100Gbps": bytes per second.
std::optional<double> rate_of(std::string_view text) {
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{} || !std::isfinite(number) || number <= 0) return std::nullopt;
    std::string_view unit = text.substr(static_cast<std::size_t>(read.ptr - text.data()));
    if (unit.ends_with("/s")) unit.remove_suffix(2);
    constexpr std::pair<char, double> powers[] = {{'k', 1e3}, {'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}};
    const auto* const power = std::find_if(std::begin(powers), std::end(powers),
                                           [&](const auto& one) { return unit.starts_with(one.first); });
    if (power == std::end(powers)) return std::nullopt;
    unit.remove_prefix(1);
    for (const std::string_view bits : {"bit", "bps", "b", "bits"})
        if (unit == bits) return number * power->second / 8;
    return unit == "B" ? std::optional(number * power->second) : std::nullopt;
}

}  // namespace

std::optional<double> Peaks::of(Nearness distance, const BufferPath& buffers) const {
    if (distance == Nearness::other_node) return net;
    if (!buffers.from || !buffers.to) return std::nullopt;
    const bool from_device = *buffers.from != Buffer::host, to_device = *buffers.to != Buffer::host;
    if (from_device) return to_device ? device_to_device : device_to_host;
    return to_device ? host_to_device : memory;
}

std::optional<double> Peaks::of(GpuWorkKind copies) const {
    switch (copies) {
        case GpuWorkKind::host_to_device:
            return host_to_device;
        case GpuWorkKind::device_to_host:
            return device_to_host;
        case GpuWorkKind::device_to_device:
            return device_to_device;
        default:
            return std::nullopt;
    }
}

Result<Peaks> peaks_of(const std::string& text) {
    Peaks peaks;
    std::istringstream in(text);
    for (std::string item; std::getline(in, item, ',');) {
        const auto equals = item.find('=');
        const std::string name = item.substr(0, equals);
        const auto* const known = std::find_if(std::begin(peak_names), std::end(peak_names),
                                               [&](const PeakName& one) { return one.name == name; });
        const auto rate = equals == std::string::npos ? std::nullopt : rate_of(item.substr(equals + 1));
        if (known == std::end(peak_names))
            return problem("--peak " + text, "knows net, memory, h2d, d2h and d2d", "try net=10Gbit,memory=12GB");
        if (!rate) return problem("--peak " + text, "is no rate", "try net=10Gbit or memory=12GB");
        peaks.*known->to = rate;
    }
    if (!peaks.are_known()) return problem("--peak " + text, "is no rate", "try net=10Gbit or memory=12GB");
    return peaks;
}

void TransferReader::add(const Profile& profile) {
    clocks_.meet(profile);
    has_peer_memory_ |= profile.has_peer_memory;
    if (profile.traces.empty()) run_.untraced_ranks.push_back(profile.rank);
    const Buffers buffers(profile);
    for (const ThreadTrace& trace : profile.traces) {
        run_.is_traced = true;
        run_.lost_events += trace.lost;
        const MessageEnds ends(profile, trace);
        for (std::size_t i = 0; i < trace.events.size(); ++i) {
            if (!ends.at(i)) continue;
            const MessageEnd& end = *ends.at(i);
            (end.is_send ? sends_ : receives_).push_back({end, buffers.of(end.call, end.bytes)});
        }
    }
}

Transfer TransferReader::transfer_of(const End& send, const End& receive) const {
    Transfer one{.key = send.key,
                 .from = send.rank,
                 .to = receive.rank,
                 .bytes = send.bytes,
                 .tag = send.tag,
                 .distance = places_.between(send.rank, receive.rank),
                 .buffers = {send.buffer, receive.buffer}};
    const std::int64_t done = clocks_.at(receive.rank, receive.end_ns);
    const std::int64_t there = clocks_.at(receive.rank, receive.begin_ns);
    one.posted_ns = there;
    one.includes_waiting = !clocks_.agree(send.rank, receive.rank);
    if (!one.includes_waiting) {
        const std::int64_t both = std::max(there, clocks_.at(send.rank, send.begin_ns));
        // A message that was received before it was sent: the clocks are not known as well as that.
        one.includes_waiting = both >= done;
        if (!one.includes_waiting) one.posted_ns = both;
    }
    one.ns = static_cast<std::uint64_t>(std::max<std::int64_t>(done - one.posted_ns, 1));
    if (!one.includes_waiting && !send.is_posted) {
        const auto sent = static_cast<double>(clocks_.at(send.rank, send.end_ns) - one.posted_ns);
        one.returned_early = sent < early_share * static_cast<double>(one.ns);
    }
    return one;
}

TransferRun TransferReader::finish(std::string label) {
    run_.label = std::move(label);
    run_.in_a_line = run_in_a_line(job_);
    run_.mpi_library = job_.mpi_library;
    run_.is_cuda_aware = job_.is_cuda_aware;
    run_.copies = job_.gpu.work;
    run_.has_several_nodes = job_.nodes.size() > 1;
    const auto& nodes = job_.placement.nodes;
    const bool needs_none = !nodes.empty() && std::ranges::all_of(nodes, [](const NodeFacts& node) {
        return node.is_known() && (node.gpus.empty() || node.adapters.empty());
    });
    if (has_peer_memory_)
        run_.has_gpudirect_rdma = true;
    else if (needs_none)
        run_.has_gpudirect_rdma = false;
    for (const Variable& variable : job_.placement.variables)
        if (!variable.values.empty() && variable.values.front().value)
            run_.environment[variable.name] = *variable.values.front().value;
    run_.receives = receives_of(job_);
    if (!run_.is_traced) {
        run_.classes = run_.receives;
        return std::move(run_);
    }
    clocks_.settle();
    if (run_.has_several_nodes && clocks_.are_measured()) run_.clock_error_ns = clocks_.largest_error_ns();
    std::uint64_t matched = 0;
    each_matched(sends_, receives_, [&](const End& send, const End& receive) {
        ++matched;
        if (send.bytes != 0) run_.transfers.push_back(transfer_of(send, receive));
    });
    run_.unmatched = sends_.size() + receives_.size() - 2 * matched;
    std::stable_sort(run_.transfers.begin(), run_.transfers.end(),
                     [](const Transfer& a, const Transfer& b) { return a.done_ns() < b.done_ns(); });
    run_.classes = classes_of(run_.transfers);
    return std::move(run_);
}

std::vector<TransferClass> classes_of(const std::vector<Transfer>& transfers) {
    using Key = std::tuple<Nearness, BufferPath, unsigned>;
    std::map<Key, std::pair<TransferClass, Sample>> classes;
    for (const Transfer& one : transfers) {
        auto& [to, sample] = classes[Key{one.distance, one.buffers, size_bin(one.bytes)}];
        to.distance = one.distance;
        to.buffers = one.buffers;
        to.bin = static_cast<std::uint8_t>(size_bin(one.bytes));
        ++to.messages;
        to.bytes += one.bytes;
        to.early += one.returned_early;
        to.ns += static_cast<double>(one.ns);
        sample.ns.push_back(static_cast<double>(one.ns));
        sample.rates.push_back(one.bytes_per_second());
    }
    std::vector<TransferClass> result;
    for (auto& [key, both] : classes) result.push_back(settled(std::move(both.first), both.second));
    return result;
}

namespace {

// The sums of transfers with the same key, and the rate of the largest of them.
template <class KeyOf>
auto summed(const std::vector<Transfer>& transfers, KeyOf key_of) {
    std::map<decltype(key_of(transfers.front())), TransferPair> sums;
    for (const Transfer& one : transfers) {
        TransferPair& to = sums[key_of(one)];
        ++to.messages;
        to.bytes += one.bytes;
        to.ns += static_cast<double>(one.ns);
        to.largest_bytes = std::max(to.largest_bytes, one.bytes);
    }
    std::map<decltype(key_of(transfers.front())), std::vector<double>> rates;
    for (const Transfer& one : transfers)
        if (size_bin(one.bytes) == size_bin(sums[key_of(one)].largest_bytes))
            rates[key_of(one)].push_back(one.bytes_per_second());
    for (auto& [key, sum] : sums) sum.largest_rate = median_of(rates[key]);
    return sums;
}

}  // namespace

std::vector<TransferPair> pairs_of(const std::vector<Transfer>& transfers) {
    std::vector<TransferPair> pairs;
    for (auto& [key, sum] :
         summed(transfers, [](const Transfer& one) { return std::tuple(one.from, one.to, one.distance); })) {
        std::tie(sum.from, sum.to, sum.distance) = key;
        pairs.push_back(sum);
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const TransferPair& a, const TransferPair& b) { return a.bytes > b.bytes; });
    return pairs;
}

std::vector<TransferPair> distances_of(const std::vector<Transfer>& transfers) {
    std::vector<TransferPair> distances;
    for (auto& [distance, sum] : summed(transfers, [](const Transfer& one) { return one.distance; })) {
        sum.distance = distance;
        distances.push_back(sum);
    }
    return distances;
}

}  // namespace mpiprof::report
