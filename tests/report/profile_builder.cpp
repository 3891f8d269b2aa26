// Lays a ProfileSpec out as a profile file: header, directory, then one table after the other.
#include "tests/report/profile_builder.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "libmpiprof/format/collective_order.h"
#include "libmpiprof/format/histogram.h"
#include "libmpiprof/format/size_bins.h"
#include "tests/report/library_rows.h"
#include "tests/report/profile_gpu.h"
#include "tests/report/profile_header.h"
#include "tests/report/profile_histograms.h"
#include "tests/report/profile_orders.h"
#include "tests/report/profile_tables.h"

namespace mpiprof::test {
namespace {

class Builder {
  public:
    explicit Builder(const ProfileSpec& spec) : spec_(spec), tables_(spec.record_growth) {}

    Bytes build() {
        add_calls();
        add_threads();
        add_communicators();
        add_modules_and_sites();
        add_settings();
        add_labels();
        add_traces();
        add_facts();
        add_peers();
        add_nccl_operations(spec_, tables_, call_ids_);
        add_regions();
        add_gpu(spec_, tables_, histograms_, call_ids_);
        add_node_counters();
        if (spec_.unknown_table) tables_.add(static_cast<TableType>(999), 0, std::uint64_t{42});
        place();
        tables_.resolve();
        return assemble();
    }

  private:
    [[nodiscard]] std::uint64_t ticks(std::uint64_t ns) const { return ticks_of(spec_, ns); }
    void add_stretches(format::Thread& thread) const {
        thread.between_calls_ticks = ticks(boot_ns + spec_.between_calls.ns) - ticks(boot_ns);
        thread.in_calls_ticks = ticks(boot_ns + spec_.in_calls.ns) - ticks(boot_ns);
        thread.between_calls_waited_ns = spec_.between_calls.waited_ns;
        thread.between_calls_ran_ns = spec_.between_calls.ran_ns;
        thread.in_calls_waited_ns = spec_.in_calls.waited_ns;
    }
    void add_calls() {
        std::uint16_t id = 0, counter = 0;
        for (const CallSpec& call : spec_.calls) {
            // Ids that are not positions, as in a library whose table has more rows than this program called.
            call_ids_[call.name] = id = static_cast<std::uint16_t>(id + 7);
            format::CallRecord record{};
            record.call = id;
            record.family = call.family;
            record.treatment = call.treatment;
            record.traffic = call.traffic;
            record.size_rule = call.size_rule;
            record.arguments = call.arguments;
            record.bus = bus_rule_of(call.name);
            set_text(record.name, call.name);
            if (call.treatment != format::Treatment::timed) {
                record.counter = counter++;
                add_counter(call, record.counter);
            }
            tables_.add(TableType::calls, 0, record);
            for (const CellSpec& cell : call.cells) add_cell(id, cell);
        }
    }

    void add_counter(const CallSpec& call, std::uint16_t index) {
        const TableData& data = tables_.of(TableType::counters, call.thread, sizeof(format::Counter));
        while (data.table.used < index) tables_.add(TableType::counters, call.thread, format::Counter{});
        tables_.add(TableType::counters, call.thread, format::Counter{call.calls, call.errors});
        note_thread(call.thread);
    }

