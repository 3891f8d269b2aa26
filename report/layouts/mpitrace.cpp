// Both layouts of mpitrace: the older one (around 2020) and the newest. They differ in words, in a column and in the
// place of two lines; MpitraceStyle holds the differences, the formats are in libmpiprof/format/mpitrace_layout.h.
#include "libmpiprof/format/mpitrace_layout.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include "report/layouts/layout.h"
#include "report/layouts/mpitrace.h"

#include "report/model/visible.h"

namespace mpiprof::report {

namespace words = format::mpitrace;

const MpitraceStyle mpitrace_older{
    .times = words::times_older,
    .times_pcontrol = words::times_pcontrol_older,
    .rule_after_routines = words::rule_65,
    .resident = words::resident_older,
    .largest_memory = words::largest_memory_older,
    .largest_elapsed = words::largest_elapsed_older,
    .job_title = words::job_title_older,
    .largest_in_every_text = true,
    .has_cpu = false,
    .all_switches = true,
    .host_width = 14,
    .host_margin = 0,
};
const MpitraceStyle mpitrace_2025{
    .times = words::times_2025,
    .times_pcontrol = words::times_pcontrol_2025,
    .rule_after_routines = words::rule_71,
    .resident = words::resident_2025,
    .largest_memory = words::largest_memory_2025,
    .largest_elapsed = words::largest_elapsed_2025,
    .job_title = words::job_title_2025,
    .largest_in_every_text = false,
    .has_cpu = true,
    .all_switches = false,
    .host_width = 4,  // its title
    .host_margin = 2,
};
namespace {

using Count = unsigned long long;

[[gnu::format(printf, 2, 3)]] void print(std::string& text, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    std::va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    if (length > 0) {
        const std::size_t at = text.size();
        text.resize(at + static_cast<std::size_t>(length) + 1);
        std::vsnprintf(text.data() + at, static_cast<std::size_t>(length) + 1, format, again);
        text.pop_back();
    }
    va_end(again);
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }
double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }
double mean(std::uint64_t bytes, std::uint64_t calls) {
    return calls == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(calls);
}

// mpitrace counts MPI-IO apart from communication, and NCCL has a block of its own.
std::uint64_t communication_ns(const Rank& rank) {
    return rank.mpi_ns - std::min(rank.mpi_ns, rank.file_ns + rank.nccl_ns);
}

// mpitrace shows host names without their domain; an IP address has none.
// What comes out is safe to print, whatever the file says.
std::string short_host(std::string_view host) {
    const bool is_address = host.find_first_not_of("0123456789.") == std::string_view::npos;
    return visible(is_address ? host : host.substr(0, host.find('.')), false);
}
std::string printable_name(const Call& call) { return visible(call.name, false); }

// One routine: its calls over all sizes, and each size bin.
struct Routine {
    const Call* call;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t gpu_ns = 0;
    std::vector<Sum> bins;  // ascending; buffers together
};

// The routines of one library that this rank called, in mpitrace's order. Its cells are sorted by call and bin.
std::vector<Routine> routines_of(const Job& job, std::uint32_t rank, Family family) {
    std::vector<Routine> routines;
    for (const Sum& cell : job.cells(rank)) {
        const Call& call = job.calls[cell.call];
        if (call.family != family || cell.calls == 0) continue;
        if (routines.empty() || routines.back().call != &call) routines.push_back({.call = &call, .bins = {}});
        Routine& routine = routines.back();
        routine.calls += cell.calls;
        routine.bytes += cell.bytes;
        routine.time_ns += cell.time_ns;
        routine.gpu_ns += cell.gpu_ns;
        if (routine.bins.empty() || routine.bins.back().bin != cell.bin) {
            routine.bins.push_back({.bin = cell.bin});
        }
        routine.bins.back().calls += cell.calls;
        routine.bins.back().bytes += cell.bytes;
        routine.bins.back().time_ns += cell.time_ns;
    }
    std::sort(routines.begin(), routines.end(), [](const Routine& a, const Routine& b) {
        const int place_a = words::sort_key(a.call->name.c_str());
        const int place_b = words::sort_key(b.call->name.c_str());
        return place_a != place_b ? place_a < place_b : a.call->name < b.call->name;
    });
    return routines;
}

}  // namespace

