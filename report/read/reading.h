// What the readers of one profile's tables share: the file's tables, the Profile that they fill, and which of its calls
// and threads the file's numbers mean. profile_reader.cpp calls the readers in an order in which each finds what it
// refers to. Any bytes are safe; what leads nowhere is "not known".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "libmpiprof/format/layout.h"
#include "report/model/profile.h"
#include "report/model/result.h"
#include "report/read/buckets.h"
#include "report/read/tables.h"
#include "report/read/thinning.h"
#include "report/read/tick_scale.h"

namespace mpiprof::report {

// The file's numbers of calls -> indices into Profile::calls.
class CallIndex {
  public:
    explicit CallIndex(std::vector<Call>& calls) : calls_(calls) {}
    // A row of the dictionary. `counter`: where its threads count it.
    void add(std::uint16_t id, Call call, std::uint16_t counter);
    // A call that the dictionary does not name gets a name of its own and keeps its numbers: the rank may have been
    // killed between the two.
    std::uint16_t of(std::uint16_t id) {
        return id < index_.size() && index_[id] != none ? static_cast<std::uint16_t>(index_[id]) : add_unknown(id);
    }
    std::uint16_t counter_of(std::size_t call) const { return counters_[call]; }

  private:
    static constexpr std::uint32_t none = 0xffffffff;
    static constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
    std::uint16_t add_unknown(std::uint16_t id);

    std::vector<Call>& calls_;
    std::vector<std::uint32_t> index_;
    std::vector<std::uint16_t> counters_;  // by index
};

// The file's numbers of threads -> indices into Profile::threads. Tables of threads that the file does not describe
// are those of unknown threads.
class ThreadIndex {
  public:
    explicit ThreadIndex(std::vector<Thread>& threads) : threads_(threads) {}
    void add(std::uint32_t id, Thread thread);
    std::uint32_t of(std::uint32_t id) {
        return id == last_ && !threads_.empty() ? last_index_ : look_up(id);  // a table's records are one thread's
    }
    // Of threads that the file describes.
    std::optional<std::uint32_t> find(std::uint32_t id) const;

  private:
    std::uint32_t look_up(std::uint32_t id);

    std::vector<Thread>& threads_;
    std::unordered_map<std::uint32_t, std::uint32_t> index_;
    std::uint32_t last_ = 0xffffffff;
    std::uint32_t last_index_ = 0;
};

struct Reading {
    Reading(ByteSpan bytes, std::string_view path, const format::Header& head)
        : header(head), tables(bytes, path, head) {}
    Reading(const Reading&) = delete;  // its members refer to one another

    const format::Header& header;
    TickScale scale;
    Tables tables;
    Profile profile;
    CallIndex calls{profile.calls};
    ThreadIndex threads{profile.threads};
    BucketReader buckets{tables, profile.buckets};
    // By thread, the handles of communicators that its call and each of its open requests were given.
    std::vector<std::uint64_t> handle_of_call;
    std::vector<std::vector<std::uint64_t>> handles_of_requests;

    void note(std::string text) { profile.notes.push_back(std::move(text)); }
    // The last moment that the header knows.
    std::uint64_t last_ticks() const { return header.ended.ticks ? header.ended.ticks : header.updated.ticks; }
};

// On the clock of the node.
std::int64_t moment_of(const Reading& r, std::uint64_t ticks);

// What the header alone says: who this rank is, how it ended, what it used, and when. Sets the scale of all times.
void read_identity(Reading& r);
void read_times(Reading& r);

void read_calls(Reading& r);
void read_threads(Reading& r);
void read_requests(Reading& r);
void read_cells(Reading& r);
void read_counters(Reading& r);
Result<std::monostate> read_histograms(Reading& r);
Result<std::monostate> read_regions(Reading& r);
void read_communicators(Reading& r);
void read_arrivals(Reading& r, const Thinning& thinning);
void read_enqueued(Reading& r);
void read_enqueued_peers(Reading& r);
void read_peers(Reading& r);
void read_left_over(Reading& r);
void read_modules(Reading& r);
void read_sites(Reading& r);
void read_settings(Reading& r);
void read_labels(Reading& r);
void read_facts(Reading& r);
void read_node_counters(Reading& r);
void read_network_use(Reading& r);
void read_nccl_operations(Reading& r);
void read_activity(Reading& r);
Result<std::monostate> read_gpu(Reading& r);
void read_traces(Reading& r);

}  // namespace mpiprof::report
