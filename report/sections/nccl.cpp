// nccl: every communicator of NCCL: its members, calls, bytes, host and GPU time; then the groups, in which operations
// are launched together, the GPU's side (nccl_gpu), and what NCCL chose for its operations.
#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/model/tally.h"
#include "report/model/units.h"
#include "report/sections/call_columns.h"
#include "report/sections/comm_labels.h"
#include "report/sections/nccl_gpu.h"
#include "report/sections/section.h"
#include "report/sections/words_of_gpu_times.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t lines_on_screen = 40;

// All calls on a communicator: `ranks` are its members.
struct Line : CallLine {
    const Comm* comm = nullptr;
    const GpuComm* gpu = nullptr;
    std::uint64_t collectives = 0, sends_and_receives = 0;  // and one-sided
    std::uint64_t replayed = 0;                             // of both, by CUDA graphs

    std::uint64_t operations() const { return collectives + sends_and_receives; }
};

std::vector<Line> lines_of(const Job& job) {
    std::vector<Line> lines;
    for (const Comm& comm : job.comms) {
        Line line;
        line.comm = &comm;
        line.ranks = comm.members;
        line.gpu = gpu_comm(job, comm.id);
        bool is_of_nccl = false;
        for (const CommSum& sum : comm.sums) {
            const Call& call = job.calls[sum.call];
            if (call.family != Family::nccl) continue;
            is_of_nccl = true;
            (call.traffic == Traffic::collective ? line.collectives : line.sends_and_receives) +=
                carries_messages(call.traffic) ? sum.calls : 0;
            add_counts(line, sum);
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
        side_by_side<Line>({
            {{.id = "communicator", .title = "COMMUNICATOR"}, [](L l) { return nccl_label_of(*l.comm); }},
            {{.id = "size", .title = "SIZE", .unit = Unit::count}, [](L l) { return known(l.comm->size); }},
            {{.id = "ranks", .title = "RANKS", .unit = Unit::count, .drop = has_gpu ? 3 : 0},
             [](L l) { return std::uint64_t{l.comm->members}; }},
            {{.id = "collectives", .title = "COLLECTIVES", .unit = Unit::count},
             [](L l) { return l.mean(l.collectives); }},
            {{.id = "point_to_point", .title = "SEND+RECV", .unit = Unit::count, .drop = 2},
             [](L l) { return l.mean(l.sends_and_receives); }},
            {{.id = "bytes", .title = "BYTES", .unit = Unit::bytes},
             [](L l) { return l.bytes ? Value(l.mean(l.bytes)) : Value(); }},
            {{.id = "host_ns", .title = "HOST TIME", .unit = Unit::time, .drop = has_gpu ? 1 : 0, .same_unit = true},
             [](L l) { return l.time_ns ? Value(l.mean(l.time_ns)) : Value(); }},
            {{.id = "gpu_ns",
              .title = gpu_sum_heading(job, "GPU TIME"),
              .unit = Unit::time,
              .same_unit = true,
              .only_data = !has_gpu},
             [](L l) { return l.gpu && l.gpu->time_ns ? Value(l.mean(l.gpu->time_ns)) : Value(); }},
            {{.id = "gpu_waiting_share", .title = "WAITING", .unit = Unit::share, .only_data = !has_gpu},
             [](L l) {
                 const auto share = l.gpu ? l.gpu->waiting_share() : std::nullopt;
                 return share ? Value(*share) : Value();
             }},
            {{.id = "made_by", .title = "MADE BY", .drop = 4}, [](L l) { return l.comm->made_by; }},
            {in_data("id"), [](L l) { return l.comm->id ? fmt::format("{:016x}", l.comm->id) : std::string(); }},
            {in_data("parent_id"),
             [](L l) { return l.comm->parent ? fmt::format("{:016x}", l.comm->parent) : std::string(); }},
            {in_data("first_rank", Unit::rank), [](L l) { return std::uint64_t{l.comm->first_rank}; }},
            columns::errors(),
            {in_data("total_operations", Unit::count), [](L l) { return l.operations(); }},
            {in_data("total_replayed", Unit::count), [](L l) { return l.replayed; }},
            {in_data("total_bytes", Unit::bytes), [](L l) { return l.bytes; }},
            {in_data("total_host_ns", Unit::time), [](L l) { return l.time_ns; }},
        }),
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
    struct Group : CallLine {
        std::uint64_t operations = 0;
    };
    std::vector<Group> lines;
    for (const Row& row : job.rows) {
        const Call& call = job.calls[row.sum.call];
        if (call.family != Family::nccl || call.traffic != Traffic::completion) continue;
        Group& line = lines.emplace_back(Group{line_of(row, job), row.requests});
        line.ranks = std::max(1u, job.profiles());
    }
    using G = const Group&;
    Table table = table_of(
        "nccl_groups",
        side_by_side<Group>({
            columns::call(),
            {{.id = "calls_per_rank", .title = "CALLS", .unit = Unit::count}, [](G g) { return g.mean(g.calls); }},
            {{.id = "operations", .title = "OPERATIONS", .unit = Unit::count},
             [](G g) { return g.mean(g.operations); }},
            {{.id = "operations_per_group", .title = "PER GROUP", .unit = Unit::count, .drop = 2},
             [](G g) { return ratio(g.operations, g.calls); }},
            {{.id = "host_ns", .title = "HOST TIME", .unit = Unit::time, .same_unit = true},
             [](G g) { return g.mean(g.time_ns); }},
            {{.id = "per_call_ns", .title = "PER CALL", .unit = Unit::time, .drop = 1},
             [](G g) { return ratio(g.time_ns, g.calls); }},
        }),
        lines);
    table.title = "GROUPS, LAUNCHES";
    return table;
}

// Communicators for kernels that communicate by themselves, which nobody outside of them can see.
bool has_device_api(const Job& job) {
    return std::ranges::any_of(job.rows, [&](const Row& row) {
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
            {in_data("bin_max_bytes", Unit::bytes), [](C c) { return bin_max_bytes(c.choice->bin); }},
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
            {in_data("total_operations", Unit::count), [](C c) { return c.choice->operations; }},
            {in_data("total_bytes", Unit::bytes), [](C c) { return c.choice->bytes; }},
            {in_data("called_elsewhere", Unit::count), [](C c) { return c.choice->called_elsewhere; }},
        },
        lines);
    table.title = "WHAT NCCL CHOSE";
    const bool is_tagged =
        std::ranges::any_of(job.nccl_choices, [](const NcclChoice& choice) { return choice.tag != 0; });
    for (Column& column : table.columns) column.only_data |= column.id == "tag" && !is_tagged;
    table.notes.push_back(Note{{"as reported by NCCL's profiler interface at launch"},
                               {"of the operations with that call and size", "share"}});
    return table;
}

// Why there may be less than a reader expects.
void add_notes_of_the_interface(const Job& job, Table& table) {
    const bool is_elsewhere =
        std::ranges::any_of(job.nccl_choices, [](const NcclChoice& c) { return c.called_elsewhere != 0; });
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
    if (auto ok = sort_rows(table, question, "total_host_ns"); !ok) return tl::make_unexpected(ok.error());
    cut(table, question, lines_on_screen);
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
    std::vector<Table> tables;
    if (question.is_for_screen) tables.push_back(nccl_headline(job));
    tables.push_back(std::move(table));
    for (Table& of_gpu : gpu_tables(job, question.is_for_screen)) tables.push_back(std::move(of_gpu));
    if (Table ends = groups(job); !ends.rows.empty()) tables.push_back(std::move(ends));
    if (!job.nccl_choices.empty()) {
        Table chosen = choices(job);
        if (question.is_for_screen) cut(chosen, question, lines_on_screen);
        tables.push_back(std::move(chosen));
    }
    // On screens it comes first; who reads data knows the communicators as the first table.
    if (!question.is_for_screen) tables.push_back(nccl_headline(job));
    return tables;
}

}  // namespace mpiprof::report