    // The durations of a cell as (duration, number of calls); they agree with its time, smallest and largest.
    [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> durations(const CellSpec& cell) const {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> result;
        for (const std::uint64_t ns : cell.durations_ns) result.emplace_back(ns, 1);
        if (!result.empty() || cell.calls == 0) return result;
        const std::uint64_t mean = cell.time_ns / cell.calls;
        if (cell.calls < 2) return {{mean, 1}};
        const std::uint64_t least = cell.min_ns.value_or(mean);
        const std::uint64_t most = cell.max_ns.value_or(mean);
        result = {{least, 1}, {most, 1}};
        const std::uint64_t rest = cell.time_ns > least + most ? cell.time_ns - least - most : 0;
        if (cell.calls > 2) result.emplace_back(rest / (cell.calls - 2), cell.calls - 2);
        return result;
    }

    void add_cell(std::uint16_t call, const CellSpec& spec) {
        const auto times = spec.is_untimed ? decltype(durations(spec)){} : durations(spec);
        format::Cell cell{};
        cell.call = call;
        cell.buffer = spec.buffer;
        cell.communicator = spec.communicator;
        cell.region = spec.region;
        cell.site = spec.site;
        cell.calls = spec.durations_ns.empty() ? spec.calls : spec.durations_ns.size();
        cell.bytes = spec.bytes;
        cell.ticks = ticks(spec.durations_ns.empty()
                               ? spec.time_ns
                               : std::accumulate(spec.durations_ns.begin(), spec.durations_ns.end(), std::uint64_t{0}));
        cell.min_ticks = ~std::uint64_t{0};
        for (const auto& [ns, n] : times) cell.min_ticks = std::min(cell.min_ticks, ticks(ns));
        for (const auto& [ns, n] : times) cell.max_ticks = std::max(cell.max_ticks, ticks(ns));
        if (spec.min_ns && cell.calls != 0) cell.min_ticks = ticks(*spec.min_ns);
        if (spec.max_ns && cell.calls != 0) cell.max_ticks = ticks(*spec.max_ns);
        cell.errors = spec.errors;
        const std::uint64_t mean_bytes = cell.calls == 0 ? 0 : (cell.bytes + cell.calls - 1) / cell.calls;
        cell.bin = spec.bin.value_or(static_cast<std::uint8_t>(format::size_bin(mean_bytes)));
        if (spec_.histograms && !spec.is_untimed)  // a record number + 1 for now; resolve() turns it into an offset
            cell.histogram = 1 + histograms_.of(call, cell.bin, spec.thread, times);
        if (cell.histogram != 0) histograms_.add_requests(spec, cell.histogram - 1);
        tables_.add(TableType::cells, spec.thread, cell);
        note_thread(spec.thread);
    }

    void note_thread(std::uint32_t id) {
        const auto same = [id](const ThreadSpec& thread) { return thread.id == id; };
        if (std::none_of(spec_.threads.begin(), spec_.threads.end(), same))
            spec_.threads.push_back({.id = id, .kind = format::ThreadKind::other});
    }

    void add_threads() {
        for (const ThreadSpec& spec : spec_.threads) {
            format::Thread thread{};
            thread.id = spec.id;
            thread.kind = spec.kind;
            thread.os_thread = spec_.pid + spec.id - 1;
            thread.owners = 1, thread.nested = spec.nested;
            const std::string& call = spec.in_call.empty() ? spec.last_call : spec.in_call;
            if (!call.empty()) {
                thread.in_call = std::uint64_t{call_ids_.at(call)} << 48 | spec.address;
                if (spec.in_call.empty()) thread.in_call |= format::has_returned;
                thread.in_call_since = ticks(boot_ns + spec_.elapsed_ns - spec.in_call_for_ns);
                thread.in_call_communicator = spec.communicator;
                thread.script_site = spec.script_site;
                thread.script_call = static_cast<std::uint32_t>(thread.in_call_since) - spec.is_of_earlier_call;
            }
            if (spec.id == 1) add_stretches(thread);
            thread.in_call_peer = spec.peer;
            thread.in_call_tag = spec.tag;
            thread.in_call_request = spec.request, thread.in_call_requests = spec.requests;
            tables_.add(TableType::threads, 0, thread);
            for (const RequestSpec& open : spec.open_requests) {
                format::Request request{.handle = open.handle,
                                        .posted_by = std::uint64_t{call_ids_.at(open.call)} << 48 | open.address,
                                        .peer = open.peer,
                                        .tag = open.tag,
                                        .communicator = open.communicator};
                request.posted_by |= open.is_started ? 0 : format::not_started;
                tables_.add(TableType::requests, spec.id, request);
            }
        }
    }

    [[nodiscard]] format::Flow flow(const FlowSpec& spec) const {
        return {spec.messages, spec.bytes, ticks(spec.time_ns)};
    }
    void add_peers() {
        for (const PeerSpec& spec : spec_.peers) {
            format::Peer record{};
            record.rank = spec.rank;
            record.kind = spec.kind;
            record.sent = flow(spec.sent);
            record.received = flow(spec.received);
            tables_.add(TableType::peers, spec.thread, record);
        }
    }

    // In communicators, modules and sites record 0 stands for "not told apart" or "unknown".
    void add_communicators() {
        tables_.add(TableType::communicators, 0, format::Communicator{});
        for (const CommunicatorSpec& spec : spec_.communicators) {
            format::Communicator record{};
            record.id = spec.id;
            record.parent = spec.parent;
            record.size = spec.size == 0 ? spec_.size : spec.size;
            record.rank = spec.size == 0 ? spec_.rank : spec.rank;
            record.how = spec.how;
            record.flags = spec.flags;
            if (!spec.made_by.empty()) record.made_by = call_ids_.at(spec.made_by);
            if (spec.made_at != 0) record.made_from = std::uint64_t{record.made_by} << 48 | spec.made_at;
            record.handle = spec.handle;
            record.fortran_handle = spec.handle;
            set_text(record.name, spec.name);
            for (const OrderedSpec& made : spec.made) {
                record.collectives += 1;
                record.order = format::order_after(record.order, format::order_word(made.call, made.root));
            }
            if (record.collectives == 0) record.collectives = spec.collectives;
            for (const EnqueuedSpec& one : spec.enqueued) count_enqueued(record, one);
            const std::uint32_t index = tables_.add(TableType::communicators, 0, record);
            if (!spec.kept.empty()) add_kept_calls(spec_, tables_, call_ids_, spec.kept, index);
            if (!spec.enqueued.empty()) add_enqueued(spec_, tables_, call_ids_, spec.enqueued, index);
            if (!spec.enqueued_peers.empty()) add_enqueued_peers(tables_, spec.enqueued_peers, index);
        }
    }

    void add_modules_and_sites() {
        if (spec_.sites.empty() && spec_.modules.empty()) return;
        tables_.add(TableType::modules, 0, format::Module{});
        for (const ModuleSpec& spec : spec_.modules) {
            format::Module module{};
            module.base = spec.base;
            module.end = spec.end;
            module.path_offset = tables_.add_string(spec.path);  // into the table for now
            module.path_length = static_cast<std::uint32_t>(spec.path.size());
            module.build_id_length = static_cast<std::uint32_t>(std::min(spec.build_id.size(), sizeof module.build_id));
            std::copy_n(spec.build_id.begin(), module.build_id_length, module.build_id);
            if (!spec.function.empty()) {
                module.language = format::Language::python;
                module.function_offset = tables_.add_string(spec.function);
                module.function_length = static_cast<std::uint32_t>(spec.function.size());
            }
            tables_.add(TableType::modules, 0, module);
        }
        tables_.add(TableType::sites, 0, format::Site{});
        std::uint32_t first = 0;
        for (const auto& frames : spec_.sites) {
            tables_.add(TableType::sites, 0,
                        format::Site{first, static_cast<std::uint16_t>(frames.size()), spec_.common_frames});
            for (const FrameSpec& frame : frames)
                tables_.add(TableType::frames, 0, format::Frame{frame.offset, frame.module, 0});
            first += static_cast<std::uint32_t>(frames.size());
        }
    }

    void add_regions() {
        if (spec_.regions.empty()) return;
        std::uint32_t index = tables_.add(TableType::regions, 0, format::Region{});
        for (const RegionSpec& spec : spec_.regions) {
            format::Region region{};
            set_text(region.name, spec.name);
            region.parent = spec.parent;
            region.flags = spec.is_iteration ? format::is_iteration : 0;
            region.entered = spec.durations_ns.size();
            region.min_ticks = ~std::uint64_t{0};
            region.items = spec.items;
            if (spec.open_for_ns)
                region.inside_since =
                    anchor_of(spec_, static_cast<std::int64_t>(spec_.elapsed_ns - spec.open_for_ns)).ticks;
            const std::uint32_t histogram = tables_.add(TableType::region_durations, 0, format::Histogram{});
            region.durations = histogram + 1;  // a record number + 1 for now; resolve() turns it into an offset
            for (const std::uint64_t ns : spec.durations_ns) {
                region.ticks += ticks(ns);
                region.min_ticks = std::min(region.min_ticks, ticks(ns));
                region.max_ticks = std::max(region.max_ticks, ticks(ns));
                histograms_.count(0, histogram, format::histogram_position(ticks(ns)), 1, TableType::region_durations);
            }
            tables_.add(TableType::regions, 0, region);
            ++index;
            if (spec.has_single_times) add_single_times(spec, index);
        }
    }

    void add_node_counters() {
        if (spec_.network) tables_.add(TableType::network_use, 0, *spec_.network);
        for (const NodeCounterSpec& spec : spec_.node_counters) {
            format::NodeCounter counter{};
            set_text(counter.name, spec.name);
            counter.unit = spec.unit;
            counter.wraps = 2;
            counter.wraps_at = 1000;
            counter.at_start = 5000;
            if (spec.unit == format::NodeCounterUnit::events) {
                counter.wraps = spec.is_unreadable;
                counter.wraps_at = spec.stops_at;
                counter.at_start = spec.stops_at != 0 ? spec.stops_at - spec.value : counter.at_start;
                counter.last = counter.at_start + spec.value;
            } else {
                counter.last = counter.at_start + spec.value - counter.wraps * counter.wraps_at;
            }
            tables_.add(TableType::node_counters, 0, counter);
        }
    }

    void add_settings() {
        for (const SettingSpec& spec : spec_.settings) {
            format::Setting setting{};
            set_text(setting.name, spec.name);
            set_text(setting.value, spec.value);
            setting.source = spec.source;
            tables_.add(TableType::settings, 0, setting);
        }
    }

    void add_labels() {
        for (const auto& [key, value] : spec_.labels) {
            format::Label label{};
            set_text(label.key, key);
            set_text(label.value, value);
            tables_.add(TableType::labels, 0, label);
        }
    }

    void add_single_times(const RegionSpec& spec, std::uint32_t region) {
        format::Iterations times{};
        times.region = region;
        times.changes = spec.single_changes;
        times.marked = spec.durations_ns.size();
        times.stride = 1;
        while (times.marked > std::uint64_t{times.stride} * format::most_iterations) times.stride *= 2;
        for (std::size_t i = 0; i < spec.durations_ns.size(); i += times.stride)
            times.us[i / times.stride] = static_cast<std::uint32_t>((spec.durations_ns[i] + 500) / 1000);
        tables_.add(TableType::iterations, 0, times);
    }

    // Their times are those of the specification: after MPI_Init, in nanoseconds.
    void add_traces() {
        for (const TraceSpec& spec : spec_.traces) {
            format::TraceHead head{};
            head.written = spec.written;
            tables_.add(TableType::trace, spec.thread, head);
            for (format::TraceEvent event : spec.ring) {
                event.begin = ticks(boot_ns + event.begin);
                event.ticks = ticks(event.ticks);
                if (event.call != 0) event.call = call_ids_.at(spec_.calls.at(event.call - 1u).name);
                tables_.add(TableType::trace, spec.thread, event);
            }
        }
    }

    void add_facts() {
        for (const FactSpec& spec : spec_.facts) {
            format::Fact fact{};
            set_text(fact.name, spec.name);
            fact.kind = spec.kind;
            fact.value_offset = tables_.add_string(spec.value);  // into the table for now
            fact.value_length = static_cast<std::uint32_t>(spec.value.size());
            tables_.add(TableType::facts, 0, fact);
        }
    }

    [[nodiscard]] std::size_t block_bytes() const {
        return sizeof(format::Directory) + spec_.directory_capacity * sizeof(format::Table);
    }

    void place() {
        const std::size_t tables = tables_.all().size();
        blocks_ = std::max<std::size_t>(1, (tables + spec_.directory_capacity - 1) / spec_.directory_capacity);
        directory_ = (header_size(spec_) + 7) / 8 * 8;
        end_ = tables_.place(directory_ + blocks_ * block_bytes());
    }

    Bytes assemble() {
        Bytes bytes(end_);
        const format::Header head = header_of(spec_, directory_, end_);
        std::memcpy(bytes.data(), &head, std::min(sizeof head, header_size(spec_)));
        const auto& tables = tables_.all();
        for (std::size_t block = 0; block < blocks_; ++block) {
            const std::size_t begin = block * spec_.directory_capacity;
            const std::size_t used = std::min<std::size_t>(spec_.directory_capacity, tables.size() - begin);
            std::uint64_t at = directory_ + block * block_bytes();
            const std::uint64_t next = block + 1 < blocks_ ? at + block_bytes() : 0;
            overwrite(bytes, at, format::Directory{next, static_cast<std::uint32_t>(used), spec_.directory_capacity});
            at += sizeof(format::Directory);
            for (std::size_t i = 0; i < used; ++i, at += sizeof(format::Table))
                overwrite(bytes, at, tables[begin + i].table);
        }
        for (const TableData& data : tables)
            std::copy(data.bytes.begin(), data.bytes.end(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(data.table.offset));
        return bytes;
    }

    ProfileSpec spec_;
    Tables tables_;
    CallIds call_ids_;
    Histograms histograms_{spec_, tables_};
    std::uint64_t directory_ = 0;
    std::uint64_t end_ = 0;
    std::size_t blocks_ = 0;
};

}  // namespace

Bytes build(const ProfileSpec& spec) { return Builder(spec).build(); }

std::filesystem::path write_profile(const std::filesystem::path& directory, const ProfileSpec& spec) {
    const auto path = directory / ("mpi_profile." + spec.job + "." + std::to_string(spec.rank));
    write_file(path, build(spec));
    return path;
}

}  // namespace mpiprof::test
