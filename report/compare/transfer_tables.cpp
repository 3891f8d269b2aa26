// Lines and tables of transfers.
#include "report/compare/transfer_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr double mega = 1e6;

// Without zeros at the end: 100, 1.048576, 0.000008.
std::string megabytes(std::uint64_t bytes) {
    std::uint64_t rest = bytes % 1'000'000;
    if (rest == 0) return fmt::format("{}", bytes / 1'000'000);
    int digits = 6;
    for (; rest % 10 == 0; rest /= 10) --digits;
    return fmt::format("{}.{:0{}}", bytes / 1'000'000, rest, digits);
}

std::string milliseconds(std::uint64_t ns) {
    const double ms = static_cast<double>(ns) / 1e6;
    return fmt::format("{:.{}f}", ms, ms >= 1 ? 1 : ms >= 0.1 ? 2 : ms >= 0.01 ? 3 : 4);
}

Value attained(double bytes_per_second, const std::optional<double>& peak) {
    return peak ? Value(bytes_per_second / *peak) : Value();
}

std::string yes_no(const std::optional<bool>& known) { return !known ? "unknown" : *known ? "yes" : "no"; }

Table messages_table(const TransferRun& run, std::size_t top) {
    using T = const Transfer&;
    std::vector<Transfer> shown(run.transfers.begin(), run.transfers.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                                   top, run.transfers.size())));
    Table table = table_of(
        "messages",
        std::vector<Field<Transfer>>{
            {{.id = "from", .title = "FROM", .unit = Unit::rank}, [](T t) { return std::uint64_t{t.from}; }},
            {{.id = "to", .title = "TO", .unit = Unit::rank}, [](T t) { return std::uint64_t{t.to}; }},
            {in_data("tag", Unit::rank), [](T t) { return static_cast<std::uint64_t>(std::max(t.tag, 0)); }},
            {{.id = "bytes", .title = "SIZE", .unit = Unit::bytes}, [](T t) { return t.bytes; }},
            {{.id = "buffer", .title = "BUFFER", .drop = 3}, [](T t) { return buffer_text(t.buffers); }},
            {{.id = "distance", .title = "DISTANCE", .drop = 2}, [](T t) { return std::string(name_of(t.distance)); }},
            {{.id = "posted_ns", .title = "AT", .unit = Unit::time, .drop = 1, .same_unit = true},
             [](T t) { return static_cast<double>(t.posted_ns); }},
            {{.id = "time_ns", .title = "TIME", .unit = Unit::time}, [](T t) { return t.ns; }},
            {{.id = "bytes_per_second", .title = "RATE", .unit = Unit::rate}, [](T t) { return t.bytes_per_second(); }},
            {{.id = "note", .title = {}},
             [](T t) {
                 return std::string(t.includes_waiting ? "waiting included" : t.returned_early ? "eager" : "");
             }},
        },
        shown);
    table.title = "MESSAGES";
    if (shown.size() < run.transfers.size())
        table.notes.push_back(
            fmt::format("the first {} of {} messages; --top shows more", shown.size(), run.transfers.size()));
    return table;
}

