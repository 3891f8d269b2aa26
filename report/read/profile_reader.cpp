// The tables of a profile, one function each, after the header has been accepted.
#include "report/read/profile_reader.h"

#include <array>
#include <deque>
#include <limits>
#include <map>
#include <unordered_map>
#include <variant>

#include "libmpiprof/format/collective_order.h"
#include "libmpiprof/format/layout.h"
#include "libmpiprof/format/size_bins.h"
#include "report/read/activity.h"
#include "report/read/buckets.h"
#include "report/read/gpu.h"
#include "report/read/header.h"
#include "report/read/mpitrace_text.h"
#include "report/read/nccl_operations.h"
#include "report/read/peers.h"
#include "report/read/places.h"
#include "report/read/tables.h"
#include "report/read/tick_scale.h"
#include "report/read/trace.h"

namespace mpiprof::report {
namespace {

using namespace format;
namespace model = mpiprof::report;

// The model has its own words for what the file's numbers mean; they agree.
constexpr bool bins_agree() {
    for (unsigned bin = 0; bin < format::size_bins; ++bin)
        if (format::bin_max_bytes(bin) != model::bin_max_bytes(bin)) return false;
    return format::size_bins == model::size_bins;
}
static_assert(bins_agree());
static_assert(static_cast<int>(format::Traffic::start) == static_cast<int>(model::Traffic::start));
static_assert(static_cast<int>(format::Traffic::sync) == static_cast<int>(model::Traffic::sync));
static_assert(static_cast<int>(format::Traffic::file) == static_cast<int>(model::Traffic::file));
static_assert(static_cast<int>(format::Treatment::counted) == static_cast<int>(model::Treatment::counted));
static_assert(static_cast<int>(format::State::exited) == static_cast<int>(model::State::exited));
static_assert(static_cast<int>(format::BufferKind::managed) == static_cast<int>(model::Buffer::managed));

static_assert(format::order_factor == model::order_factor);

constexpr std::uint32_t nothing = 0xffffffff;

class Reader {
  public:
    Reader(ByteSpan bytes, std::string_view path, const Header& header)
        : path_(path), header_(header), tables_(bytes, path, header) {}

    Result<Profile> read(Detail detail) {
        profile_.path = path_;
        read_identity();
        read_times();
        if (auto ok = collect_tables(); !ok) return tl::make_unexpected(ok.error());
        read_calls();
        read_threads();
        read_requests();
        read_cells();
        read_counters();
        if (auto ok = read_histograms(); !ok) return tl::make_unexpected(ok.error());
        if (auto ok = read_regions(); !ok) return tl::make_unexpected(ok.error());
        read_communicators();
        read_peers(tables_, scale_, header_.size, profile_);
        read_modules(tables_, profile_);
        read_sites(tables_, profile_);
        read_settings();
        read_labels();
        read_facts();
        read_node_counters();
        read_nccl_operations();
        read_activity();
        read_gpu(
            tables_, [this](std::uint16_t id) { return call_index(id); }, buckets_, profile_);
        if (buckets_.is_damaged()) return tables_.damaged("the durations of GPU times lead out of the file");
        if (detail == Detail::events) read_traces();
        return std::move(profile_);
    }

  private:
    using Ok = Result<std::monostate>;

    void note(std::string text) { profile_.notes.push_back(std::move(text)); }

