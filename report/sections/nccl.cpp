// nccl: every communicator of NCCL: its members, calls, bytes, host and GPU time; then the groups, in which operations
// are launched together, the GPU's side (nccl_gpu), and what NCCL chose for its operations.
#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/model/units.h"
#include "report/sections/comm_labels.h"
#include "report/sections/nccl_gpu.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t lines_on_screen = 40;

struct Line {
    const Comm* comm;
    const GpuComm* gpu = nullptr;
    std::uint64_t collectives = 0, sends_and_receives = 0;  // and one-sided
    std::uint64_t replayed = 0;                             // of both, by CUDA graphs
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;  // of all calls on it
    std::uint64_t errors = 0;

    std::uint64_t operations() const { return collectives + sends_and_receives; }
    double per_member(std::uint64_t sum) const { return comm->members ? static_cast<double>(sum) / comm->members : 0; }
};

std::vector<Line> lines_of(const Job& job) {
    std::vector<Line> lines;
    for (const Comm& comm : job.comms) {
        Line line{.comm = &comm, .gpu = gpu_comm(job, comm.id)};
        bool is_of_nccl = false;
        for (const CommSum& sum : comm.sums) {
            const Call& call = job.calls[sum.call];
            if (call.family != Family::nccl) continue;
            is_of_nccl = true;
            (call.traffic == Traffic::collective ? line.collectives : line.sends_and_receives) +=
                carries_messages(call.traffic) ? sum.calls : 0;
            line.bytes += sum.bytes;
            line.time_ns += sum.time_ns;
            line.errors += sum.errors;
        }
        if (const ReplayedOn* replayed = replayed_on(job, comm.id)) {
            line.collectives += replayed->collectives;
            line.sends_and_receives += replayed->sends_and_receives;
            line.replayed = replayed->operations();
            line.bytes += replayed->bytes;
        }
        if (is_of_nccl) lines.push_back(line);
    }
    return lines;
}

Table communicators(const Job& job) {
    using L = const Line&;
    const bool has_gpu = !job.gpu.rows.empty();
    return table_of(
        "nccl",
        std::vector<Field<Line>>{
            {{.id = "communicator", .title = "COMMUNICATOR"}, [](L l) { return nccl_label_of(*l.comm); }},
            {{.id = "size", .title = "SIZE", .unit = Unit::count}, [](L l) { return known(l.comm->size); }},
            {{.id = "ranks", .title = "RANKS", .unit = Unit::count, .drop = has_gpu ? 3 : 0},
             [](L l) { return std::uint64_t{l.comm->members}; }},
            {{.id = "collectives", .title = "COLLECTIVES", .unit = Unit::count},
             [](L l) { return l.per_member(l.collectives); }},
            {{.id = "point_to_point", .title = "SEND+RECV", .unit = Unit::count, .drop = 2},
             [](L l) { return l.per_member(l.sends_and_receives); }},
            {{.id = "bytes", .title = "BYTES", .unit = Unit::bytes},
             [](L l) { return l.bytes ? Value(l.per_member(l.bytes)) : Value(); }},
            {{.id = "host_ns", .title = "HOST TIME", .unit = Unit::time, .drop = has_gpu ? 1 : 0, .same_unit = true},
             [](L l) { return l.time_ns ? Value(l.per_member(l.time_ns)) : Value(); }},
            {{.id = "gpu_ns",
              .title = gpu_sum_heading(job, "GPU TIME"),
              .unit = Unit::time,
              .same_unit = true,
              .only_data = !has_gpu},
             [](L l) { return l.gpu && l.gpu->time_ns ? Value(l.per_member(l.gpu->time_ns)) : Value(); }},
            {{.id = "gpu_waiting_share", .title = "WAITING", .unit = Unit::share, .only_data = !has_gpu},
             [](L l) {
                 const bool is_compared = l.gpu && l.gpu->compared >= GpuComm::enough && l.gpu->compared_ns != 0;
                 return is_compared
                            ? Value(static_cast<double>(l.gpu->waiting_ns) / static_cast<double>(l.gpu->compared_ns))
                            : Value();
             }},
            {{.id = "made_by", .title = "MADE BY", .drop = 4}, [](L l) { return l.comm->made_by; }},
            {{.id = "id", .title = {}, .only_data = true},
             [](L l) { return l.comm->id ? fmt::format("{:016x}", l.comm->id) : std::string(); }},
            {{.id = "parent_id", .title = {}, .only_data = true},
             [](L l) { return l.comm->parent ? fmt::format("{:016x}", l.comm->parent) : std::string(); }},
            {{.id = "first_rank", .title = {}, .unit = Unit::rank, .only_data = true},
             [](L l) { return std::uint64_t{l.comm->first_rank}; }},
            {{.id = "errors", .title = {}, .unit = Unit::count, .only_data = true}, [](L l) { return l.errors; }},
            {{.id = "total_operations", .title = {}, .unit = Unit::count, .only_data = true},
             [](L l) { return l.operations(); }},
            {{.id = "total_replayed", .title = {}, .unit = Unit::count, .only_data = true},
             [](L l) { return l.replayed; }},
            {{.id = "total_bytes", .title = {}, .unit = Unit::bytes, .only_data = true}, [](L l) { return l.bytes; }},
            {{.id = "total_host_ns", .title = {}, .unit = Unit::time, .only_data = true},
             [](L l) { return l.time_ns; }},
        },
        lines_of(job));
}