struct MpitraceFigures {
    // Positions in Job::ranks.
    std::uint32_t minimum = 0;
    std::uint32_t median = 0;  // element (n - 1) / 2 of the ascending order, as mpitrace takes it
    std::uint32_t maximum = 0;
    std::uint32_t largest_memory = 0;
    std::uint32_t largest_elapsed = 0;
    std::size_t host_width = 0;
    bool has_io = false;
    std::uint64_t io_minimum_ns = ~std::uint64_t{0};
    std::uint64_t io_maximum_ns = 0;
    double io_average_s = 0;
    double histogram_step_s = 0;
    std::array<std::uint32_t, words::histogram_bins> histogram{};

    MpitraceFigures(const Job& job, const MpitraceStyle& style) {
        if (job.ranks.empty()) return;
        order_by_communication(job.ranks);
        find_largest(job.ranks);
        for (const Rank& rank : job.ranks)
            host_width = std::max(host_width, short_host(job.hosts[rank.host]).size() + style.host_margin);
        host_width = std::max(host_width, style.host_width);
        sum_up_io(job);
        count_histogram(job.ranks);
    }

  private:
    void order_by_communication(const std::vector<Rank>& ranks) {
        std::vector<std::uint32_t> order(ranks.size());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::pair(communication_ns(ranks[a]), ranks[a].place) <
                   std::pair(communication_ns(ranks[b]), ranks[b].place);
        });
        minimum = order.front();
        median = order[(order.size() - 1) / 2];
        maximum = order.back();
    }

    void find_largest(const std::vector<Rank>& ranks) {
        for (std::uint32_t i = 0; i < ranks.size(); ++i) {
            if (ranks[i].usage.max_resident_bytes > ranks[largest_memory].usage.max_resident_bytes) largest_memory = i;
            if (ranks[i].elapsed_ns > ranks[largest_elapsed].elapsed_ns) largest_elapsed = i;
        }
    }

    void sum_up_io(const Job& job) {
        has_io = std::any_of(job.rows.begin(), job.rows.end(), [&](const Row& row) {
            return row.sum.calls != 0 && words::is_file_routine(job.calls[row.sum.call].name.c_str());
        });
        std::uint64_t sum_ns = 0;
        std::uint64_t ranks = 0;
        for (const Rank& rank : job.ranks) {
            if (!rank.has_profile) continue;  // a table of ranks does not tell
            io_minimum_ns = std::min(io_minimum_ns, rank.file_ns);
            io_maximum_ns = std::max(io_maximum_ns, rank.file_ns);
            sum_ns += rank.file_ns;
            ++ranks;
        }
        io_average_s = ranks == 0 ? 0.0 : seconds(sum_ns) / static_cast<double>(ranks);
    }

    // The first bin is centred on the minimum, the last on the maximum.
    void count_histogram(const std::vector<Rank>& ranks) {
        const double least = seconds(communication_ns(ranks[minimum]));
        histogram_step_s = (seconds(communication_ns(ranks[maximum])) - least) / (words::histogram_bins - 1);
        for (const Rank& rank : ranks) {
            const double above = seconds(communication_ns(rank)) - least;
            const auto bin = histogram_step_s > 0 ? static_cast<std::size_t>(above / histogram_step_s + 0.5) : 0;
            ++histogram[std::min<std::size_t>(bin, words::histogram_bins - 1)];
        }
    }
};

namespace {

// Writes one rank's text, part after part.
class Writer {
  public:
    Writer(const Job& job, const MpitraceStyle& style, const MpitraceFigures& figures, const Rank& rank)
        : job_(job),
          style_(style),
          figures_(figures),
          rank_(rank),
          routines_(routines_of(job, rank.rank, Family::mpi)),
          nccl_(routines_of(job, rank.rank, Family::nccl)) {}