Table sizes_table(const TransferRun& run, const Peaks& peaks) {
    using C = const TransferClass&;
    const bool is_traced = run.is_traced;
    Table table = table_of(
        "sizes",
        std::vector<Field<TransferClass>>{
            {{.id = "call", .title = "CALL", .only_data = is_traced}, [](C c) { return c.call; }},
            {{.id = "distance", .title = "DISTANCE", .only_data = !is_traced},
             [](C c) { return std::string(name_of(c.distance)); }},
            {{.id = "buffer", .title = "BUFFER"}, [](C c) { return buffer_text(c.buffers); }},
            {{.id = "avg_bytes", .title = "SIZE", .unit = Unit::bytes}, [](C c) { return c.size(); }},
            {{.id = "messages", .title = "MESSAGES", .unit = Unit::count}, [](C c) { return c.messages; }},
            {in_data("bytes", Unit::bytes), [](C c) { return c.bytes; }},
            {{.id = "p05_ns", .title = "5%", .unit = Unit::time, .drop = is_traced ? 3 : 0},
             [](C c) { return known(c.low_ns); }},
            {{.id = "p50_ns", .title = "MEDIAN", .unit = Unit::time}, [](C c) { return known(c.middle_ns); }},
            {{.id = is_traced ? "p95_ns" : "p99_ns",
              .title = is_traced ? "95%" : "99%",
              .unit = Unit::time,
              .drop = is_traced ? 3 : 0},
             [](C c) { return known(c.high_ns); }},
            {{.id = "mb_per_second", .title = "MB/S", .unit = Unit::number, .decimals = 1},
             [](C c) { return c.bytes_per_second / mega; }},
            {{.id = "best_mb_per_second",
              .title = "BEST",
              .unit = Unit::number,
              .drop = 2,
              .only_data = !is_traced,
              .decimals = 1},
             [](C c) { return c.best_bytes_per_second ? Value(*c.best_bytes_per_second / mega) : Value(); }},
            {{.id = "attained", .title = "OF PEAK", .unit = Unit::share, .only_data = !peaks.are_known()},
             [&](C c) {
                 return attained(c.bytes_per_second, is_traced ? peaks.of(c.distance, c.buffers) : std::nullopt);
             }},
            {{.id = "sent_early", .title = "EAGER", .unit = Unit::count, .drop = 1, .only_data = !is_traced},
             [](C c) { return c.early; }},
        },
        run.classes);
    table.title = is_traced ? "BANDWIDTH BY SIZE" : "RECEIVES BY SIZE (the receiver's time, waiting included)";
    if (is_traced) {
        table.notes.push_back(Note::on("p50_ns", "from when both sides had posted until the receiver had the message"));
        table.notes.push_back(Note::on(
            "sent_early",
            "messages whose send returned before they had arrived: such a send does not last as long as the transfer"));
        table.notes.push_back(Note::on("mb_per_second", "median message; MB are 10^6 bytes"));
    } else {
        table.notes.push_back(
            "no trace: duration of the receiving calls; with MPIPROF_TRACE=on each message counts from when both sides had "
            "posted");
        if (peaks.are_known()) table.notes.push_back("--peak needs a trace, since these times include waiting");
        const auto both_ways = std::find_if(run.classes.begin(), run.classes.end(), [](C c) { return c.is_both_ways; });
        if (both_ways != run.classes.end())
            table.notes.push_back(both_ways->call + ": SIZE and MB/S are of bytes sent plus received");
        table.notes.push_back("SIZE of MPI_Irecv is the size posted; receives of persistent requests are not listed");
    }
    return table;
}

Table pairs_table(const std::vector<TransferPair>& pairs, std::string id, const Peaks& peaks, bool are_distances) {
    using P = const TransferPair&;
    Table table =
        table_of(std::move(id),
                 std::vector<Field<TransferPair>>{
                     {{.id = "from", .title = "FROM", .unit = Unit::rank, .only_data = are_distances},
                      [&](P p) { return are_distances ? Value() : Value(std::uint64_t{p.from}); }},
                     {{.id = "to", .title = "TO", .unit = Unit::rank, .only_data = are_distances},
                      [&](P p) { return are_distances ? Value() : Value(std::uint64_t{p.to}); }},
                     {{.id = "distance", .title = "DISTANCE"}, [](P p) { return std::string(name_of(p.distance)); }},
                     {{.id = "messages", .title = "MESSAGES", .unit = Unit::count}, [](P p) { return p.messages; }},
                     {{.id = "bytes", .title = "BYTES", .unit = Unit::bytes}, [](P p) { return p.bytes; }},
                     {{.id = "time_ns", .title = "TIME", .unit = Unit::time, .drop = 1}, [](P p) { return p.ns; }},
                     {{.id = "mb_per_second", .title = "MB/S", .unit = Unit::number, .decimals = 1},
                      [](P p) { return p.bytes_per_second() / mega; }},
                     {{.id = "largest_bytes", .title = "LARGEST", .unit = Unit::bytes, .drop = 2},
                      [](P p) { return p.largest_bytes; }},
                     {{.id = "largest_mb_per_second", .title = "LARGE MB/S", .unit = Unit::number, .decimals = 1},
                      [](P p) { return p.largest_rate / mega; }},
                     {{.id = "attained", .title = "OF PEAK", .unit = Unit::share, .only_data = !peaks.are_known()},
                      [&](P p) {
                          return attained(p.largest_rate, peaks.of(p.distance, BufferPath{Buffer::host, Buffer::host}));
                      }},
                 },
                 pairs);
    table.title = are_distances ? "BY DISTANCE" : "BY PAIR";
    // What the columns mean is the same in both tables.
    if (are_distances)
        table.notes.push_back(
            Note::on("largest_mb_per_second", "median of the large messages, those in the size class of the largest"));
    return table;
}

