// Threads: the call that each is in or was in last, and its requests that are open.
#include "report/read/reading.h"

#include <utility>

namespace mpiprof::report {
namespace {

// Ranks and tags that stand for several, or for none, as the model has them.
std::int32_t rank_of(const Reading& r, std::int32_t passed) {
    const bool is_mpich = r.header.mpi_family == format::MpiFamily::mpich;
    if (passed >= 0) return passed;
    return passed == (is_mpich ? -2 : -1) ? any_rank : no_rank;
}

std::int32_t tag_of(std::int32_t passed) { return passed < 0 ? any_tag : passed; }

}  // namespace

void ThreadIndex::add(std::uint32_t id, Thread thread) {
    index_.emplace(id, static_cast<std::uint32_t>(threads_.size()));
    threads_.push_back(std::move(thread));
}

std::optional<std::uint32_t> ThreadIndex::find(std::uint32_t id) const {
    const auto found = index_.find(id);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
}

std::uint32_t ThreadIndex::look_up(std::uint32_t id) {
    const auto [at, is_new] = index_.emplace(id, static_cast<std::uint32_t>(threads_.size()));
    if (is_new) threads_.push_back({.in_call = {}, .last_call = {}, .called_from = {}});
    last_ = id;
    return last_index_ = at->second;
}

void read_threads(Reading& r) {
    r.tables.each<format::Thread>(format::TableType::threads, [&](const format::Thread& record, const format::Table&) {
        Thread thread{.kind = record.kind == format::ThreadKind::other ? ThreadKind::other : ThreadKind::main,
                      .os_thread = record.os_thread,
                      .owners = record.owners,
                      .in_call = {},
                      .last_call = {},
                      .called_from = {},
                      .nested = record.nested,
                      .peer = record.in_call_peer,
                      .tag = record.in_call_tag,
                      .source = record.in_call_source,
                      .source_tag = record.in_call_source_tag,
                      .only_request = record.in_call_request,
                      .requests = record.in_call_requests};
        r.profile.drops.unplaced += record.unplaced;
        const std::uint64_t key = record.in_call & ~format::has_returned;
        if (key != 0) {
            (record.in_call == key ? thread.in_call : thread.last_call) =
                r.calls.of(static_cast<std::uint16_t>(key >> 48));
            thread.called_from.offset = key & 0xffff'ffff'ffff;  // read_modules() finds the module
            if (record.in_call_since > r.header.started.ticks)
                thread.in_call_since_ns = r.scale.ns(record.in_call_since - r.header.started.ticks);
            if (record.script_call == static_cast<std::uint32_t>(record.in_call_since))
                thread.script_site = record.script_site;
        }
        for (std::int32_t* rank : {&thread.peer, &thread.source}) *rank = rank_of(r, *rank);
        for (std::int32_t* tag : {&thread.tag, &thread.source_tag}) *tag = tag_of(*tag);
        Usage& usage = r.profile.usage;
        usage.between_calls.ns += r.scale.ns(record.between_calls_ticks);
        usage.between_calls.waited_ns += record.between_calls_waited_ns;
        usage.between_calls.ran_ns += record.between_calls_ran_ns;
        usage.in_calls.ns += r.scale.ns(record.in_calls_ticks);
        usage.in_calls.waited_ns += record.in_calls_waited_ns;
        r.threads.add(record.id, std::move(thread));
        r.handle_of_call.push_back(record.in_call_communicator);
    });
}

// Of ranks that may hang: those that are open, and few.
void read_requests(Reading& r) {
    constexpr std::size_t most = 256;
    r.handles_of_requests.resize(r.profile.threads.size());
    if (r.header.state == format::State::finalized && r.header.finalize_ticks != 0) return;
    r.tables.each<format::Request>(format::TableType::requests,
                                   [&](const format::Request& record, const format::Table& table) {
                                       const auto thread = r.threads.find(table.thread);
                                       if (record.handle == 0 || !thread) return;
                                       std::vector<OpenRequest>& open = r.profile.threads[*thread].open_requests;
                                       if (open.size() == most) return;
                                       const std::uint64_t key = record.posted_by & ~format::not_started;
                                       open.push_back({.handle = record.handle,
                                                       .call = r.calls.of(static_cast<std::uint16_t>(key >> 48)),
                                                       .is_started = record.posted_by == key,
                                                       .called_from = {.offset = key & 0xffff'ffff'ffff},
                                                       .peer = rank_of(r, record.peer),
                                                       .tag = tag_of(record.tag)});
                                       r.handles_of_requests[*thread].push_back(record.communicator);
                                   });
}

}  // namespace mpiprof::report