    std::string write(bool compares, bool has_table) {
        print(text_, words::head, rank_.rank, job_.size);
        text_ += rank_.paused_ns == 0 ? style_.times : style_.times_pcontrol;
        routines();
        if (compares) extremes();
        totals();
        text_ += '\n';
        if (compares && style_.largest_in_every_text) largest();
        text_ += words::rule_65;
        text_ += words::sizes_title;
        sizes(routines_);
        if (!nccl_.empty()) nccl();
        if (has_table) job_part();
        if (compares) missing();
        return std::move(text_);
    }

  private:
    void routines() {
        text_ += words::rule_71;
        text_ += words::routines_head;
        text_ += words::rule_71;
        for (const Routine& routine : routines_)
            print(text_, words::routine, printable_name(*routine.call).c_str(), Count{routine.calls},
                  mean(routine.bytes, routine.calls), seconds(routine.time_ns));
        text_ += style_.rule_after_routines;
    }

    void extremes() {
        const auto line = [&](std::uint32_t position, const char* which) {
            if (&job_.ranks[position] == &rank_) print(text_, words::extreme_rank, rank_.rank, job_.size, which);
        };
        line(figures_.minimum, "minimum");
        line(figures_.maximum, "maximum");
        line(figures_.median, "median");
    }

    void totals() {
        print(text_, words::communication_time, seconds(communication_ns(rank_)));
        print(text_, words::elapsed_time, seconds(rank_.elapsed_ns));
        if (rank_.paused_ns != 0) print(text_, words::exclusive_time, seconds(rank_.recorded_ns()));
        print(text_, words::user_time, seconds(rank_.usage.user_ns));
        print(text_, words::system_time, seconds(rank_.usage.system_ns));
        print(text_, style_.resident, mib(rank_.usage.max_resident_bytes));
        const auto is_io = [](const Routine& routine) { return words::is_file_routine(routine.call->name.c_str()); };
        if (std::any_of(routines_.begin(), routines_.end(), is_io))
            print(text_, words::io_time, seconds(rank_.file_ns));
    }

    void largest() {
        const Rank& memory = job_.ranks[figures_.largest_memory];
        const Rank& elapsed = job_.ranks[figures_.largest_elapsed];
        print(text_, style_.largest_memory, memory.rank, mib(memory.usage.max_resident_bytes));
        print(text_, style_.largest_elapsed, elapsed.rank, seconds(elapsed.elapsed_ns));
        text_ += '\n';
    }

    void sizes(const std::vector<Routine>& routines) {
        for (const Routine& routine : routines) {
            if (routine.bytes == 0) continue;
            print(text_, words::sizes_head, printable_name(*routine.call).c_str());
            for (const Sum& bin : routine.bins)
                print(text_, words::size, Count{bin.calls}, mean(bin.bytes, bin.calls), seconds(bin.time_ns));
            text_ += '\n';
        }
    }

    void nccl() {
        std::uint64_t host_ns = 0, gpu_ns = 0;
        for (const Routine& routine : nccl_) {
            host_ns += routine.time_ns;
            gpu_ns += routine.gpu_ns;
        }
        text_ += words::rule_71;
        text_ += gpu_ns ? words::nccl_head_gpu : words::nccl_head;
        text_ += words::rule_71;
        for (const Routine& routine : nccl_)
            print(text_, gpu_ns ? words::nccl_routine_gpu : words::nccl_routine, printable_name(*routine.call).c_str(),
                  Count{routine.calls}, mean(routine.bytes, routine.calls), seconds(routine.time_ns),
                  seconds(routine.gpu_ns));
        text_ += words::rule_71;
        print(text_, words::nccl_host_time, seconds(host_ns));
        if (gpu_ns) print(text_, words::nccl_gpu_time, seconds(gpu_ns));
        text_ += '\n';
        text_ += words::rule_65;
        text_ += words::nccl_sizes_title;
        sizes(nccl_);
    }