    void read_identity() {
        Profile& p = profile_;
        p.state = static_cast<model::State>(header_.state);
        if (header_.state < format::State::running || header_.state > format::State::exited) {
            note(fmt::format("rank {} ended in a way this version does not know ({})", header_.rank,
                             static_cast<std::uint32_t>(header_.state)));
            p.state = model::State::running;
        }
        p.exit_code = header_.exit_code;
        p.rank = header_.rank;
        p.size = header_.size;
        p.pid = header_.pid;
        p.parent_pid = header_.parent_pid;
        p.launch = text_of(header_.launch);
        p.job = text_of(header_.job);
        p.node = text_of(header_.node);
        p.host = text_of(header_.host);
        p.library_version = text_of(header_.library);
        p.mpi_library = text_of(header_.mpi_library);
        p.mpi_family = family_name(header_.mpi_family);
        // Without MPI there is no Finalize: a process that exits has ended as it should.
        if (header_.mpi_family == MpiFamily::none && p.state == model::State::exited) p.state = model::State::finalized;
        p.command = text_of(header_.command);
        p.executable = text_of(header_.executable);
        p.directory = text_of(header_.directory);
        p.launcher = text_of(header_.launcher);
        p.thread_level = header_.thread_level;
        if (header_.local_rank != no_local_rank) p.local_rank = header_.local_rank;
        p.is_spawned = header_.flags & world_is_spawned;
        p.has_several_mpis = header_.flags & several_mpis;
        p.is_behind_a_tool = header_.flags & behind_a_tool;
        p.has_no_world = header_.flags & no_world;
        p.is_written = header_.store == StoreKind::written;
        p.store_period_ns = std::uint64_t{header_.store_period_ms} * 1'000'000;
        p.usage = usage_of(header_.usage);
        p.usage.ran_ns = header_.processor.first_ran_ns;
        p.usage.waited_ns = header_.processor.first_waited_ns;
        p.usage.others_waited_ns = header_.processor.others_waited_ns;
        p.usage_at_start = usage_of(header_.usage_at_start);
        p.memory_limit = header_.memory_limit;
        if (header_.throttled_us > header_.throttled_us_at_start)
            p.throttled_ns = (header_.throttled_us - header_.throttled_us_at_start) * 1000;
        p.drops = {.cells = header_.drops.cells,
                   .sites = header_.drops.sites,
                   .histograms = header_.drops.histograms,
                   .communicators = header_.drops.communicators,
                   .threads = header_.drops.threads,
                   .backwards = header_.drops.backwards,
                   .strings = header_.drops.strings,
                   .write_errors = header_.drops.write_errors,
                   .requests = header_.drops.requests};
    }

    static Usage usage_of(const ResourceUse& use) {
        return {.user_ns = use.user_us * 1000,
                .system_ns = use.system_us * 1000,
                .max_resident_bytes = use.max_resident_kib * 1024,
                .minor_faults = use.minor_faults,
                .major_faults = use.major_faults,
                .blocks_in = use.blocks_in,
                .blocks_out = use.blocks_out,
                .voluntary_switches = use.voluntary_switches,
                .involuntary_switches = use.involuntary_switches};
    }

    static std::string_view family_name(MpiFamily family) {
        switch (family) {
            case MpiFamily::open_mpi:
                return "Open MPI";
            case MpiFamily::mpich:
                return "MPICH";
            case MpiFamily::standard_abi:
                return "MPI standard ABI";
            case MpiFamily::none:
                return "none";
            case MpiFamily::unknown:
                break;
        }
        return "";
    }

    void read_times() {
        Profile& p = profile_;
        if (header_.clock != ClockKind::monotonic) {
            const std::array anchors{header_.loaded, header_.started, header_.updated, header_.ended};
            if (const auto scale = TickScale::from(anchors))
                scale_ = *scale;
            else
                note(fmt::format("rank {}: the clock's rate is not known, times are in ticks", p.rank));
        }
        const Anchor& begin = header_.started;
        const Anchor& end = header_.ended.monotonic_ns ? header_.ended : header_.updated;
        if (begin.monotonic_ns && end.monotonic_ns > begin.monotonic_ns)
            p.elapsed_ns = end.monotonic_ns - begin.monotonic_ns;
        p.usage_span_ns = p.elapsed_ns;
        p.started_at_ns = started_at(header_);
        p.started_monotonic_ns = begin.monotonic_ns;
        p.updated_at_ns = updated_at(header_);
        if (header_.process_start_ns && p.updated_at_ns > header_.process_start_ns)
            p.process_ns = p.updated_at_ns - header_.process_start_ns;
        p.init_ns = scale_.ns(header_.init_ticks);
        p.finalize_ns = scale_.ns(header_.finalize_ticks);
        p.paused_ns = scale_.ns(header_.paused_ticks);
        p.setup_ns = header_.own_setup_ns;
        p.tells_its_life = header_.updated.monotonic_ns > header_.started.monotonic_ns;
        p.is_in_finalize = header_.state == format::State::finalized && header_.finalize_ticks == 0;
    }