Table copies_table(const TransferRun& run, const Peaks& peaks) {
    std::vector<GpuWork> copies;
    for (const GpuWork& work : run.copies)
        if (work.kind >= GpuWorkKind::host_to_device && work.kind <= GpuWorkKind::other_copies && work.time_ns != 0)
            copies.push_back(work);
    using W = const GpuWork&;
    const auto rate = [](W w) { return static_cast<double>(w.bytes) / static_cast<double>(w.time_ns) * 1e9; };
    Table table = table_of(
        "copies",
        std::vector<Field<GpuWork>>{
            {{.id = "kind", .title = "COPIES"}, [](W w) { return std::string(name_of(w.kind)); }},
            {{.id = "device", .title = "GPU", .unit = Unit::rank}, [](W w) { return std::uint64_t{w.device}; }},
            {{.id = "copies", .title = "COUNT", .unit = Unit::count}, [](W w) { return w.count; }},
            {{.id = "bytes", .title = "BYTES", .unit = Unit::bytes}, [](W w) { return w.bytes; }},
            {{.id = "time_ns", .title = "TIME", .unit = Unit::time}, [](W w) { return w.time_ns; }},
            {{.id = "mb_per_second", .title = "MB/S", .unit = Unit::number, .decimals = 1},
             [&](W w) { return rate(w) / mega; }},
            {{.id = "attained", .title = "OF PEAK", .unit = Unit::share, .only_data = !peaks.are_known()},
             [&](W w) { return attained(rate(w), peaks.of(w.kind)); }},
        },
        copies);
    table.title = "COPIES OF THE GPU";
    return table;
}

// ---- several runs ----

constexpr const char* cuda_ipc = "OMPI_MCA_btl_smcuda_use_cuda_ipc";

struct Setting {
    std::string name;
    std::vector<std::string> values;  // of each run
};

bool has_device_buffers(const TransferRun& run) {
    const auto is_on_device = [](const std::optional<Buffer>& one) { return one && *one != Buffer::host; };
    return std::ranges::any_of(run.classes, [&](const TransferClass& one) {
        return is_on_device(one.buffers.from) || is_on_device(one.buffers.to);
    });
}

bool is_same_for_all(const Setting& setting) {
    return std::ranges::all_of(setting.values,
                               [&](const std::string& value) { return value == setting.values.front(); });
}