    void job_part() {
        text_ += words::rule_65;
        text_ += style_.job_title;
        if (!style_.largest_in_every_text) largest();
        const auto line = [&](const char* format, std::uint32_t position) {
            const Rank& rank = job_.ranks[position];
            print(text_, format, seconds(communication_ns(rank)), rank.rank);
        };
        line(words::minimum_time, figures_.minimum);
        line(words::median_time, figures_.median);
        line(words::maximum_time, figures_.maximum);
        if (figures_.has_io) io_times();
        text_ += "\n\n";
        if (job_.ranks.size() > words::histogram_above_ranks) histogram();
        ranks();
    }

    void io_times() {
        print(text_, words::io_minimum, seconds(figures_.io_minimum_ns));
        print(text_, words::io_average, figures_.io_average_s);
        print(text_, words::io_maximum, seconds(figures_.io_maximum_ns));
    }

    void histogram() {
        text_ += words::histogram_head;
        const double least = seconds(communication_ns(job_.ranks[figures_.minimum]));
        for (unsigned i = 0; i < words::histogram_bins; ++i)
            print(text_, words::histogram_bin, least + i * figures_.histogram_step_s, figures_.histogram[i]);
        text_ += "\n\n";
    }

    void ranks() {
        const int width = static_cast<int>(figures_.host_width);
        text_ += words::ranks_title;
        if (style_.has_cpu)
            print(text_, words::ranks_head_2025, width, "host");
        else
            print(text_, words::ranks_head_older, width, "hostname");
        for (const Rank& rank : job_.ranks) rank_row(rank, width);
    }

    void rank_row(const Rank& rank, int width) {
        const std::string host = short_host(job_.hosts[rank.host]);
        const double comm = seconds(communication_ns(rank));
        const double elapsed = seconds(rank.elapsed_ns);
        const double user = seconds(rank.usage.user_ns);
        const double system = seconds(rank.usage.system_ns);
        const double size = mib(rank.usage.max_resident_bytes);
        const Count switches = style_.all_switches ? rank.usage.switches() : rank.usage.involuntary_switches;
        if (style_.has_cpu)  // sched_getcpu() answers -1 where it does not know, and so does this table
            print(text_, words::ranks_row_2025, rank.rank, width, host.c_str(), rank.cpu.value_or(-1), comm, elapsed,
                  user, system, size, switches);
        else
            print(text_, words::ranks_row_older, rank.rank, width, host.c_str(), comm, elapsed, user, system, size,
                  switches);
    }

    // The only words of ours: the figures are not those of the whole job.
    void missing() {
        if (job_.ranks.size() < job_.size)
            print(text_, "\nmpiprof: the profiles of %zu of %u ranks were read; the figures above are of these.\n",
                  job_.ranks.size(), job_.size);
    }

    const Job& job_;
    const MpitraceStyle& style_;
    const MpitraceFigures& figures_;
    const Rank& rank_;
    std::vector<Routine> routines_, nccl_;
    std::string text_;
};

}  // namespace

Listing::Listing(const Job& job, const Layout& layout)
    : job_(job),
      layout_(layout),
      figures_(layout.style ? std::make_unique<const MpitraceFigures>(job, *layout.style) : nullptr) {}

Listing::~Listing() = default;

Result<std::string> Listing::text(std::uint32_t number, JobPart part) const {
    if (layout_.of_job) return layout_.of_job(job_);
    const Rank* rank = job_.find(number);
    if (rank == nullptr || !rank->has_profile)
        return problem(fmt::format("rank {}", number), "has no profile",
                       fmt::format("{} of {} ranks have one: see mpiprof-report ranks", job_.profiles(), job_.size));
    const auto with_profile = [](const Rank& r) { return r.has_profile; };
    const auto first = std::find_if(job_.ranks.begin(), job_.ranks.end(), with_profile);
    const bool has_table = part == JobPart::always || (part == JobPart::with_rank_0 && rank == &*first);
    return Writer(job_, *layout_.style, *figures_, *rank).write(part != JobPart::never, has_table);
}

}  // namespace mpiprof::report