    Ok collect_tables() {
        if (tables_.is_cut())
            note(fmt::format("rank {}: the disk was full: {} of {} bytes could be kept, newer calls are missing",
                             header_.rank, tables_.bytes().size(), header_.image_bytes));
        return tables_.collect();
    }

    void read_calls() {
        profile_.calls.reserve(tables_.records(TableType::calls));
        tables_.each<CallRecord>(TableType::calls, [&](const CallRecord& record, const Table&) {
            if (index_of_call_.size() <= record.call) index_of_call_.resize(record.call + 1u, nothing);
            if (index_of_call_[record.call] != nothing ||
                profile_.calls.size() >= std::numeric_limits<std::uint16_t>::max())
                return;
            index_of_call_[record.call] = static_cast<std::uint32_t>(profile_.calls.size());
            profile_.calls.push_back(
                {.name = std::string(text_of(record.name)),
                 .family = static_cast<model::Family>(record.family),
                 .treatment = record.treatment == format::Treatment::counted ? model::Treatment::counted
                                                                             : model::Treatment::timed,
                 .traffic = record.traffic <= format::Traffic::start ? static_cast<model::Traffic>(record.traffic)
                                                                     : model::Traffic::unknown});
            counter_of_call_.push_back(record.counter);
            is_polled_.push_back(record.treatment == format::Treatment::polled);
            model::Call& call = profile_.calls.back();
            call.is_sampled = is_polled_.back();
            call.sends = record.arguments & format::has_dest;
            call.receives = record.arguments & format::has_source;
            call.has_root = record.arguments & format::has_root;
            call.has_requests = record.arguments & format::has_requests;
            call.is_ordered = record.arguments & format::is_ordered;
            call.is_posted = record.arguments & format::is_posted;
            if (record.bus <= format::BusRule::other_blocks) call.bus = static_cast<model::BusRule>(record.bus);
            if (call.is_ordered) call.order_word = format::order_word(call.name);
        });
    }
    // A cell whose call the dictionary does not name keeps its numbers under a name of its own: the rank may have
    // been killed between the two.
    std::uint16_t call_index(std::uint16_t id) {
        if (index_of_call_.size() <= id) index_of_call_.resize(id + 1u, nothing);
        if (index_of_call_[id] == nothing) {
            if (profile_.calls.size() >= std::numeric_limits<std::uint16_t>::max()) return 0;
            index_of_call_[id] = static_cast<std::uint32_t>(profile_.calls.size());
            profile_.calls.push_back({.name = fmt::format("(call {})", id), .traffic = model::Traffic::unknown});
            counter_of_call_.push_back(0);
            is_polled_.push_back(false);
        }
        return static_cast<std::uint16_t>(index_of_call_[id]);
    }

    void read_threads() {
        tables_.each<format::Thread>(TableType::threads, [&](const format::Thread& record, const Table&) {
            model::Thread thread{
                .kind = record.kind == format::ThreadKind::other ? model::ThreadKind::other : model::ThreadKind::main,
                .os_thread = record.os_thread,
                .owners = record.owners,
                .in_call = {},
                .last_call = {},
                .called_from = {},
                .nested = record.nested,
                .peer = record.in_call_peer,
                .tag = record.in_call_tag,
                .source = record.in_call_source,
                .source_tag = record.in_call_source_tag,
                .only_request = record.in_call_request,
                .requests = record.in_call_requests};
            const std::uint64_t key = record.in_call & ~format::has_returned;
            if (key != 0) {
                (record.in_call == key ? thread.in_call : thread.last_call) =
                    call_index(static_cast<std::uint16_t>(key >> 48));
                thread.called_from.offset = key & 0xffff'ffff'ffff;  // read_modules() finds the module
                if (record.in_call_since > header_.started.ticks)
                    thread.in_call_since_ns = scale_.ns(record.in_call_since - header_.started.ticks);
                if (record.script_call == static_cast<std::uint32_t>(record.in_call_since))
                    thread.script_site = record.script_site;
            }
            for (std::int32_t* rank : {&thread.peer, &thread.source}) *rank = rank_of(*rank);
            for (std::int32_t* tag : {&thread.tag, &thread.source_tag}) *tag = tag_of(*tag);
            index_of_thread_.emplace(record.id, static_cast<std::uint32_t>(profile_.threads.size()));
            profile_.threads.push_back(thread);
            handle_of_thread_.push_back(record.in_call_communicator);
        });
    }