// What GPUs are reached by, where messages are in their memory; the library; and all else that differs.
std::vector<Setting> settings_of(const std::vector<TransferRun>& runs) {
    std::vector<Setting> settings;
    const bool have_gpus = std::ranges::any_of(runs, has_device_buffers);
    const auto add = [&](std::string name, bool is_always_shown, auto value_of) {
        Setting one{std::move(name), {}};
        for (const TransferRun& run : runs) one.values.push_back(value_of(run));
        if (is_always_shown || !is_same_for_all(one)) settings.push_back(std::move(one));
    };
    const auto variable = [](std::string name) {
        return [name = std::move(name)](const TransferRun& run) {
            const auto found = run.environment.find(name);
            return found == run.environment.end() ? std::string("(not set)") : found->second;
        };
    };
    add("btl_smcuda_use_cuda_ipc", have_gpus, variable(cuda_ipc));
    add("MPI has CUDA", have_gpus, [](const TransferRun& run) { return yes_no(run.is_cuda_aware); });
    add("GPUDirect RDMA", have_gpus, [](const TransferRun& run) { return yes_no(run.has_gpudirect_rdma); });
    add("MPI", true, [](const TransferRun& run) { return run.mpi_library; });
    std::set<std::string> names;
    for (const TransferRun& run : runs)
        for (const auto& [name, value] : run.environment) names.insert(name);
    names.erase(cuda_ipc);
    for (const std::string& name : names) add(name, false, variable(name));
    return settings;
}

Table settings_table(const std::vector<TransferRun>& runs) {
    std::vector<Field<Setting>> fields{
        {{.id = "setting", .title = "SET", .heading = "Setting"}, [](const Setting& s) { return s.name; }}};
    for (std::size_t i = 0; i < runs.size(); ++i)
        fields.push_back({{.id = fmt::format("run_{}", i + 1), .title = runs[i].label},
                          [i](const Setting& s) { return s.values[i]; }});
    return table_of("settings", fields, settings_of(runs));
}

// One size bin and kind of buffers.
struct SizeRow {
    BufferPath buffers;
    std::uint64_t messages = 0, bytes = 0;  // of all runs
    std::vector<std::optional<double>> rates;

    double size() const { return static_cast<double>(bytes) / static_cast<double>(messages); }
    std::optional<double> change() const {
        return rates.front() && rates.back() && *rates.front() > 0 ? std::optional(*rates.back() / *rates.front() - 1)
                                                                   : std::nullopt;
    }
};

// Of single messages where all runs have them; else of the receiving calls of all.
std::vector<SizeRow> size_rows(const std::vector<TransferRun>& runs, bool are_traced) {
    struct Sum {
        double weighted = 0, messages = 0;
    };
    std::map<std::tuple<BufferPath, unsigned>, std::pair<SizeRow, std::vector<Sum>>> rows;
    for (std::size_t i = 0; i < runs.size(); ++i)
        for (const TransferClass& one : are_traced ? runs[i].classes : runs[i].receives) {
            auto& [row, sums] = rows[{one.buffers, one.bin}];
            sums.resize(runs.size());
            row.buffers = one.buffers;
            row.messages += one.messages;
            row.bytes += one.bytes;
            // Of several distances or calls the mean, by their messages.
            sums[i].weighted += one.bytes_per_second * static_cast<double>(one.messages);
            sums[i].messages += static_cast<double>(one.messages);
        }
    std::vector<SizeRow> result;
    for (auto& [key, both] : rows) {
        SizeRow& row = result.emplace_back(std::move(both.first));
        for (const Sum& sum : both.second)
            row.rates.push_back(sum.messages > 0 ? std::optional(sum.weighted / sum.messages) : std::nullopt);
    }
    return result;
}

}  // namespace

std::string buffer_text(const BufferPath& buffers) {
    const auto name = [](const std::optional<Buffer>& one) {
        return one ? std::string(name_of(*one)) : std::string("not known");
    };
    if (buffers.from == buffers.to || !buffers.from) return name(buffers.to);
    return name(buffers.from) + " to " + name(buffers.to);
}

std::string line_of(const Transfer& transfer, LineBy by) {
    return fmt::format("Process {} transferred {} MB in {} ms ({:.1f} MB/sec){}",
                       by == LineBy::receiver ? transfer.to : transfer.from, megabytes(transfer.bytes),
                       milliseconds(transfer.ns), transfer.bytes_per_second() / mega,
                       transfer.includes_waiting ? ", waiting included"
                       : transfer.returned_early ? ", the send returned early"
                                                 : "");
}

