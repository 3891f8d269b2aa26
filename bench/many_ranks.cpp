// Makes a job of N ranks from one real profile, for bench/merge:  many_ranks PROFILE DIRECTORY N [OTHER [WORD ...]]
// Ranks differ as those of a real job do: in hosts and clocks, in when they began and how long they ran, in every time
// and in where libraries were loaded; a tenth of them in settings and call sites, too, and a few were killed. OTHER is
// the profile of all but the first rank of each node, which alone describes it. With `gaps` some have no profile, with
// `node` there is a file for each node of 256 ranks, with `small` profiles are as short as a million of them has to be.
// What the moment of the run decided, such as which durations occurred, is evened out: a budget compares what reading
// takes.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/small_image.h"
#include "libmpiprof/format/layout.h"
#include "tests/report/node_file_writer.h"

using namespace mpiprof::format;

namespace {

constexpr unsigned of_a_node = 64, of_a_nodes_file = 256;
constexpr std::uint64_t first_library = std::uint64_t{1} << 40;  // the program itself lies below, always at one address

using Image = std::vector<char>;

struct Seat {
    unsigned rank, ranks, on_a_node;
    unsigned node() const { return rank / on_a_node; }
    unsigned on_its_node() const { return rank % on_a_node; }
    bool is_of_another_kind() const { return rank % 10 == 7; }
    bool is_killed() const { return rank % 307 == 111; }
    bool is_missing() const { return rank % 199 == 57; }
    std::uint64_t library_shift() const { return (rank * std::uint64_t{2654435761} % 4096) << 12; }
    std::uint64_t larger(std::uint64_t value) const { return value + value / 1000 * (rank % 97); }
};

template <std::size_t Size>
void set_text(char (&field)[Size], const std::string& text) {
    std::memset(field, 0, Size);
    text.copy(field, Size - 1);
}

template <class Record, class Vary>
void vary_each(Image& image, const Table& table, TableType type, Vary vary) {
    if (table.type != type) return;
    auto* records = reinterpret_cast<Record*>(image.data() + table.offset);
    for (std::uint32_t i = 0; i < table.used; ++i) vary(records[i], i);
}

template <class Use>
void each_table(Image& image, Use use) {
    for (std::uint64_t at = reinterpret_cast<Header*>(image.data())->directory_offset; at != 0;) {
        const auto* block = reinterpret_cast<const Directory*>(image.data() + at);
        for (std::uint32_t t = 0; t < block->used; ++t) use(reinterpret_cast<const Table*>(block + 1)[t]);
        at = block->next;
    }
}

// Four octaves of each histogram with eight durations each, something in each of a hundred bins of time, and
// collectives one after the other.
void even_out(Image& image, std::uint64_t began) {
    each_table(image, [&](const Table& table) {
        vary_each<Histogram>(image, table, TableType::histograms, [&](Histogram& histogram, std::uint32_t) {
            unsigned kept = 0;
            for (std::uint32_t& block : histogram.block)
                if (block != 0 && ++kept > 4) block = 0;
        });
        vary_each<HistogramBlock>(image, table, TableType::histogram_blocks,
                                  [](HistogramBlock& block, std::uint32_t i) {
                                      for (unsigned sub = 0; sub < histogram_sub_buckets; ++sub)
                                          block.count[sub] = sub % 2 == 0 ? 0 : 7 + sub + i % 5;
                                  });
        vary_each<Arrival>(image, table, TableType::arrivals, [&](Arrival& arrival, std::uint32_t) {
            const std::uint64_t number = arrival.number_and_call >> 16;
            arrival.begin = began + number * 30'000;
            arrival.ticks_and_kind = (arrival.ticks_and_kind & 0xffff) | (9'000 + number % 7 * 1'000) << 16;
        });
        vary_each<Activity>(image, table, TableType::activity, [](Activity& activity, std::uint32_t) {
            activity.current = 100;
            for (unsigned bin = 0; bin < activity_bins; ++bin)
                activity.bins[bin] =
                    bin > 100 ? ActivityBin{} : ActivityBin{.ticks = 90'000 + 700 * bin, .bytes = 4096};
        });
    });
}

// Nobody leaves a collective later than before, so that it fits to those of the others: whoever came earlier waited
// longer.
void come_earlier(Arrival& arrival, const Seat& seat) {
    const std::uint64_t ticks = arrival.ticks_and_kind >> 16;
    const std::uint64_t earlier = ticks * ((seat.rank * 977 + (arrival.number_and_call >> 16) * 31) % 2039) / 4078;
    arrival.begin -= earlier;
    arrival.ticks_and_kind += earlier << 16;
}

void vary_counts(Image& image, const Table& table, const Seat& seat) {
    vary_each<Cell>(image, table, TableType::cells, [&](Cell& cell, std::uint32_t) {
        if (cell.calls == 0) return;
        for (std::uint64_t* ticks : {&cell.ticks, &cell.min_ticks, &cell.max_ticks}) *ticks = seat.larger(*ticks);
    });
    vary_each<Counter>(image, table, TableType::counters, [&](Counter& counter, std::uint32_t) {
        if (counter.calls != 0) counter.calls += seat.rank % 3;
    });
    vary_each<HistogramBlock>(image, table, TableType::histogram_blocks, [&](HistogramBlock& block, std::uint32_t) {
        std::rotate(block.count, block.count + seat.rank % 4, block.count + histogram_sub_buckets);
    });
    vary_each<Activity>(image, table, TableType::activity, [&](Activity& activity, std::uint32_t) {
        for (ActivityBin& bin : activity.bins) bin.ticks = seat.larger(bin.ticks);
    });
    vary_each<Arrival>(image, table, TableType::arrivals, [&](Arrival& arrival, std::uint32_t) {
        arrival.begin += seat.node() * std::uint64_t{1'000'003'000};
        come_earlier(arrival, seat);
    });
}

void vary_places(Image& image, const Table& table, const Seat& seat) {
    vary_each<Communicator>(image, table, TableType::communicators, [&](Communicator& communicator, std::uint32_t) {
        if (communicator.how == origin_world) communicator.size = seat.ranks, communicator.rank = seat.rank;
    });
    vary_each<Module>(image, table, TableType::modules, [&](Module& module, std::uint32_t) {
        if (module.base >= first_library) module.base += seat.library_shift(), module.end += seat.library_shift();
    });
    vary_each<Thread>(image, table, TableType::threads, [&](Thread& thread, std::uint32_t) {
        if (seat.is_killed()) thread.in_call &= ~has_returned, thread.in_call_since -= 1000;
    });
    vary_each<Fact>(image, table, TableType::facts, [&](Fact& fact, std::uint32_t) {
        if (std::string_view(fact.name) != "cpu_at_start" || fact.value_length != 1) return;
        image[fact.value_offset] = static_cast<char>('0' + seat.rank % 8);
    });
    if (!seat.is_of_another_kind()) return;
    vary_each<Setting>(image, table, TableType::settings, [](Setting& setting, std::uint32_t) {
        if (std::string_view(setting.name) == "PERIOD") set_text(setting.value, "5"), setting.source = 1;
    });
    vary_each<Frame>(image, table, TableType::frames, [&](Frame& frame, std::uint32_t i) {
        if (i % 9 == 0) frame.offset += 0x40;
    });
}

void vary_header(Header& header, const Seat& seat) {
    header.rank = seat.rank;
    header.size = seat.ranks;
    header.pid = 1000 + seat.rank;
    header.local_rank = seat.on_its_node();
    set_text(header.job, "4711");
    set_text(header.launch, "bench:4711");
    set_text(header.node, "boot-" + std::to_string(seat.node()));
    set_text(header.host, "n" + std::to_string(seat.node()));
    for (std::uint64_t* figure :
         {&header.usage.user_us, &header.usage.max_resident_kib, &header.usage.voluntary_switches,
          &header.processor.first_ran_ns, &header.init_ticks, &header.own_setup_ns})
        *figure = seat.larger(*figure);
    const auto ticks_per_ns = static_cast<double>(header.ended.ticks - header.loaded.ticks) /
                              static_cast<double>(header.ended.monotonic_ns - header.loaded.monotonic_ns);
    const auto move = [&](Anchor& anchor, std::uint64_t later_ns) {
        anchor.ticks += seat.node() * std::uint64_t{1'000'003'000} +
                        static_cast<std::uint64_t>(static_cast<double>(later_ns) * ticks_per_ns);
        anchor.monotonic_ns += later_ns + seat.node() * std::uint64_t{7'000'000'000};
        anchor.realtime_ns += later_ns;
    };
    move(header.loaded, 0);
    move(header.started, seat.rank % 41 * 1000);
    move(header.updated, seat.rank % 53 * 1000);
    move(header.ended, seat.rank % 53 * 1000);
    if (!seat.is_killed()) return;
    header.state = State::running;
    header.updated = header.ended;
    header.ended = {};
    header.finalize_ticks = 0;
}

Image read(const char* path) {
    std::ifstream file(path, std::ios::binary);
    Image image((std::istreambuf_iterator<char>(file)), {});
    if (image.size() < sizeof(Header)) std::fprintf(stderr, "many_ranks: %s is no profile\n", path), std::exit(1);
    return image;
}

struct Words {
    bool gaps = false, node = false, small = false;
    // False: one that there is not.
    bool take(std::string_view word) {
        bool* const meant = word == "gaps" ? &gaps : word == "node" ? &node : word == "small" ? &small : nullptr;
        return meant && (*meant = true);
    }
};

// Files of ranks or of nodes, one after the other.
class Files {
  public:
    Files(const std::string& directory, bool of_nodes)
        : begin_(directory + "/mpi_profile.4711."), of_nodes_(of_nodes) {}
    // Ends the program where it cannot.
    void write(const Seat& seat, const Image& image) {
        if (of_nodes_ ? write_range(seat, image) : write_file(seat, image)) return;
        std::fprintf(stderr, "many_ranks: cannot write rank %u to %s...\n", seat.rank, begin_.c_str());
        std::exit(1);
    }

  private:
    bool write_file(const Seat& seat, const Image& image) const {
        std::ofstream out(begin_ + std::to_string(seat.rank), std::ios::binary);
        return static_cast<bool>(out.write(image.data(), static_cast<std::streamsize>(image.size())).flush());
    }
    bool write_range(const Seat& seat, const Image& image) {
        if (!node_ || seat.on_its_node() == 0) {
            char name[32];
            std::snprintf(name, sizeof name, "node%012x", seat.node());
            node_ = std::make_unique<mpiprof::test::NodeFileWriter>(begin_ + name);
            node_->begin();
        }
        node_->put(seat.on_its_node(), std::as_bytes(std::span(image)));
        return node_->is_sound();
    }

    std::string begin_;
    bool of_nodes_;
    std::unique_ptr<mpiprof::test::NodeFileWriter> node_;
};

}  // namespace

int main(int argc, char** argv) {
    Words words;
    bool is_sound = argc >= 4;
    for (int i = 5; i < argc; ++i) is_sound &= words.take(argv[i]);
    if (!is_sound)
        return std::fprintf(stderr, "usage: many_ranks PROFILE DIRECTORY N [OTHER [gaps] [node] [small]]\n"), 2;
    Image of_first = read(argv[1]), of_others = read(argc > 4 ? argv[4] : argv[1]);
    const std::uint64_t began = reinterpret_cast<const Header*>(of_first.data())->started.ticks;
    for (Image* image : {&of_first, &of_others}) {
        even_out(*image, began);
        if (words.small) *image = mpiprof::bench::SmallImage::of(std::move(*image));
    }
    const unsigned ranks = static_cast<unsigned>(std::atoi(argv[3]));
    Files files(argv[2], words.node);
    for (Seat seat{0, ranks, words.node ? of_a_nodes_file : of_a_node}; seat.rank < ranks; ++seat.rank) {
        if (words.gaps && seat.is_missing()) continue;
        Image image = seat.on_its_node() == 0 ? of_first : of_others;
        vary_header(*reinterpret_cast<Header*>(image.data()), seat);
        each_table(image, [&](const Table& table) {
            vary_counts(image, table, seat);
            vary_places(image, table, seat);
        });
        files.write(seat, image);
    }
}