    // Ranks and tags that stand for several, or for none, as the model has them.
    std::int32_t rank_of(std::int32_t passed) const {
        const bool is_mpich = header_.mpi_family == MpiFamily::mpich;
        if (passed >= 0) return passed;
        return passed == (is_mpich ? -2 : -1) ? model::any_rank : model::no_rank;
    }
    static std::int32_t tag_of(std::int32_t passed) { return passed < 0 ? model::any_tag : passed; }

    // Of ranks that may hang: those that are open, and few.
    void read_requests() {
        constexpr std::size_t most = 256;
        handles_of_requests_.resize(profile_.threads.size());
        if (header_.state == format::State::finalized && header_.finalize_ticks != 0) return;
        tables_.each<format::Request>(TableType::requests, [&](const format::Request& record, const Table& table) {
            const auto thread = index_of_thread_.find(table.thread);
            if (record.handle == 0 || thread == index_of_thread_.end()) return;
            std::vector<model::OpenRequest>& open = profile_.threads[thread->second].open_requests;
            if (open.size() == most) return;
            const std::uint64_t key = record.posted_by & ~format::not_started;
            open.push_back({.handle = record.handle,
                            .call = call_index(static_cast<std::uint16_t>(key >> 48)),
                            .is_started = record.posted_by == key,
                            .called_from = {.offset = key & 0xffff'ffff'ffff},
                            .peer = rank_of(record.peer),
                            .tag = tag_of(record.tag)});
            handles_of_requests_[thread->second].push_back(record.communicator);
        });
    }

    std::uint32_t thread_index(std::uint32_t id) {
        if (id == last_thread_ && !profile_.threads.empty())
            return last_thread_index_;  // a table's cells are one thread's
        const auto [at, is_new] = index_of_thread_.emplace(id, static_cast<std::uint32_t>(profile_.threads.size()));
        if (is_new) profile_.threads.push_back({.in_call = {}, .last_call = {}, .called_from = {}});
        last_thread_ = id;
        return last_thread_index_ = at->second;
    }

    void read_cells() {
        profile_.cells.reserve(tables_.records(TableType::cells) + tables_.records(TableType::counters));
        tables_.each<format::Cell>(TableType::cells, [&](const format::Cell& record, const Table& table) {
            if (record.calls == 0 && record.errors == 0) return;
            const bool has_min = record.calls != 0 && record.min_ticks != ~std::uint64_t{0};
            profile_.cells.push_back({.call = call_index(record.call),
                                      .bin = std::min<std::uint8_t>(record.bin, model::size_bins - 1),
                                      .buffer = record.buffer <= BufferKind::managed
                                                    ? static_cast<model::Buffer>(record.buffer)
                                                    : model::Buffer::host,
                                      .communicator = record.communicator,
                                      .region = record.region,
                                      .site = record.site,
                                      .thread = thread_index(table.thread),
                                      .calls = record.calls,
                                      .bytes = record.bytes,
                                      .time_ns = scale_.ns(record.ticks),
                                      .min_ns = has_min ? std::optional(scale_.ns(record.min_ticks)) : std::nullopt,
                                      .max_ns = scale_.ns(record.max_ticks),
                                      .errors = record.errors,
                                      .is_untimed = record.calls != 0 && !has_min && record.ticks == 0});
        });
    }

    void read_counters() {
        for (const Table& table : tables_.all()) {
            if (table.type != TableType::counters) continue;
            const std::size_t calls = counter_of_call_.size();
            for (std::size_t i = 0; i < calls; ++i) {
                const bool has_counter = profile_.calls[i].treatment == model::Treatment::counted || is_polled_[i];
                if (!has_counter || counter_of_call_[i] >= table.used) continue;
                const auto counter = tables_.record<Counter>(table, counter_of_call_[i]);
                const std::uint32_t thread = thread_index(table.thread);
                const std::uint64_t timed = is_polled_[i] ? calls_in_cells(i, thread) : 0;
                const std::uint64_t untimed = counter.calls > timed ? counter.calls - timed : 0;
                if (untimed == 0 && counter.errors == 0) continue;
                profile_.cells.push_back({.call = static_cast<std::uint16_t>(i),
                                          .thread = thread,
                                          .calls = untimed,
                                          .errors = counter.errors});
            }
        }
    }