// What CUDA graphs repeat without a call.
void note_replays(const Job& job, Table& table) {
    const std::uint64_t replayed = job.gpu.replayed_operations();
    const double per_rank = static_cast<double>(replayed) / std::max(1u, job.profiles());
    if (replayed != 0)
        table.notes.push_back(fmt::format(
            "{} of these are replays of CUDA graphs (mean of the ranks): not calls, and timed by CUPTI only",
            human_count(per_rank)));
    if (job.gpu.ranks_missing_replays != 0)
        table.notes.push_back(
            "COLLECTIVES, SEND+RECV and BYTES are lower bounds: operations were captured into CUDA graphs whose replays are not "
            "visible (driver functions, a static CUDA runtime, captured while recording was paused)");
}

// The ends of groups. Inner ones launch nothing.
Table groups(const Job& job) {
    std::vector<Row> rows;
    for (const Row& row : job.rows)
        if (job.calls[row.sum.call].family == Family::nccl && job.calls[row.sum.call].traffic == Traffic::completion)
            rows.push_back(row);
    using R = const Row&;
    const double ranks = std::max(1u, job.profiles());
    Table table = table_of(
        "nccl_groups",
        std::vector<Field<Row>>{
            {{.id = "call", .title = "CALL"}, [&](R r) { return job.calls[r.sum.call].name; }},
            {{.id = "calls", .title = "CALLS", .unit = Unit::count},
             [&](R r) { return static_cast<double>(r.sum.calls) / ranks; }},
            {{.id = "operations", .title = "OPERATIONS", .unit = Unit::count},
             [&](R r) { return static_cast<double>(r.requests) / ranks; }},
            {{.id = "operations_per_group", .title = "PER GROUP", .unit = Unit::count, .drop = 2},
             [](R r) {
                 return r.sum.calls ? Value(static_cast<double>(r.requests) / static_cast<double>(r.sum.calls))
                                    : Value();
             }},
            {{.id = "host_ns", .title = "HOST TIME", .unit = Unit::time, .same_unit = true},
             [&](R r) { return static_cast<double>(r.sum.time_ns) / ranks; }},
            {{.id = "per_call_ns", .title = "PER CALL", .unit = Unit::time, .drop = 1},
             [](R r) {
                 return r.sum.calls ? Value(static_cast<double>(r.sum.time_ns) / static_cast<double>(r.sum.calls))
                                    : Value();
             }},
        },
        rows);
    table.title = "GROUPS, LAUNCHES";
    return table;
}

// Communicators for kernels that communicate by themselves, which nobody outside of them can see.
bool has_device_api(const Job& job) {
    return std::any_of(job.rows.begin(), job.rows.end(), [&](const Row& row) {
        return row.sum.calls != 0 && job.calls[row.sum.call].name == "ncclDevCommCreate";
    });
}

// What the program has tagged the calls with. NCCL has the tags with the highest bit for itself.
Value tag_of(const NcclChoice& choice) {
    if (choice.tag == 0) return {};
    if (choice.tag == other_tags) return "others";
    return choice.tag >> 63 == 0 ? std::to_string(choice.tag) : fmt::format("{:#x}", choice.tag);
}

