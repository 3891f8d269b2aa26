// The tables of a profile, one function each, after the header has been accepted.
#include "report/read/profile_reader.h"

#include <array>
#include <limits>
#include <unordered_map>
#include <variant>

#include "libmpiprof/format/histogram.h"
#include "libmpiprof/format/layout.h"
#include "libmpiprof/format/size_bins.h"
#include "report/read/activity.h"
#include "report/read/header.h"
#include "report/read/mpitrace_text.h"
#include "report/read/tick_scale.h"

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

constexpr std::uint32_t nothing = 0xffffffff;

class Reader {
  public:
    Reader(ByteSpan bytes, std::string_view path, const Header& header) : bytes_(bytes), path_(path), header_(header), is_cut_(ends_on_a_full_disk(header, bytes.size())) {}

    Result<Profile> read() {
        profile_.path = path_;
        read_identity();
        read_times();
        if (auto ok = collect_tables(); !ok) return tl::make_unexpected(ok.error());
        read_calls();
        read_threads();
        read_cells();
        read_counters();
        if (auto ok = read_histograms(); !ok) return tl::make_unexpected(ok.error());
        if (auto ok = read_regions(); !ok) return tl::make_unexpected(ok.error());
        read_communicators();
        read_peers();
        read_modules();
        read_sites();
        read_settings();
        read_facts();
        read_activity();
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

    // Walks the directory and keeps the tables in their order. Tables of a valid file do not overlap, so together
    // they are no larger than the file: this bounds what a hostile directory can make us read.
    Ok collect_tables() {
        std::uint64_t total = 0;
        std::uint64_t blocks = 0;
        for (std::uint64_t at = header_.directory_offset; at != 0;) {
            if (!lies_within(at, sizeof(Directory), bytes_.size()) || ++blocks > bytes_.size() / sizeof(Directory))
                return damaged("its directory leads out of the file");
            const auto block = load_prefix<Directory>(bytes_.data() + at, sizeof(Directory));
            const std::uint64_t entries = at + sizeof(Directory);
            if (block.used > block.capacity ||
                !lies_within(entries, std::uint64_t{block.used} * sizeof(Table), bytes_.size()))
                return damaged("its directory is larger than the file");
            for (std::uint32_t i = 0; i < block.used; ++i) {
                auto table = load_prefix<Table>(bytes_.data() + entries + i * sizeof(Table), sizeof(Table));
                if (is_cut_ && (table.used = records_that_fit(table)) == 0) continue;
                if (table.type == TableType::none) continue;  // being published when the rank ended
                const std::uint64_t length = std::uint64_t{table.used} * table.record_size;
                if (table.record_size == 0 || table.used > table.capacity ||
                    !lies_within(table.offset, length, bytes_.size()))
                    return damaged(fmt::format("table {} of its directory lies outside the file", tables_.size()));
                total += length;
                if (total > bytes_.size()) return damaged("its tables overlap");
                tables_.push_back(table);
            }
            at = is_cut_ && block.next >= bytes_.size() ? 0 : block.next;
        }
        if (is_cut_)
            note(fmt::format("rank {}: the disk was full: {} of {} bytes could be kept, newer calls are missing", header_.rank,
                             bytes_.size(), header_.image_bytes));
        return std::monostate{};
    }

    std::uint32_t records_that_fit(const Table& table) const {
        if (table.offset >= bytes_.size() || table.record_size == 0) return 0;
        return static_cast<std::uint32_t>(std::min<std::uint64_t>((bytes_.size() - table.offset) / table.record_size, table.used));
    }

    tl::unexpected<Problem> damaged(std::string what) const {
        return problem(path_, "is damaged: " + what, "it is left out");
    }

    // Every record of one type in the order of the directory, and the table it is in.
    template <class T, class Use>
    void each(TableType type, Use use) const {
        for (const Table& table : tables_) {
            if (table.type != type) continue;
            const std::byte* at = bytes_.data() + table.offset;
            for (std::uint32_t i = 0; i < table.used; ++i, at += table.record_size)
                use(load_prefix<T>(at, table.record_size), table);
        }
    }

    std::size_t records(TableType type) const {
        std::size_t n = 0;
        for (const Table& table : tables_)
            if (table.type == type) n += table.used;
        return n;
    }

    void read_calls() {
        profile_.calls.reserve(records(TableType::calls));
        each<CallRecord>(TableType::calls, [&](const CallRecord& record, const Table&) {
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
            profile_.calls.back().is_sampled = is_polled_.back();
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
        each<format::Thread>(TableType::threads, [&](const format::Thread& record, const Table&) {
            model::Thread thread{
                .kind = record.kind == format::ThreadKind::other ? model::ThreadKind::other : model::ThreadKind::main,
                .os_thread = record.os_thread,
                .owners = record.owners,
                .in_call = {},
                .last_call = {},
                .called_from = {},
                .nested = record.nested};
            const std::uint64_t key = record.in_call != 0 ? record.in_call : record.last_call;
            if (key != 0) {
                (record.in_call != 0 ? thread.in_call : thread.last_call) =
                    call_index(static_cast<std::uint16_t>(key >> 48));
                thread.called_from.offset = key & 0xffff'ffff'ffff;  // read_modules() finds the module
                if (record.in_call_since > header_.started.ticks)
                    thread.in_call_since_ns = scale_.ns(record.in_call_since - header_.started.ticks);
            }
            index_of_thread_.emplace(record.id, static_cast<std::uint32_t>(profile_.threads.size()));
            profile_.threads.push_back(thread);
            handle_of_thread_.push_back(record.in_call_communicator);
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
        profile_.cells.reserve(records(TableType::cells) + records(TableType::counters));
        each<format::Cell>(TableType::cells, [&](const format::Cell& record, const Table& table) {
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
                                      .min_ns = has_min ? scale_.ns(record.min_ticks) : 0,
                                      .max_ns = scale_.ns(record.max_ticks),
                                      .errors = record.errors});
        });
    }

    void read_counters() {
        for (const Table& table : tables_) {
            if (table.type != TableType::counters) continue;
            const std::size_t calls = counter_of_call_.size();
            for (std::size_t i = 0; i < calls; ++i) {
                const bool has_counter = profile_.calls[i].treatment == model::Treatment::counted || is_polled_[i];
                if (!has_counter || counter_of_call_[i] >= table.used) continue;
                const std::byte* at =
                    bytes_.data() + table.offset + std::uint64_t{counter_of_call_[i]} * table.record_size;
                const auto counter = load_prefix<Counter>(at, table.record_size);
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
        bool is_damaged = false;
        each<format::Histogram>(TableType::histograms, [&](const format::Histogram& record, const Table& table) {
            model::Histogram histogram{.call = call_index(record.call),
                                       .bin = std::min<std::uint8_t>(record.bin, model::size_bins - 1),
                                       .thread = thread_index(table.thread),
                                       .first_bucket = static_cast<std::uint32_t>(profile_.buckets.size())};
            if (!is_damaged) is_damaged = !read_buckets(record);
            histogram.buckets = static_cast<std::uint32_t>(profile_.buckets.size()) - histogram.first_bucket;
            histogram.requests = record.completed;
            histogram.in_flight_ns = scale_.ns(record.in_flight_ticks);
            histogram.blocked_ns = scale_.ns(record.blocked_ticks);
            if (histogram.buckets != 0 || histogram.requests != 0) profile_.histograms.push_back(histogram);
        });
        if (is_damaged) return damaged("a histogram leads out of the file");
        return std::monostate{};
    }

    // False: it leads out of the file.
    bool read_buckets(const format::Histogram& record) {
        for (unsigned octave = 0; octave < histogram_octaves; ++octave) {
            if (record.block[octave] == 0) continue;
            const std::uint64_t offset = std::uint64_t{record.block[octave]} * 8;
            // A block belongs to one octave of one histogram, so all of them fit into the file.
            if (is_cut_ && !lies_within(offset, sizeof(HistogramBlock), bytes_.size())) continue;
            if (!lies_within(offset, sizeof(HistogramBlock), bytes_.size()) || ++blocks_ > bytes_.size() / sizeof(HistogramBlock))
                return false;
            add_buckets(octave, load_prefix<HistogramBlock>(bytes_.data() + offset, sizeof(HistogramBlock)));
        }
        return true;
    }

    Ok read_regions() {
        bool is_damaged = false;
        each<format::Region>(TableType::regions, [&](const format::Region& record, const Table&) {
            model::Region region{.name = std::string(text_of(record.name)),
                                 .parent = record.parent < profile_.regions.size() ? record.parent : 0,
                                 .is_iteration = (record.flags & format::is_iteration) != 0,
                                 .entered = record.entered,
                                 .time_ns = scale_.ns(record.ticks),
                                 .min_ns = record.entered ? scale_.ns(record.min_ticks) : 0,
                                 .max_ns = scale_.ns(record.max_ticks),
                                 .items = record.items,
                                 .first_bucket = static_cast<std::uint32_t>(profile_.buckets.size())};
            const std::uint64_t last = last_ticks();
            if (record.inside_since != 0 && record.inside_since < last) region.time_ns += scale_.ns(last - record.inside_since);
            const std::uint64_t offset = std::uint64_t{record.durations} * 8;
            if (record.durations != 0 && !is_damaged)
                is_damaged = !lies_within(offset, sizeof(format::Histogram), bytes_.size())
                                 ? !is_cut_
                                 : !read_buckets(load_prefix<format::Histogram>(bytes_.data() + offset, sizeof(format::Histogram)));
            region.buckets = static_cast<std::uint32_t>(profile_.buckets.size()) - region.first_bucket;
            profile_.regions.push_back(std::move(region));
        });
        for (model::Cell& cell : profile_.cells)
            if (cell.region >= profile_.regions.size()) cell.region = 0;
        if (is_damaged) return damaged("the durations of a region lead out of the file");
        return std::monostate{};
    }

    // The last moment that the header knows.
    std::uint64_t last_ticks() const { return header_.ended.ticks ? header_.ended.ticks : header_.updated.ticks; }

    void add_buckets(unsigned octave, const HistogramBlock& block) {
        for (unsigned sub = 0; sub < histogram_sub_buckets; ++sub) {
            if (block.count[sub] == 0) continue;
            const std::uint64_t begin = bucket_begin(octave, sub);
            profile_.buckets.push_back({.low_ns = scale_.ns_exact(begin),
                                        .high_ns = scale_.ns_exact(begin + (bucket_width(octave) - 1)),
                                        .calls = block.count[sub]});
        }
    }

    void read_communicators() {
        std::unordered_map<std::uint64_t, std::uint16_t> of_handle;
        each<format::Communicator>(TableType::communicators, [&](const format::Communicator& record, const Table&) {
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
                                              .name = std::string(text_of(record.name))});
            if (record.how == format::origin_made)
                profile_.communicators.back().made_by = call_index(record.made_by);
            const auto index = static_cast<std::uint16_t>(profile_.communicators.size() - 1);
            // A handle may have meant several communicators in turn: the last one counts.
            for (const std::uint64_t handle : {record.handle, record.fortran_handle}) of_handle[handle] = index;
        });
        for (std::size_t t = 0; t < handle_of_thread_.size(); ++t)
            if (const auto found = of_handle.find(handle_of_thread_[t]); found != of_handle.end())
                profile_.threads[t].in_communicator = found->second;
        for (model::Cell& cell : profile_.cells)
            if (cell.communicator >= profile_.communicators.size()) cell.communicator = 0;
    }

    model::Flow flow_of(const format::Flow& flow) const { return {flow.messages, flow.bytes, scale_.ns(flow.ticks)}; }

    // The threads' records of one rank are put together.
    void read_peers() {
        VaguePeers& vague = profile_.vague_peers;
        each<format::Peer>(TableType::peers, [&](const format::Peer& record, const Table&) {
            if (record.kind > format::PeerKind::one_sided) return;
            const model::Flow sent = flow_of(record.sent), received = flow_of(record.received);
            if (record.rank == peer_any) {
                vague.received_from_any += received;
            } else if (record.rank == peer_other) {
                vague.sent_others += sent;
                vague.received_others += received;
                profile_.drops.peers += sent.messages + received.messages;
            } else if (record.rank >= header_.size) {  // unknown, or damage
                vague.sent_unknown += sent;
                vague.received_unknown += received;
            } else {
                const auto kind = record.kind == format::PeerKind::one_sided ? model::PeerKind::one_sided : model::PeerKind::messages;
                profile_.peers.push_back({.rank = record.rank, .kind = kind, .sent = sent, .received = received});
            }
        });
        auto& peers = profile_.peers;
        const auto key = [](const model::Peer& peer) { return std::make_pair(peer.rank, peer.kind); };
        std::sort(peers.begin(), peers.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
        std::size_t last = 0;
        for (std::size_t i = 1; i < peers.size(); ++i) {
            if (key(peers[i]) == key(peers[last])) {
                peers[last].sent += peers[i].sent;
                peers[last].received += peers[i].received;
            } else {
                peers[++last] = peers[i];
            }
        }
        if (!peers.empty()) peers.resize(last + 1);
    }

    struct Range {
        std::uint64_t base;
        std::uint64_t end;
        std::uint32_t module;
    };

    void read_modules() {
        std::vector<Range> ranges;
        std::uint64_t used = 0;
        // Modules do not share their names, so hostile ones cannot make more text of them than the file holds.
        const auto text_at = [&](std::uint64_t offset, std::uint32_t length) {
            const bool is_sound = lies_within(offset, length, bytes_.size()) && (used += length) <= bytes_.size();
            return is_sound ? as_text(bytes_.subspan(offset, length)) : std::string_view();
        };
        each<format::Module>(TableType::modules, [&](const format::Module& record, const Table&) {
            model::Module module;
            module.path = text_at(record.path_offset, record.path_length);
            for (std::uint32_t i = 0; i < std::min<std::uint32_t>(record.build_id_length, sizeof record.build_id); ++i)
                for (const unsigned half : {record.build_id[i] >> 4, record.build_id[i] & 0xf})
                    module.build_id += "0123456789abcdef"[half];
            if (record.language != format::Language::machine) {
                module.is_script = true;
                module.build_id = text_at(record.function_offset, record.function_length);
            }
            ranges.push_back({record.base, record.end, static_cast<std::uint32_t>(profile_.modules.size())});
            profile_.modules.push_back(std::move(module));
        });
        find_modules_of_calls(std::move(ranges));
    }

    // The calls that threads are in are known by their return addresses in the process.
    void find_modules_of_calls(std::vector<Range> ranges) {
        std::erase_if(ranges, [](const Range& range) { return range.module == 0 || range.base >= range.end; });
        std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.base < b.base; });
        for (model::Thread& thread : profile_.threads) {
            const std::uint64_t address = thread.called_from.offset;
            auto range = std::upper_bound(ranges.begin(), ranges.end(), address,
                                          [](std::uint64_t wanted, const Range& r) { return wanted < r.base; });
            if (range == ranges.begin() || (--range)->end <= address) continue;
            thread.called_from = {.offset = address - range->base, .module = range->module};
        }
    }

    void read_sites() {
        std::vector<model::Frame> frames;
        each<format::Frame>(TableType::frames, [&](const format::Frame& record, const Table&) {
            const bool is_known = record.module < profile_.modules.size();
            frames.push_back({.offset = record.offset, .module = is_known ? record.module : 0});
        });
        std::size_t used = 0;
        each<format::Site>(TableType::sites, [&](const format::Site& record, const Table&) {
            model::Site site;
            // Sites do not share frames, so hostile ones cannot make more of them than the file holds.
            if (lies_within(record.first_frame, record.frames, frames.size()) &&
                (used += record.frames) <= frames.size())
                site.frames.assign(frames.begin() + record.first_frame,
                                   frames.begin() + record.first_frame + record.frames);
            site.common = std::min<std::size_t>(std::max(record.flags & 15, 1), site.frames.size());
            profile_.sites.push_back(std::move(site));
        });
        for (model::Cell& cell : profile_.cells)
            if (cell.site >= profile_.sites.size()) cell.site = 0;
    }

    void read_settings() {
        each<format::Setting>(TableType::settings, [&](const format::Setting& record, const Table&) {
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
        each<format::Activity>(TableType::activity, [&](const format::Activity& record, const Table& table) {
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
    }

    void read_facts() {
        std::uint64_t used = 0;
        each<format::Fact>(TableType::facts, [&](const format::Fact& record, const Table&) {
            // Values do not share their text, so hostile ones cannot make more of it than the file holds.
            used += record.value_length;
            const bool is_known = record.kind >= format::FactKind::process && record.kind <= format::FactKind::environment;
            if (!is_known || used > bytes_.size() ||
                !lies_within(record.value_offset, record.value_length, bytes_.size()))
                return;
            profile_.facts.push_back({static_cast<model::FactKind>(record.kind), std::string(text_of(record.name)),
                                      std::string(as_text(bytes_.subspan(record.value_offset, record.value_length)))});
        });
    }

    ByteSpan bytes_;
    std::string_view path_;
    const Header& header_;
    TickScale scale_;
    std::vector<Table> tables_;
    std::vector<std::uint32_t> index_of_call_;  // call id of the file -> index into profile_.calls
    std::vector<std::uint16_t> counter_of_call_;
    std::vector<bool> is_polled_;
    std::unordered_map<std::uint32_t, std::uint32_t> index_of_thread_;
    std::uint64_t blocks_ = 0;  // of histograms, read so far
    bool is_cut_;               // at its end, for want of room on the disk
    std::vector<std::uint64_t> handle_of_thread_;  // the communicator that its present or last call was given
    std::uint32_t last_thread_ = nothing;
    std::uint32_t last_thread_index_ = 0;
    Profile profile_;
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

Result<Profile> read_profile(ByteSpan bytes, std::string_view path) {
    if (looks_like_mpitrace(bytes)) return read_mpitrace(bytes, path);
    const auto header = read_header(bytes, bytes.size(), path);
    if (!header) return tl::make_unexpected(header.error());
    return Reader(bytes, path, *header).read();
}

}  // namespace mpiprof::report