    // A polled call's counter counts all polls; those that were timed (for the others, too) stand in cells as well.
    std::uint64_t calls_in_cells(std::size_t call, std::uint32_t thread) const {
        std::uint64_t calls = 0;
        for (const model::Cell& cell : profile_.cells)
            if (cell.call == call && cell.thread == thread) calls += cell.calls;
        return calls;
    }

    Ok read_histograms() {
        tables_.each<format::Histogram>(
            TableType::histograms, [&](const format::Histogram& record, const Table& table) {
                const BucketReader::Range range = buckets_.read(record, scale_);
                if (range.buckets == 0 && record.completed == 0) return;
                profile_.histograms.push_back({.call = call_index(record.call),
                                               .bin = std::min<std::uint8_t>(record.bin, model::size_bins - 1),
                                               .thread = thread_index(table.thread),
                                               .first_bucket = range.first,
                                               .buckets = range.buckets,
                                               .requests = record.completed,
                                               .in_flight_ns = scale_.ns(record.in_flight_ticks),
                                               .blocked_ns = scale_.ns(record.blocked_ticks),
                                               .inside_ns = scale_.ns(record.inside_ticks)});
            });
        if (buckets_.is_damaged()) return tables_.damaged("a histogram leads out of the file");
        return std::monostate{};
    }

    Ok read_regions() {
        tables_.each<format::Region>(TableType::regions, [&](const format::Region& record, const Table&) {
            const BucketReader::Range durations = buckets_.read_at(record.durations, scale_);
            model::Region region{.name = std::string(text_of(record.name)),
                                 .parent = record.parent < profile_.regions.size() ? record.parent : 0,
                                 .is_iteration = (record.flags & format::is_iteration) != 0,
                                 .entered = record.entered,
                                 .time_ns = scale_.ns(record.ticks),
                                 .min_ns = record.entered ? scale_.ns(record.min_ticks) : 0,
                                 .max_ns = scale_.ns(record.max_ticks),
                                 .items = record.items,
                                 .first_bucket = durations.first,
                                 .buckets = durations.buckets};
            const std::uint64_t last = last_ticks();
            if (record.inside_since != 0 && record.inside_since < last) {  // it was never left
                region.time_ns += scale_.ns(last - record.inside_since);
                ++region.entered;
            }
            profile_.regions.push_back(std::move(region));
        });
        for (model::Cell& cell : profile_.cells)
            if (cell.region >= profile_.regions.size()) cell.region = 0;
        if (buckets_.is_damaged()) return tables_.damaged("the durations of a region lead out of the file");
        read_iterations();
        return std::monostate{};
    }

    void read_iterations() {
        tables_.each<format::Iterations>(TableType::iterations, [&](const format::Iterations& record, const Table&) {
            const bool is_half_done = record.changes % 2 != 0;
            if (is_half_done || record.stride == 0 || record.region >= profile_.regions.size()) return;
            model::Region& region = profile_.regions[record.region];
            if (!region.is_iteration || region.singles != 0) return;
            const std::uint64_t kept = record.marked / record.stride + (record.marked % record.stride != 0);
            region.first_single = static_cast<std::uint32_t>(profile_.iteration_us.size());
            region.singles = static_cast<std::uint32_t>(std::min<std::uint64_t>(kept, format::most_iterations));
            region.stride = record.stride;
            profile_.iteration_us.insert(profile_.iteration_us.end(), record.us, record.us + region.singles);
        });
    }

    // Of one key the last record counts.
    void read_labels() {
        std::map<std::string, std::string> labels;
        tables_.each<format::Label>(TableType::labels, [&](const format::Label& record, const Table&) {
            labels[std::string(text_of(record.key))] = text_of(record.value);
        });
        for (auto& [key, value] : labels)
            if (!key.empty()) profile_.labels.push_back({key, std::move(value), SettingSource::environment});
    }

    // The last moment that the header knows.
    std::uint64_t last_ticks() const { return header_.ended.ticks ? header_.ended.ticks : header_.updated.ticks; }