// Algorithm, protocol and channels, as NCCL told; what was chosen most often for a call and size first.
Table choices(const Job& job) {
    struct Choice {
        const NcclChoice* choice;
        std::uint64_t of;  // operations of this call, size and size of communicator
    };
    std::vector<Choice> lines;
    for (const NcclChoice& choice : job.nccl_choices) {
        const auto is_alike = [&](const NcclChoice& other) {
            return other.call == choice.call && other.bin == choice.bin && other.comm_size == choice.comm_size;
        };
        const NcclChoice* first = lines.empty() ? nullptr : lines.back().choice;
        std::uint64_t of = 0;
        if (first && is_alike(*first))
            of = lines.back().of;
        else
            for (const NcclChoice& other : job.nccl_choices) of += is_alike(other) ? other.operations : 0;
        lines.push_back({&choice, of});
    }
    using C = const Choice&;
    const auto word = [](const std::string& text) { return text.empty() ? Value() : Value(text); };
    Table table = table_of(
        "nccl_choices",
        std::vector<Field<Choice>>{
            {{.id = "call", .title = "OPERATION"}, [&](C c) { return job.calls[c.choice->call].name; }},
            {{.id = "bin_max_bytes", .title = {}, .unit = Unit::bytes, .only_data = true},
             [](C c) { return bin_max_bytes(c.choice->bin); }},
            {{.id = "avg_bytes", .title = "AVG SIZE", .unit = Unit::bytes},
             [](C c) { return static_cast<double>(c.choice->bytes) / static_cast<double>(c.choice->operations); }},
            {{.id = "comm_size", .title = "COMM SIZE", .unit = Unit::count, .drop = 1},
             [](C c) { return known(c.choice->comm_size); }},
            {{.id = "algorithm", .title = "ALGORITHM"}, [&](C c) { return word(c.choice->algorithm); }},
            {{.id = "protocol", .title = "PROTOCOL"}, [&](C c) { return word(c.choice->protocol); }},
            {{.id = "channels", .title = "CHANNELS", .unit = Unit::count},
             [](C c) { return known(c.choice->channels); }},
            {{.id = "tag", .title = "TAG"}, [](C c) { return tag_of(*c.choice); }},
            {{.id = "operations", .title = "OPERATIONS", .unit = Unit::count, .drop = 2},
             [&](C c) { return static_cast<double>(c.choice->operations) / std::max(1u, job.profiles()); }},
            {{.id = "bytes", .title = "BYTES", .unit = Unit::bytes, .drop = 3},
             [&](C c) { return static_cast<double>(c.choice->bytes) / std::max(1u, job.profiles()); }},
            {{.id = "share", .title = "SHARE", .unit = Unit::share},
             [](C c) { return static_cast<double>(c.choice->operations) / static_cast<double>(c.of); }},
            {{.id = "total_operations", .title = {}, .unit = Unit::count, .only_data = true},
             [](C c) { return c.choice->operations; }},
            {{.id = "total_bytes", .title = {}, .unit = Unit::bytes, .only_data = true},
             [](C c) { return c.choice->bytes; }},
            {{.id = "called_elsewhere", .title = {}, .unit = Unit::count, .only_data = true},
             [](C c) { return c.choice->called_elsewhere; }},
        },
        lines);
    table.title = "WHAT NCCL CHOSE";
    const bool is_tagged = std::any_of(job.nccl_choices.begin(), job.nccl_choices.end(),
                                       [](const NcclChoice& choice) { return choice.tag != 0; });
    for (Column& column : table.columns) column.only_data |= column.id == "tag" && !is_tagged;
    table.notes.push_back(Note{{"as reported by NCCL's profiler interface at launch"},
                               {"of the operations with that call and size", "share"}});
    return table;
}

// Why there may be less than a reader expects.
void add_notes_of_the_interface(const Job& job, Table& table) {
    const bool is_elsewhere = std::any_of(job.nccl_choices.begin(), job.nccl_choices.end(),
                                          [](const NcclChoice& c) { return c.called_elsewhere != 0; });
    if (is_elsewhere)
        table.notes.push_back(
            "NCCL is linked statically here, or called past mpiprof: such calls are counted from NCCL's profiler interface, without host time");
    if (!job.nccl_choices.empty()) return;
    for (const Variable& variable : job.placement.variables)
        if (variable.name == "NCCL_PROFILER_PLUGIN" &&
            variable.values.front().value.value_or("").find("libmpiprof") == std::string::npos)
            table.notes.push_back("NCCL_PROFILER_PLUGIN names another plugin, so algorithm and protocol are not known");
}

}  // namespace

Result<std::vector<Table>> nccl(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    Table table = communicators(job);
    if (auto ok = sort_rows(table, question.sort.empty() ? "total_host_ns" : question.sort); !ok)
        return tl::make_unexpected(ok.error());
    const std::size_t most = question.top.value_or(question.is_for_screen ? lines_on_screen : table.rows.size());
    const std::size_t left_out = keep_top(table, most);
    if (left_out) table.notes.push_back(fmt::format("{} more rows: --top {}", left_out, left_out + table.rows.size()));
    if (table.rows.empty()) {
        table.notes.push_back("no NCCL calls were recorded");
        return std::vector{std::move(table)};
    }
    table.notes.push_back("mean of the members with a profile; (none): calls without a communicator, such as groups");
    table.notes.push_back(job.gpu.rows.empty()
                              ? Note::on("host_ns", "inside the calls; the time on the GPU is not recorded")
                              : Note{{"inside the calls", "host_ns"},
                                     {job.gpu.ranks_by_events ? "an upper bound, from when the stream is free for it"
                                                              : "from the first kernel on",
                                      "gpu_ns"},
                                     {"of it, waiting for the last rank", "gpu_waiting_share"}});
    note_replays(job, table);
    for (std::string& note : gpu_time_notes(job)) table.notes.push_back(std::move(note));
    if (has_device_api(job))
        table.notes.push_back(
            "ncclDevCommCreate was called: traffic of kernels through NCCL's device API is not included");
    add_notes_of_the_interface(job, table);
    std::vector<Table> tables{std::move(table)};
    for (Table& of_gpu : gpu_tables(job, question.is_for_screen)) tables.push_back(std::move(of_gpu));
    if (Table ends = groups(job); !ends.rows.empty()) tables.push_back(std::move(ends));
    if (!job.nccl_choices.empty()) {
        Table chosen = choices(job);
        const std::size_t more =
            keep_top(chosen, question.is_for_screen ? question.top.value_or(lines_on_screen) : chosen.rows.size());
        if (more) chosen.notes.push_back(fmt::format("{} more rows: --top {}", more, more + chosen.rows.size()));
        tables.push_back(std::move(chosen));
    }
    return tables;
}

}  // namespace mpiprof::report
