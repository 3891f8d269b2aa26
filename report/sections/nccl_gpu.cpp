// Times on the GPU begin with the first kernel, which waits there for the kernels of the other ranks: so the shortest
// of an operation over its members is the transfer, and the rest is waiting for the rank that came last. That holds of
// CUPTI's times; those by events begin earlier, and are no more than an upper bound.
#include "report/sections/nccl_gpu.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/bus_bandwidth.h"
#include "report/model/units.h"
#include "report/sections/comm_labels.h"
#include "report/sections/section.h"
#include "report/sections/words_of_gpu_times.h"

namespace mpiprof::report {
namespace {

constexpr std::string_view exchange_name = "ncclSend, ncclRecv";  // in one group

constexpr std::size_t late_on_screen = 8, busy_on_screen = 8;

struct Operations {
    const GpuRow* row;
    const Call* call;
    std::optional<double> bus_factor;
    double ranks, gpu_ns;
    bool is_group() const { return call->traffic == Traffic::completion; }  // of several operations
    double time_ns() const { return static_cast<double>(row->time_ns); }
    // What the busiest link carries, by nccl-tests' definitions; empty: there is no definition.
    std::optional<double> bus_bytes() const {
        if (row->bytes == 0 || row->by_events) return std::nullopt;
        if (row->is_exchange) return static_cast<double>(row->others_bytes);
        return bus_factor ? std::optional(static_cast<double>(row->bytes) * *bus_factor) : std::nullopt;
    }
    Value bus_bandwidth(std::optional<double> ns) const {
        const auto moved = bus_bytes();
        return moved && ns ? ratio(*moved, *ns / 1e9) : Value();
    }
    double per_operation(std::uint64_t sum) const {
        return static_cast<double>(sum) / static_cast<double>(row->operations);
    }
};

std::vector<Operations> operations_of(const Job& job) {
    const BusFactors factors(job, false);
    double gpu_ns = 0;
    for (const GpuRow& row : job.gpu.rows) gpu_ns += static_cast<double>(row.time_ns);
    std::vector<Operations> lines;
    for (const GpuRow& row : job.gpu.rows)
        lines.push_back({&row, &job.calls[row.call], factors.of(row.call, row.bin),
                         std::max(1.0, static_cast<double>(job.profiles())), gpu_ns});
    return lines;
}

std::vector<Field<Operations>> what_fields(const Job& job, bool has_others) {
    using L = const Operations&;
    return {
        {{.id = "operation", .title = "OPERATION"},
         [](L l) { return l.row->is_exchange ? std::string(exchange_name) : l.call->name; }},
        {{.id = "launched_by", .title = "IN", .drop = 1, .only_data = !has_others},
         [](L l) {
             return std::string(l.row->is_replayed ? "graph" : l.is_group() ? "group" : "call");
         }},
        {{.id = "avg_bytes", .title = "AVG SIZE", .unit = Unit::bytes},
         [](L l) { return l.row->bytes ? Value(l.per_operation(l.row->bytes)) : Value(); }},
        {{.id = "operations", .title = "OPERATIONS", .unit = Unit::count, .drop = 2},
         [](L l) { return static_cast<double>(l.row->operations) / l.ranks; }},
        {{.id = "gpu_ns", .title = gpu_sum_heading(job, "GPU TIME"), .unit = Unit::time, .same_unit = true},
         [](L l) { return l.time_ns() / l.ranks; }},
        {bar(7), [](L l) { return ratio(l.time_ns(), l.gpu_ns); }},
        {{.id = "per_operation_ns", .title = gpu_heading(job, "EACH"), .unit = Unit::time},
         [](L l) { return l.per_operation(l.row->time_ns); }},
    };
}

std::vector<Field<Operations>> duration_fields() {
    using L = const Operations&;
    return {
        {{.id = "min_ns", .title = "MIN", .unit = Unit::time, .drop = 6}, [](L l) { return known(l.row->min_ns); }},
        {{.id = "p50_ns", .title = "P50", .unit = Unit::time, .drop = 4}, [](L l) { return known(l.row->p50_ns); }},
        {{.id = "p99_ns", .title = "P99", .unit = Unit::time, .drop = 5}, [](L l) { return known(l.row->p99_ns); }},
        {{.id = "max_ns", .title = "MAX", .unit = Unit::time, .drop = 6}, [](L l) { return known(l.row->max_ns); }},
    };
}

std::vector<Field<Operations>> rate_fields(bool is_mixed, bool has_moving) {
    using L = const Operations&;
    return {
        {{.id = "algbw_bytes_per_s", .title = "ALGBW", .unit = Unit::rate, .drop = 3},
         [](L l) { return l.row->bytes ? ratio(static_cast<double>(l.row->bytes), l.time_ns() / 1e9) : Value(); }},
        {{.id = "busbw_bytes_per_s", .title = "BUSBW", .unit = Unit::rate},
         [](L l) { return l.bus_bandwidth(l.time_ns()); }},
        {{.id = "moving_busbw_bytes_per_s",
          .title = "BUSBW (NO WAIT)",
          .unit = Unit::rate,
          .drop = 1,
          .only_data = !has_moving},
         [](L l) { return l.bus_bandwidth(l.row->moving_ns); }},
        {{.id = "kernels", .title = "KERNELS", .unit = Unit::count, .drop = 9},
         [](L l) { return l.row->kernels ? Value(static_cast<double>(l.row->kernels) / l.ranks) : Value(); }},
        {{.id = "source", .title = "KNOWN BY", .drop = is_mixed ? 0 : 8},
         [](L l) { return source_of(l.row->by_events, l.row->by_cupti, l.row->by_launches); }},
        {in_data("total_operations", Unit::count), [](L l) { return l.row->operations; }},
        {in_data("total_bytes", Unit::bytes), [](L l) { return l.row->bytes; }},
        {in_data("total_gpu_ns", Unit::time), [](L l) { return l.row->time_ns; }},
    };
}

// What the times are, by what told of them.
void note_times(Table& table, const Job& job, bool has_moving) {
    if (job.gpu.ranks_by_events != 0)
        table.notes.push_back(
            "<=: times from CUDA events are upper bounds: they begin before the kernel and include queueing; ALGBW is "
            "then a lower bound; bus bandwidth and late ranks need CUPTI, or NCCL 2.28 and later");
    if (job.gpu.has_launches())
        table.notes.push_back(
            "by kernel launches: events right before and after each launch that NCCL reports; on an idle stream they "
            "include the launch itself, a few microseconds");
    table.notes.push_back(fmt::format(
        "mean of the ranks; times include waiting on the GPU for the slowest rank, and so {} (nccl-tests' {})",
        job.gpu.ranks_by_events ? "does ALGBW" : "do ALGBW and BUSBW",
        job.gpu.ranks_by_events ? "definition" : "definitions"));
    if (has_moving)
        table.notes.push_back(
            "BUSBW (NO WAIT): without that waiting, estimated from the operations that were compared across all members of "
            "the same communicators; closest to what nccl-tests prints");
}

Table operations(const Job& job) {
    const std::vector<Operations> lines = operations_of(job);
    const bool has_others =
        std::ranges::any_of(lines, [](const Operations& l) { return l.row->is_replayed || l.is_group(); });
    const bool is_mixed = (job.gpu.ranks_by_events != 0) + (job.gpu.ranks_by_cupti != 0) + job.gpu.has_launches() > 1;
    const bool has_moving = std::ranges::any_of(lines, [](const Operations& l) {
        return l.row->moving_ns && l.bus_bytes() && *l.row->moving_ns < 0.99 * l.time_ns();
    });
    Table table = table_of(
        "nccl_gpu",
        side_by_side<Operations>({what_fields(job, has_others), duration_fields(), rate_fields(is_mixed, has_moving)}),
        lines);
    table.title = "ON THE GPU";
    (void)sort_rows(table, "gpu_ns");
    note_times(table, job, has_moving);
    return table;
}

struct LateLine {
    const GpuComm* comm;
    std::string label;
    GpuComm::Late late;
};

// For whom the members of a communicator waited.
Table late_ranks(const Job& job, bool is_for_screen) {
    std::vector<LateLine> lines;
    for (const GpuComm& comm : job.gpu.comms)
        for (const GpuComm::Late& late : comm.late) {
            const auto known =
                std::find_if(job.comms.begin(), job.comms.end(), [&](const Comm& c) { return c.id == comm.id; });
            lines.push_back(
                {&comm, known == job.comms.end() ? fmt::format("{:016x}", comm.id) : nccl_label_of(*known), late});
        }
    using L = const LateLine&;
    Table table = table_of(
        "nccl_late",
        std::vector<Field<LateLine>>{
            {{.id = "communicator", .title = "COMMUNICATOR"}, [](L l) { return l.label; }},
            {{.id = "rank", .title = "RANK", .unit = Unit::rank}, [](L l) { return std::uint64_t{l.late.rank}; }},
            {{.id = "last", .title = "CAME LAST", .unit = Unit::count}, [](L l) { return l.late.operations; }},
            {{.id = "last_share", .title = "OF", .unit = Unit::share, .draw = Draw::nothing, .drop = 1},
             [](L l) { return ratio(static_cast<double>(l.late.operations), static_cast<double>(l.comm->compared)); }},
            {{.id = "waited_ns", .title = "OTHERS WAITED", .unit = Unit::time, .same_unit = true},
             [](L l) { return l.late.waited_ns; }},
            {{.id = "waited_share", .title = "OF THEIR TIME", .unit = Unit::share, .drop = 2},
             [](L l) {
                 return ratio(static_cast<double>(l.late.waited_ns), static_cast<double>(l.comm->compared_ns));
             }},
            {in_data("compared", Unit::count), [](L l) { return l.comm->compared; }},
            {in_data("id"), [](L l) { return fmt::format("{:016x}", l.comm->id); }},
        },
        lines);
    (void)sort_rows(table, "waited_ns");
    table.title = "LATE RANKS ON THE GPU";
    std::uint64_t compared = 0;
    for (const GpuComm& comm : job.gpu.comms) compared += comm.compared;
    if (is_for_screen) cut(table, late_on_screen, ": nccl --format csv");
    table.notes.push_back(
        fmt::format("from {} compared across all members; the shortest counts as the transfer; "
                    "ties are not attributed",
                    plural(compared, "collective operation", "collective operations")));
    return table;
}

Table work(const Job& job) {
    const double devices = std::max(1u, job.gpu.devices_with_work);
    using W = const GpuWork&;
    Table table = table_of(
        "gpu_work",
        std::vector<Field<GpuWork>>{
            {{.id = "work", .title = "WORK"}, [](W w) { return std::string(name_of(w.kind)); }},
            {{.id = "count", .title = "NUMBER", .unit = Unit::count},
             [&](W w) { return static_cast<double>(w.count) / devices; }},
            {{.id = "bytes", .title = "BYTES", .unit = Unit::bytes},
             [&](W w) { return w.bytes ? Value(static_cast<double>(w.bytes) / devices) : Value(); }},
            {{.id = "gpu_ns", .title = "GPU TIME", .unit = Unit::time, .same_unit = true},
             [&](W w) { return w.time_ns ? Value(static_cast<double>(w.time_ns) / devices) : Value(); }},
            {{.id = "rate_bytes_per_s", .title = "RATE", .unit = Unit::rate, .drop = 1},
             [](W w) {
                 return w.bytes ? ratio(static_cast<double>(w.bytes), static_cast<double>(w.time_ns) / 1e9) : Value();
             }},
            {{.id = "exposed_ns", .title = "EXPOSED", .unit = Unit::time, .same_unit = true},
             [&](W w) {
                 return w.kind == GpuWorkKind::nccl_kernels
                            ? Value(static_cast<double>(w.time_ns - w.overlapped_ns) / devices)
                            : Value();
             }},
            {{.id = "in_graphs", .title = "IN GRAPHS", .unit = Unit::count, .drop = 2},
             [&](W w) { return w.in_graphs ? Value(static_cast<double>(w.in_graphs) / devices) : Value(); }},
        },
        job.gpu.work);
    table.title = "GPU ACTIVITY";
    table.notes.push_back(
        fmt::format("by CUPTI; mean of {}. EXPOSED: NCCL's kernels while no other kernel ran on that GPU",
                    plural(job.gpu.devices_with_work, "GPU", "GPUs")));
    return table;
}

// The four parts of a GPU's recorded time add up to it.
Table busy(const Job& job, bool is_for_screen) {
    const auto share = [](std::uint64_t ns, const GpuBusy& gpu) {
        return ratio(static_cast<double>(ns), static_cast<double>(gpu.recorded_ns));
    };
    using G = const GpuBusy&;
    Table table = table_of(
        "gpu_busy",
        std::vector<Field<GpuBusy>>{
            {{.id = "rank", .title = "RANK", .unit = Unit::rank}, [](G g) { return std::uint64_t{g.rank}; }},
            {{.id = "device", .title = "GPU", .unit = Unit::count, .drop = 2},
             [](G g) { return std::uint64_t{g.device}; }},
            {{.id = "recorded_ns", .title = "RECORDED", .unit = Unit::time, .drop = 1, .same_unit = true},
             [](G g) { return g.recorded_ns; }},
            {{.id = "computing_share", .title = "COMPUTING", .unit = Unit::share},
             [&](G g) { return share(g.computing_ns(), g); }},
            {{.id = "hidden_share", .title = "NCCL HIDDEN", .unit = Unit::share},
             [&](G g) { return share(g.nccl_hidden_ns, g); }},
            {{.id = "exposed_share", .title = "NCCL EXPOSED", .unit = Unit::share},
             [&](G g) { return share(g.exposed_ns(), g); }},
            {{.id = "idle_share", .title = "IDLE", .unit = Unit::share}, [&](G g) { return share(g.idle_ns(), g); }},
        },
        job.gpu.busy);
    table.title = "GPU UTILISATION";
    if (is_for_screen) cut(table, busy_on_screen, ": nccl --format csv");
    table.notes.push_back(
        "by CUPTI, from the first recorded kernel to the last; COMPUTING: only kernels other than NCCL's; "
        "HIDDEN: both; EXPOSED: only NCCL's; IDLE: none (copies aside)");
    return table;
}

}  // namespace

const GpuComm* gpu_comm(const Job& job, std::uint64_t id) {
    const auto found = std::lower_bound(job.gpu.comms.begin(), job.gpu.comms.end(), id,
                                        [](const GpuComm& c, std::uint64_t wanted) { return c.id < wanted; });
    return id == 0 || found == job.gpu.comms.end() || found->id != id ? nullptr : &*found;
}

const ReplayedOn* replayed_on(const Job& job, std::uint64_t id) {
    const auto found = std::lower_bound(job.gpu.replayed.begin(), job.gpu.replayed.end(), id,
                                        [](const ReplayedOn& r, std::uint64_t wanted) { return r.id < wanted; });
    return id == 0 || found == job.gpu.replayed.end() || found->id != id ? nullptr : &*found;
}

std::vector<Table> gpu_tables(const Job& job, bool is_for_screen) {
    std::vector<Table> tables;
    for (Table& table :
         std::vector{operations(job), late_ranks(job, is_for_screen), busy(job, is_for_screen), work(job)})
        if (!table.rows.empty()) tables.push_back(std::move(table));
    return tables;
}

// Those of the operation that took longest, of which there is a bus bandwidth.
static std::optional<Operations> longest_with_bus_bandwidth(const Job& job) {
    std::optional<Operations> longest;
    for (const Operations& line : operations_of(job))
        if (line.bus_bytes() && line.row->time_ns != 0 && (!longest || line.time_ns() > longest->time_ns()))
            longest = line;
    return longest;
}

Table nccl_headline(const Job& job) {
    const double ranks = std::max(1.0, static_cast<double>(job.profiles()));
    double gpu_ns = 0;
    std::uint64_t host_ns = 0;
    for (const GpuRow& row : job.gpu.rows) gpu_ns += static_cast<double>(row.time_ns) / ranks;
    for (const Rank& rank : job.ranks) host_ns += rank.nccl_ns;
    HeadlineTable lines("nccl_total");
    lines.add("host_ns", static_cast<double>(host_ns) / ranks);
    lines.add(1, "gpu_ns", job.gpu.rows.empty() ? Value() : Value(gpu_ns),
              job.gpu.rows.empty()
                  ? fmt::format("NCCL took {} on the host of each rank; its time on the GPU is not recorded",
                                human_time(static_cast<double>(host_ns) / ranks))
                  : fmt::format("NCCL ran {}{} on the GPU of each rank (mean)", how_known(job), human_time(gpu_ns)));
    const auto [kernels_ns, exposed_ns] = job.gpu.exposed();
    const Value exposed = ratio(exposed_ns, kernels_ns);
    const auto* exposed_share = std::get_if<double>(&exposed);
    lines.add(2, "exposed_share", exposed,
              exposed_share ? human_share(*exposed_share) + " of its kernels' time exposed" : "");
    // That of the communicator of which [nccl-waiting] speaks.
    const GpuComm* comm = job.gpu.most_waiting();
    lines.add(2, "waiting_share", comm ? Value(*comm->waiting_share()) : Value(),
              comm ? fmt::format("{} waiting for the last rank on {}", human_share(*comm->waiting_share()),
                                 CommLabels(job).of({CommKind::known, comm->id}))
                   : "");
    const auto longest = longest_with_bus_bandwidth(job);
    const double busbw = longest ? *longest->bus_bytes() / (longest->time_ns() / 1e9) : 0;
    const std::string name = !longest                    ? ""
                             : longest->row->is_exchange ? std::string(exchange_name)
                                                         : longest->call->name;
    lines.add("longest_operation", longest ? Value(name) : Value());
    lines.add(2, "busbw_bytes_per_s", longest ? Value(busbw) : Value(),
              longest ? fmt::format("{} of {} at {} busbw", name,
                                    human_bytes(longest->per_operation(longest->row->bytes)), human_rate(busbw))
                      : "");
    return lines.take();
}

}  // namespace mpiprof::report