    void read_communicators() {
        std::unordered_map<std::uint64_t, std::uint16_t> of_handle;
        profile_.communicators.reserve(tables_.records(TableType::communicators));
        tables_.each<format::Communicator>(
            TableType::communicators, [&](const format::Communicator& record, const Table&) {
                profile_.communicators.push_back({.id = record.id,
                                                  .parent = record.parent,
                                                  .size = record.size,
                                                  .rank = record.rank,
                                                  .is_inter = (record.flags & format::is_intercommunicator) != 0,
                                                  .is_id_ambiguous = (record.flags & format::id_by_members) != 0,
                                                  .origin = record.how <= format::origin_made
                                                                ? static_cast<model::Origin>(record.how)
                                                                : model::Origin::unknown,
                                                  .made_by = {},
                                                  .name = std::string(text_of(record.name)),
                                                  .is_unused = (record.flags & format::is_not_used) != 0,
                                                  .collectives = record.collectives,
                                                  .order = record.order});
                if (record.how == format::origin_made)
                    profile_.communicators.back().made_by = call_index(record.made_by);
                const auto index = static_cast<std::uint16_t>(profile_.communicators.size() - 1);
                // A handle may have meant several communicators in turn: the last one counts.
                for (const std::uint64_t handle : {record.handle, record.fortran_handle}) of_handle[handle] = index;
            });
        of_handle.erase(0);  // those that were freed
        for (std::size_t t = 0; t < profile_.threads.size(); ++t) {
            for (model::OpenRequest& request : profile_.threads[t].open_requests) {
                const auto found = of_handle.find(handles_of_requests_[t].front());
                if (found != of_handle.end()) request.communicator = found->second;
                handles_of_requests_[t].pop_front();
            }
        }
        for (std::size_t t = 0; t < handle_of_thread_.size(); ++t)
            if (const auto found = of_handle.find(handle_of_thread_[t]); found != of_handle.end())
                profile_.threads[t].in_communicator = found->second;
        for (model::Cell& cell : profile_.cells)
            if (cell.communicator >= profile_.communicators.size()) cell.communicator = 0;
    }

    void read_settings() {
        profile_.settings.reserve(tables_.records(TableType::settings));
        tables_.each<format::Setting>(TableType::settings, [&](const format::Setting& record, const Table&) {
            profile_.settings.push_back(
                {std::string(text_of(record.name)), std::string(text_of(record.value)),
                 record.source <= 2 ? static_cast<SettingSource>(record.source) : SettingSource::environment});
        });
    }

    void read_activity() {
        struct Total {
            std::uint64_t time_ns = 0, bytes = 0;
        };
        std::vector<Total> totals(profile_.threads.size());
        for (const model::Cell& cell : profile_.cells) {
            totals[cell.thread].time_ns += cell.time_ns;
            if (model::carries_messages(profile_.calls[cell.call].traffic)) totals[cell.thread].bytes += cell.bytes;
        }
        std::vector<ThreadActivity> threads;
        tables_.each<format::Activity>(TableType::activity, [&](const format::Activity& record, const Table& table) {
            const auto index = index_of_thread_.find(table.thread);
            if (index == index_of_thread_.end()) return;
            const model::Thread& thread = profile_.threads[index->second];
            const bool is_inside = thread.in_call && profile_.state != model::State::finalized;
            threads.push_back({.record = record,
                               .time_ns = totals[index->second].time_ns,
                               .bytes = totals[index->second].bytes,
                               .in_call_since_ns = is_inside ? thread.in_call_since_ns : 0});
        });
        profile_.activity = activity_of(threads, scale_, profile_.elapsed_ns);
        threads.clear();
        tables_.each<format::Activity>(TableType::pauses, [&](const format::Activity& record, const Table&) {
            if (threads.empty()) threads.push_back({.record = record, .time_ns = profile_.paused_ns});
        });
        profile_.pauses = activity_of(threads, scale_, profile_.elapsed_ns);
    }

