// perfetto: the traces of all ranks as a timeline that ui.perfetto.dev opens, in the JSON that Chrome's tracing
// defined: a process for each rank, a slice ("X") for each call, arrows ("s" to "f") for messages of which both ends
// are known, tracks of their own for regions and iterations. Times are microseconds since the first rank left MPI_Init.
// Reads each rank twice: to find out which messages belong together, and to write it.
#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/exports/export.h"
#include "report/messages/clocks.h"
#include "report/messages/messages.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {
namespace {

constexpr std::uint32_t regions_track = 1'000'000, iterations_track = 1'000'001;

std::string label_of(const Communicator& communicator) {
    if (communicator.origin == Origin::world) return "MPI_COMM_WORLD";
    if (communicator.origin == Origin::self) return "MPI_COMM_SELF";
    const std::string id = fmt::format("{:08x}", static_cast<std::uint32_t>(communicator.id >> 32));
    return communicator.name.empty() ? id : fmt::format("{} {}", communicator.name, id);
}

class Writer {
  public:
    Writer(JsonWriter& json, const Messages& messages, const Clocks& clocks)
        : json_(json), messages_(messages), clocks_(clocks) {}

    void rank(const Profile& profile) {
        profile_ = &profile;
        sites_.assign(profile.sites.size(), "");
        metadata(0, "process_name", "name", fmt::format("rank {} ({})", profile.rank, profile.host));
        metadata(0, "process_sort_index", "sort_index", profile.rank);
        for (const ThreadTrace& trace : profile.traces) thread(trace);
        regions();
        json_.flush();
    }

  private:
    // Nanoseconds as microseconds, to the last digit.
    static std::string us(std::int64_t ns) {
        const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
        return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
    }
    std::string at(std::uint64_t ns) const { return us(clocks_.at(profile_->rank, ns)); }
    std::string duration(std::uint64_t begin_ns, std::uint64_t ns) const {
        return us(clocks_.at(profile_->rank, begin_ns + ns) - clocks_.at(profile_->rank, begin_ns));
    }

    void place(std::uint32_t thread) {
        json_.field("pid", profile_->rank);
        json_.field("tid", thread);
    }
    template <class T>
    void metadata(std::uint32_t thread, std::string_view name, std::string_view key, const T& value) {
        json_.entry([&] {
            json_.field("ph", "M");
            place(thread);
            json_.field("name", name);
            json_.object("args", [&] { json_.field(key, value); });
        });
    }
    template <class Arguments>
    void slice(std::uint32_t thread, std::string_view name, std::string_view category, std::uint64_t begin_ns,
               std::uint64_t duration_ns, Arguments arguments) {
        json_.entry([&] {
            json_.field("ph", "X");
            place(thread);
            json_.raw_field("ts", at(begin_ns));
            json_.raw_field("dur", duration(begin_ns, duration_ns));
            json_.field("name", name);
            json_.field("cat", category);
            json_.object("args", arguments);
        });
    }

    void thread(const ThreadTrace& trace) {
        const std::uint32_t id = trace.thread + 1;
        const Thread& known = profile_->threads[trace.thread];
        metadata(
            id, "thread_name", "name",
            known.kind == ThreadKind::main ? std::string("main thread") : fmt::format("thread {}", known.os_thread));
        metadata(id, "thread_sort_index", "sort_index", id);
        const MessageEnds ends(*profile_, trace);
        for (std::size_t i = 0; i < trace.events.size(); ++i) {
            const Event& event = trace.events[i];
            const Event* next = i + 1 < trace.events.size() ? &trace.events[i + 1] : nullptr;
            if (event.kind == EventKind::call)
                call(id, event, next && next->kind == EventKind::received ? next : nullptr);
            if (ends.at(i)) arrow(id, *ends.at(i), slice_begin(trace, i));
        }
    }

    void call(std::uint32_t thread, const Event& event, const Event* received) {
        const Call& call = profile_->calls[event.call];
        slice(thread, call.name, name_of(call.traffic), event.begin_ns, event.duration_ns,
              [&] { arguments(event, received); });
    }

    void arguments(const Event& event, const Event* received) {
        if (event.is_failed) json_.field("failed", true);
        if (event.bytes != 0 || event.peer) json_.field("bytes", event.bytes);
        if (event.peer) json_.field("peer", *event.peer);
        if (event.tag) json_.field("tag", *event.tag);
        if (received) {
            json_.field("received_bytes", received->bytes);
            if (received->peer) json_.field("received_from", *received->peer);
            if (received->tag) json_.field("received_tag", *received->tag);
        }
        if (event.communicator != 0) {
            const std::string label = label_of(profile_->communicators[event.communicator]);
            json_.field("communicator", label);
            if (event.is_collective && event.number != 0)
                json_.field("instance", fmt::format("{} #{}", label, event.number));
        }
        if (event.region != 0) json_.field("region", profile_->regions[event.region].name);
        if (const std::string& site = site_of(event.site); !site.empty()) json_.field("site", site);
    }

