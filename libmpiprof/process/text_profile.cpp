// Sums the image's cells per routine and size bin and prints them with mpitrace's formats. Once, at the end; its sums
// live in private pages. Reads the image as the reporter would: by its directory.
#include "libmpiprof/process/text_profile.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <initializer_list>

#include "libmpiprof/base/arithmetic.h"
#include "libmpiprof/base/printed.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/format/mpitrace_layout.h"
#include "libmpiprof/format/size_bins.h"
#include "libmpiprof/format/tick_rate.h"

namespace mpiprof {
namespace {

using namespace format;
namespace layout = format::mpitrace;

struct Sum {
    std::uint64_t calls, bytes, ticks;
};
struct Routine {
    Sum total;
    Sum bins[size_bins];
    std::uint64_t gpu_ns;
};

class Text {
  public:
    explicit Text(int fd) : fd_(fd) {}
    ~Text() { flush(); }
    [[gnu::format(printf, 2, 3)]] void print(const char* text, ...) {
        if (sizeof buffer_ - used_ < 512) flush();
        va_list arguments;
        va_start(arguments, text);
        used_ += print_into(buffer_ + used_, sizeof buffer_ - used_, text, arguments);
        va_end(arguments);
    }

  private:
    void flush() {
        total_ += used_;
        for (std::size_t done = 0; done < used_ && file_may_have(total_);) {
            const ssize_t n = write(fd_, buffer_ + done, used_ - done);
            if (n <= 0) break;
            done += static_cast<std::size_t>(n);
        }
        used_ = 0;
    }
    int fd_;
    std::size_t used_ = 0;
    std::size_t total_ = 0;
    char buffer_[4096];
};

template <class Record, class Visit>
void for_each(const Image& image, TableType type, Visit visit) {
    for (std::uint64_t at = image.header().directory_offset; at != 0;) {
        const auto* directory = reinterpret_cast<const Directory*>(image.at(at));
        const auto* tables = reinterpret_cast<const Table*>(directory + 1);
        for (std::uint32_t i = 0; i < directory->used; ++i)
            for (std::uint32_t r = 0; tables[i].type == type && r < tables[i].used; ++r)
                visit(reinterpret_cast<const Record*>(image.at(tables[i].offset))[r], r);
        at = directory->next;
    }
}

void sum_up(const Image& image, const Catalogue& catalogue, Routine* routines) {
    for_each<Cell>(image, TableType::cells, [&](const Cell& cell, std::uint32_t) {
        if (!catalogue.has(cell.call) || cell.bin >= size_bins) return;
        Routine& routine = routines[cell.call];
        for (Sum* sum : {&routine.total, &routine.bins[cell.bin]}) {
            // The counter of a polled call counts all of them, the timed ones in its cells, too.
            if (catalogue.info(cell.call).treatment != Treatment::polled) sum->calls += cell.calls;
            sum->bytes += cell.bytes;
            sum->ticks += cell.ticks;
        }
    });
    for_each<Counter>(image, TableType::counters, [&](const Counter& counter, std::uint32_t index) {
        for (std::uint16_t call = 0; counter.calls != 0 && call < catalogue.size; ++call)
            if (catalogue.calls[call].treatment != Treatment::timed && catalogue.calls[call].counter == index)
                routines[call].total.calls += counter.calls;
    });
    for_each<GpuTime>(image, TableType::gpu_times, [&](const GpuTime& time, std::uint32_t) {
        if (catalogue.has(time.call) && !(time.flags & from_graphs)) routines[time.call].gpu_ns += time.ns;
    });
}

double seconds_per_tick(const Header& header) {
    const Anchor anchors[] = {header.loaded, header.started, header.ended};
    const TickRate rate = tick_rate(anchors, 3);
    return rate.ticks != 0 ? static_cast<double>(rate.ns) / static_cast<double>(rate.ticks) * 1e-9 : 0;
}

// A call that was made, and where its line stands: in mpitrace's order, those that it does not know by name.
struct Line {
    char name[sizeof(CallRecord::name)];
    Family family;
    int key;
    const Routine* routine;