    void read_traces() {
        const TraceContext context{.scale = scale_,
                                   .origin = header_.started.ticks,
                                   .is_final = header_.state != format::State::running,
                                   .sites = profile_.sites.size(),
                                   .communicators = profile_.communicators.size(),
                                   .regions = profile_.regions.size()};
        for (const Table& table : tables_.all()) {
            if (table.type != TableType::trace) continue;
            const std::size_t length = std::size_t{table.used} * table.record_size;
            ThreadTrace trace = trace_of(tables_.bytes().subspan(table.offset, length), table, context);
            trace.thread = thread_index(table.thread);
            for (model::Event& event : trace.events)
                if (event.kind <= model::EventKind::completed) event.call = call_index(event.call);
            profile_.traces.push_back(std::move(trace));
        }
    }

    void read_nccl_operations() {
        tables_.each<format::NcclOperation>(
            TableType::nccl_operations, [&](const format::NcclOperation& record, const Table&) {
                if (record.operations != 0)
                    profile_.nccl_operations.push_back(
                        nccl_operation_of(record, call_index(record.call), profile_.communicators.size()));
            });
    }

    void read_facts() {
        Texts texts(tables_.bytes());
        tables_.each<format::Fact>(TableType::facts, [&](const format::Fact& record, const Table&) {
            const std::string_view value = texts.at(record.value_offset, record.value_length);
            const bool is_known =
                record.kind >= format::FactKind::process && record.kind <= format::FactKind::environment;
            if (is_known && value.size() == record.value_length)
                profile_.facts.push_back(
                    {static_cast<model::FactKind>(record.kind), std::string(text_of(record.name)), std::string(value)});
        });
    }

    void read_node_counters() {
        tables_.each<format::NodeCounter>(TableType::node_counters, [&](const format::NodeCounter& record,
                                                                        const Table&) {
            const bool is_known = record.unit == NodeCounterUnit::microjoules || record.unit == NodeCounterUnit::bytes;
            // A counter that was set back (a link that was reset) tells nothing.
            const std::uint64_t further = record.last + record.wraps * record.wraps_at;
            if (is_known && further >= record.at_start)
                profile_.node_counters.push_back({std::string(text_of(record.name)),
                                                  record.unit == NodeCounterUnit::microjoules,
                                                  further - record.at_start});
        });
    }

    std::string_view path_;
    const Header& header_;
    TickScale scale_;
    Tables tables_;
    std::vector<std::uint32_t> index_of_call_;  // call id of the file -> index into profile_.calls
    std::vector<std::uint16_t> counter_of_call_;
    std::vector<bool> is_polled_;
    std::unordered_map<std::uint32_t, std::uint32_t> index_of_thread_;
    std::vector<std::deque<std::uint64_t>> handles_of_requests_;  // communicators, by thread
    std::vector<std::uint64_t> handle_of_thread_;  // the communicator that its present or last call was given
    std::uint32_t last_thread_ = nothing;
    std::uint32_t last_thread_index_ = 0;
    Profile profile_;
    BucketReader buckets_{tables_, profile_.buckets};
};

}  // namespace

Result<Head> read_head(ByteSpan bytes, std::uint64_t file_size, std::string_view path) {
    const auto header = read_header(bytes, file_size, path);
    if (!header) return tl::make_unexpected(header.error());
    return Head{.launch = std::string(text_of(header->launch)),
                .job = std::string(text_of(header->job)),
                .command = std::string(text_of(header->command)),
                .mpi_library = std::string(text_of(header->mpi_library)),
                .rank = header->rank,
                .size = header->size,
                .started_at_ns = started_at(*header),
                .image_bytes = header->image_bytes,
                .is_spawned = (header->flags & world_is_spawned) != 0};
}

std::uint64_t image_bytes_of(ByteSpan bytes) {
    constexpr std::size_t at = offsetof(Header, image_bytes);
    std::uint64_t used = 0;
    if (bytes.size() < at + sizeof used || looks_like_mpitrace(bytes)) return 0;
    std::memcpy(&used, bytes.data() + at, sizeof used);
    return used;
}

Result<Profile> read_profile(ByteSpan bytes, std::string_view path, Detail detail) {
    if (looks_like_mpitrace(bytes)) return read_mpitrace(bytes, path);
    const auto header = read_header(bytes, bytes.size(), path);
    if (!header) return tl::make_unexpected(header.error());
    return Reader(bytes, path, *header).read(detail);
}

}  // namespace mpiprof::report