    const std::string& site_of(std::uint32_t index) {
        static const std::string none;
        const Frame* line = index && index < sites_.size() ? profile_->line_of(index) : nullptr;
        if (!line) return none;
        std::string& text = sites_[index];
        if (!text.empty()) return text;
        static const Module unknown;
        const Module& module = line->module < profile_->modules.size() ? profile_->modules[line->module] : unknown;
        text = place_text(symbols_.at(module, line->offset), module, line->offset);
        return text;
    }

    // When the call began that an event belongs to: what completes requests is written behind what it completes.
    static std::uint64_t slice_begin(const ThreadTrace& trace, std::size_t event) {
        std::size_t at = event;
        while (trace.events[at].kind == EventKind::completed && at + 1 < trace.events.size()) ++at;
        return trace.events[at].begin_ns;
    }

    // From the beginning of what sends to the end of what receives. An arrow leaves and enters the slice that is open
    // then; that of a call whose clock ran backwards has no length.
    void arrow(std::uint32_t thread, const MessageEnd& end, std::uint64_t slice_begin_ns) {
        const std::uint64_t message = messages_.number(end.key);
        if (message == 0) return;
        const std::uint64_t inside =
            end.is_send ? end.begin_ns : std::max(slice_begin_ns, end.end_ns - (end.end_ns != 0));
        json_.entry([&] {
            json_.field("ph", end.is_send ? "s" : "f");
            json_.field("id", message);
            place(thread);
            json_.raw_field("ts", at(inside));
            json_.field("name", "message");
            json_.field("cat", "message");
            if (!end.is_send) json_.field("bp", "e");
        });
    }

    // Of all threads: regions are the process's.
    void regions() {
        std::vector<const Event*> marks;
        std::uint64_t first = ~std::uint64_t{0}, last = 0;
        for (const ThreadTrace& trace : profile_->traces)
            for (const Event& event : trace.events) {
                first = std::min(first, event.begin_ns);
                last = std::max(last, event.end_ns());
                if (event.kind >= EventKind::region_entered) marks.push_back(&event);
            }
        std::stable_sort(marks.begin(), marks.end(),
                         [](const Event* a, const Event* b) { return a->begin_ns < b->begin_ns; });
        nested(marks, first, last);
        iterations(marks);
    }

    void region_slice(std::uint16_t region, std::uint64_t from, std::uint64_t to) {
        if (region == 0 || region >= profile_->regions.size() || to < from) return;
        slice(regions_track, profile_->regions[region].name, "region", from, to - from, [] {});
    }

    // One that was entered before the trace begins was open since then, one that is not left is open until its end.
    void nested(const std::vector<const Event*>& marks, std::uint64_t first, std::uint64_t last) {
        struct Open {
            std::uint16_t region;
            std::uint64_t since;
        };
        std::vector<Open> open;
        bool is_named = false;
        for (const Event* mark : marks) {
            if (mark->kind == EventKind::iteration) continue;
            if (!is_named) metadata(regions_track, "thread_name", "name", "regions");
            is_named = true;
            if (mark->kind == EventKind::region_entered) {
                open.push_back({mark->region, mark->begin_ns});
                continue;
            }
            const auto entered =
                std::find_if(open.rbegin(), open.rend(), [&](const Open& o) { return o.region == mark->region; });
            if (entered == open.rend()) {
                if (open.empty()) region_slice(mark->region, first, mark->begin_ns);
                continue;
            }
            while (open.back().region != mark->region) {
                region_slice(open.back().region, open.back().since, mark->begin_ns);
                open.pop_back();
            }
            region_slice(open.back().region, open.back().since, mark->begin_ns);
            open.pop_back();
        }
        for (; !open.empty(); open.pop_back())
            region_slice(open.back().region, open.back().since, std::max(last, open.back().since));
    }

    void iterations(const std::vector<const Event*>& marks) {
        const Event* before = nullptr;
        for (const Event* mark : marks) {
            if (mark->kind != EventKind::iteration) continue;
            if (!before) {
                metadata(iterations_track, "thread_name", "name", "iterations");
            } else {
                slice(iterations_track, "iteration", "iteration", before->begin_ns, mark->begin_ns - before->begin_ns,
                      [&] {
                          if (mark->bytes != 0) json_.field("items", mark->bytes);
                      });
            }
            before = mark;
        }
    }

    JsonWriter& json_;
    const Messages& messages_;
    const Clocks& clocks_;
    Symbols symbols_;
    const Profile* profile_ = nullptr;
    std::vector<std::string> sites_;  // of the rank; empty: not asked for yet
};

// "3", "0, 5 and 7 others"
std::string list_of(const std::vector<std::uint32_t>& ranks) {
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i) text += fmt::format("{}{}", i ? ", " : "", ranks[i]);
    return ranks.size() > most ? text + fmt::format(" and {} others", ranks.size() - most) : text;
}