    bool is_before(const Line& other) const {
        return key != other.key ? key < other.key : strcmp(name, other.name) < 0;
    }
};
struct Lines {
    Line* first;
    std::size_t count;
};

// Sorted as they are put in: a few dozen, of some two thousand that there might be.
Lines lines_of(const Catalogue& catalogue, const Routine* routines, Line* lines) {
    std::size_t count = 0;
    for (int id = 0; id < Catalogue::most_ids; ++id) {
        const auto call = static_cast<std::uint16_t>(id);
        if (routines[id].total.calls == 0) continue;
        Line line{{}, catalogue.info(call).family, 0, &routines[id]};
        append(line.name, catalogue.row_name(call));
        append(line.name, Catalogue::name_suffix(call));
        line.key = layout::sort_key(line.name);
        std::size_t at = count++;
        for (; at > 0 && line.is_before(lines[at - 1]); --at) lines[at] = lines[at - 1];
        lines[at] = line;
    }
    return {lines, count};
}

template <class Use>
void each_of(Family family, const Lines& lines, Use use) {
    for (std::size_t i = 0; i < lines.count; ++i)
        if (lines.first[i].family == family) use(lines.first[i].name, *lines.first[i].routine);
}

double mean(const Sum& sum) { return sum.calls ? static_cast<double>(sum.bytes) / static_cast<double>(sum.calls) : 0; }

unsigned long long count(const Sum& sum) { return sum.calls; }

void print_sizes(Text& text, double scale, const char* name, const Routine& routine) {
    if (routine.total.bytes == 0) return;
    text.print(layout::sizes_head, name);
    for (const Sum& bin : routine.bins)
        if (bin.calls != 0) text.print(layout::size, count(bin), mean(bin), static_cast<double>(bin.ticks) * scale);
    text.print("\n");
}

void print_mpi(Text& text, const Header& header, const Lines& lines, double scale) {
    double communication = 0, io = 0;
    bool has_io = false;
    text.print(layout::rule_71);
    text.print(layout::routines_head);
    text.print(layout::rule_71);
    each_of(Family::mpi, lines, [&](const char* name, const Routine& routine) {
        const double seconds = static_cast<double>(routine.total.ticks) * scale;
        const bool is_io = layout::is_file_routine(name);
        (is_io ? io : communication) += seconds;
        has_io |= is_io;
        text.print(layout::routine, name, count(routine.total), mean(routine.total), seconds);
    });
    text.print(layout::rule_65);
    const auto& usage = header.usage;
    const double elapsed = static_cast<double>(header.ended.ticks - header.started.ticks) * scale;
    text.print(layout::communication_time, communication);
    text.print(layout::elapsed_time, elapsed);
    if (header.paused_ticks)
        text.print(layout::exclusive_time, elapsed - static_cast<double>(header.paused_ticks) * scale);
    text.print(layout::user_time, static_cast<double>(usage.user_us) * 1e-6);
    text.print(layout::system_time, static_cast<double>(usage.system_us) * 1e-6);
    text.print(layout::resident_older, static_cast<double>(usage.max_resident_kib) / 1024);
    if (has_io) text.print(layout::io_time, io);
    text.print("\n");
    text.print(layout::rule_65);
    text.print(layout::sizes_title);
    each_of(Family::mpi, lines,
            [&](const char* name, const Routine& routine) { print_sizes(text, scale, name, routine); });
}

void print_nccl(Text& text, const Lines& lines, double scale) {
    double host = 0, gpu = 0;
    bool is_any = false;
    each_of(Family::nccl, lines, [&](const char*, const Routine& routine) {
        host += static_cast<double>(routine.total.ticks) * scale;
        gpu += static_cast<double>(routine.gpu_ns) * 1e-9;
        is_any = true;
    });
    if (!is_any) return;
    text.print(layout::rule_71);
    text.print(gpu > 0 ? layout::nccl_head_gpu : layout::nccl_head);
    text.print(layout::rule_71);
    each_of(Family::nccl, lines, [&](const char* name, const Routine& routine) {
        const double seconds = static_cast<double>(routine.total.ticks) * scale;
        if (gpu > 0)
            text.print(layout::nccl_routine_gpu, name, count(routine.total), mean(routine.total), seconds,
                       static_cast<double>(routine.gpu_ns) * 1e-9);
        else
            text.print(layout::nccl_routine, name, count(routine.total), mean(routine.total), seconds);
    });
    text.print(layout::rule_71);
    text.print(layout::nccl_host_time, host);
    if (gpu > 0) text.print(layout::nccl_gpu_time, gpu);
    text.print("\n");
    text.print(layout::rule_65);
    text.print(layout::nccl_sizes_title);
    each_of(Family::nccl, lines,
            [&](const char* name, const Routine& routine) { print_sizes(text, scale, name, routine); });
}

void print(Text& text, const Header& header, const Lines& lines) {
    const double scale = seconds_per_tick(header);
    text.print(layout::head, header.rank, header.size);
    text.print(header.paused_ticks ? layout::times_pcontrol_older : layout::times_older);
    print_mpi(text, header, lines, scale);
    print_nccl(text, lines, scale);
}

bool write(const Image& image, const Catalogue& catalogue, const char* path, bool adds_rank, bool again) {
    char name[4200];
    char rank[16] = "";
    if (adds_rank) snprintf(rank, sizeof rank, ".%u", image.header().rank);
    snprintf(name, sizeof name, "%s%s.txt", path, rank);
    const int fd = open(name, O_WRONLY | (again ? O_TRUNC : O_CREAT | O_EXCL) | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    struct Work {  // pages of it are there once they are touched
        Routine routines[Catalogue::most_ids];
        Line lines[Catalogue::most_ids];
    };
    auto* work = static_cast<Work*>(private_pages(sizeof(Work)));
    if (work) {
        sum_up(image, catalogue, work->routines);
        Text text(fd);
        print(text, image.header(), lines_of(catalogue, work->routines, work->lines));
        munmap(work, sizeof(Work));
    }
    close(fd);
    return work != nullptr;
}

}  // namespace

bool write_text_profile(const Image& image, const Catalogue& catalogue, const char* path, bool adds_rank, bool again) {
    return with_own_arithmetic([&] { return write(image, catalogue, path, adds_rank, again); });
}

}  // namespace mpiprof