std::vector<Table> transfer_tables(const TransferRun& run, const TransferQuestion& question) {
    std::vector<Table> tables;
    if (run.is_traced && question.shows_messages) tables.push_back(messages_table(run, question.top));
    tables.push_back(sizes_table(run, question.peaks));
    if (run.is_traced) {
        tables.push_back(pairs_table(distances_of(run.transfers), "distances", question.peaks, true));
        std::vector<TransferPair> pairs = pairs_of(run.transfers);
        const std::size_t all = pairs.size();
        if (question.is_for_screen && all > question.top) pairs.resize(question.top);
        tables.push_back(pairs_table(pairs, "pairs", question.peaks, false));
        if (pairs.size() < all)
            tables.back().notes.push_back(fmt::format("the {} of {} pairs with most bytes", pairs.size(), all));
    }
    if (Table copies = copies_table(run, question.peaks); !copies.is_empty()) tables.push_back(std::move(copies));
    return tables;
}

std::vector<Table> transfer_comparison(const std::vector<TransferRun>& runs) {
    using R = const SizeRow&;
    const bool is_traced = std::ranges::all_of(runs, [](const TransferRun& run) { return run.is_traced; });
    std::vector<Field<SizeRow>> fields{
        {{.id = "avg_bytes", .title = "SIZE", .unit = Unit::bytes}, [](R r) { return r.size(); }},
        {{.id = "buffer", .title = "BUFFER"}, [](R r) { return buffer_text(r.buffers); }},
    };
    for (std::size_t i = 0; i < runs.size(); ++i)
        fields.push_back({{.id = fmt::format("mb_per_second_{}", i + 1),
                           .title = runs[i].label + " MB/s",
                           .unit = Unit::number,
                           .decimals = 1},
                          [i](R r) { return r.rates[i] ? Value(*r.rates[i] / mega) : Value(); }});
    fields.push_back(
        {{.id = "change", .title = "CHANGE %", .unit = Unit::number, .only_data = runs.size() != 2, .decimals = 1},
         [](R r) { return r.change() ? Value(100 * *r.change()) : Value(); }});
    Table table = table_of("sizes", fields, size_rows(runs, is_traced));
    table.title = is_traced ? "BANDWIDTH BY SIZE" : "RECEIVES BY SIZE (the receiver's time, waiting included)";
    table.notes.push_back(is_traced ? "median message, from when both sides had posted"
                                    : "receiving calls by size; MPIPROF_TRACE=on in all runs excludes the "
                                      "waiting");
    return {settings_table(runs), std::move(table)};
}

std::vector<std::string> remarks_of(const TransferRun& run) {
    std::vector<std::string> said;
    if (!run.is_traced) return said;
    if (!run.untraced_ranks.empty()) said.push_back(fmt::format("no trace of {}", ranks_text(run.untraced_ranks, 8)));
    if (run.lost_events != 0)
        said.push_back(fmt::format("{} older events were overwritten; MPIPROF_TRACE=N keeps more", run.lost_events));
    if (run.unmatched != 0)
        said.push_back(fmt::format("the other end of {} is not known",
                                   plural(run.unmatched, "send or receive", "sends and receives")));
    const auto waits = std::count_if(run.transfers.begin(), run.transfers.end(),
                                     [](const Transfer& one) { return one.includes_waiting; });
    if (run.clock_error_ns)
        said.push_back(fmt::format("times between nodes are known to within {:.1f} us, as measured",
                                   2 * static_cast<double>(*run.clock_error_ns) / 1000));
    if (waits != 0)
        said.push_back(
            fmt::format("the clocks of nodes {}: {} of {} messages have the receiver's time, waiting included{}",
                        run.clock_error_ns ? "are not known well enough" : "were not measured", waits,
                        run.transfers.size(), run.clock_error_ns ? "" : "; MPIPROF_CLOCK_OFFSETS=on measures them"));
    return said;
}

}  // namespace mpiprof::report