// Which ranks have a trace, and what is told of their messages.
struct Survey {
    std::vector<std::uint32_t> traced, untraced;
    std::vector<std::uint32_t> shortened;
    std::uint64_t events = 0, lost = 0;
    Clocks clocks;
    Messages messages;

    void add(const Profile& profile) {
        std::uint64_t here = 0, gone = 0;
        for (const ThreadTrace& trace : profile.traces) here += trace.events.size(), gone += trace.lost;
        if (profile.traces.empty()) return untraced.push_back(profile.rank);
        traced.push_back(profile.rank);
        if (gone != 0) shortened.push_back(profile.rank);
        events += here;
        lost += gone;
        clocks.meet(profile);
    }
};

// Both ends of an arrow are known to within the error of a clock.
std::string_view why_backwards(const Survey& survey) {
    if (!survey.clocks.are_measured())
        return "the clocks of nodes differ by as much; MPIPROF_CLOCK_OFFSETS=on measures them";
    const bool is_within =
        survey.messages.most_backwards_ns() <= 2 * static_cast<std::int64_t>(survey.clocks.largest_error_ns());
    return is_within ? "the clocks are not known better" : "the clocks of nodes differ by as much";
}

std::vector<std::string> remarks_of(const Survey& survey) {
    std::vector<std::string> said;
    const Messages& messages = survey.messages;
    if (!survey.untraced.empty())
        said.push_back(
            fmt::format("no trace of rank{} {}", survey.untraced.size() == 1 ? "" : "s", list_of(survey.untraced)));
    if (survey.lost != 0)
        said.push_back(fmt::format(
            "{} older events of rank{} {} were overwritten by the last {}; MPIPROF_TRACE=N keeps more", survey.lost,
            survey.shortened.size() == 1 ? "" : "s", list_of(survey.shortened), survey.events));
    const std::uint64_t unmatched = messages.unmatched_sends() + messages.unmatched_receives();
    if (messages.matched() + unmatched != 0)
        said.push_back(fmt::format("{} messages have an arrow", messages.matched()) +
                       (unmatched == 0 ? ""
                                       : fmt::format("; of {} sends and {} receives the other end is not known",
                                                     messages.unmatched_sends(), messages.unmatched_receives())));
    if (survey.clocks.are_measured())
        said.push_back(fmt::format("clocks were measured, to within {:.1f} us",
                                   static_cast<double>(survey.clocks.largest_error_ns()) / 1000));
    if (survey.clocks.are_measured_in_part())
        said.push_back("the clocks of some ranks were not measured: ranks are placed by the time of day");
    if (messages.backwards() != 0)
        said.push_back(fmt::format("{} of these arrows go backwards in time, by up to {:.1f} us: {}",
                                   messages.backwards(), static_cast<double>(messages.most_backwards_ns()) / 1000,
                                   why_backwards(survey)));
    return said;
}

}  // namespace

std::vector<std::string> export_perfetto(const Analysed& all, const ProfileSource& profile_of, const Sink& sink,
                                         const Complaint& complain) {
    const Job& job = all.job;
    Survey survey;
    const auto each_rank = [&](const std::vector<std::uint32_t>& ranks, auto use) {
        for (const std::uint32_t rank : ranks) {
            if (const auto profile = profile_of(rank))
                use(*profile);
            else
                complain(profile.error());
        }
    };
    std::vector<std::uint32_t> with_profile;
    for (const Rank& rank : job.ranks)
        if (rank.has_profile) with_profile.push_back(rank.rank);
    each_rank(with_profile, [&](const Profile& profile) {
        survey.add(profile);
        if (profile.traces.empty()) return;
        for (const ThreadTrace& trace : profile.traces) {
            const MessageEnds found(profile, trace);
            for (std::size_t i = 0; i < trace.events.size(); ++i)
                if (found.at(i)) survey.messages.add(*found.at(i), profile.rank);
        }
    });
    if (survey.traced.empty()) {
        complain({"", "no rank has a trace", "run the job with MPIPROF_TRACE=on"});
        return {};
    }
    survey.clocks.settle();
    survey.messages.match([&](std::uint32_t rank, std::uint64_t ns) { return survey.clocks.at(rank, ns); });
    JsonWriter json(sink);
    Writer writer(json, survey.messages, survey.clocks);
    json.object([&] {
        json.field("displayTimeUnit", "ns");
        json.entries("traceEvents", [&] {
            each_rank(survey.traced, [&](const Profile& profile) { writer.rank(profile); });
            json.raw("\n");
        });
    });
    json.raw("\n");
    return remarks_of(survey);
}

}  // namespace mpiprof::report
