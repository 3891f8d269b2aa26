// The dictionary: the calls that the rank has made, by name.
#include "report/read/reading.h"

#include <fmt/format.h>

#include "libmpiprof/format/collective_order.h"

namespace mpiprof::report {
namespace {

Call call_of(const format::CallRecord& record) {
    Call call{
        .name = std::string(text_of(record.name)),
        .family = static_cast<Family>(record.family),
        .treatment = record.treatment == format::Treatment::counted ? Treatment::counted : Treatment::timed,
        .traffic = record.traffic <= format::Traffic::start ? static_cast<Traffic>(record.traffic) : Traffic::unknown};
    call.is_sampled = record.treatment == format::Treatment::polled;
    call.sends = record.arguments & format::has_dest;
    call.receives = record.arguments & format::has_source;
    call.has_root = record.arguments & format::has_root;
    call.has_requests = record.arguments & format::has_requests;
    call.is_ordered = record.arguments & format::is_ordered;
    call.is_posted = record.arguments & format::is_posted;
    const auto waits = record.arguments & format::root_waits;
    call.waits_for_all = waits == format::waits_for_all;
    call.waits_for_root = waits == format::waits_for_root;
    call.root_waits = waits == format::root_waits;
    if (record.bus <= format::BusRule::other_blocks) call.bus = static_cast<BusRule>(record.bus);
    if (call.is_ordered) call.order_word = format::order_word(call.name);
    return call;
}

}  // namespace

void CallIndex::add(std::uint16_t id, Call call, std::uint16_t counter) {
    if (index_.size() <= id) index_.resize(id + 1u, none);
    if (index_[id] != none || calls_.size() >= most) return;
    index_[id] = static_cast<std::uint32_t>(calls_.size());
    calls_.push_back(std::move(call));
    counters_.push_back(counter);
}

std::uint16_t CallIndex::add_unknown(std::uint16_t id) {
    if (calls_.size() >= most) return 0;
    add(id, {.name = fmt::format("(call {})", id), .traffic = Traffic::unknown}, 0);
    return static_cast<std::uint16_t>(index_[id]);
}

void read_calls(Reading& r) {
    r.profile.calls.reserve(r.tables.records(format::TableType::calls));
    r.tables.each<format::CallRecord>(format::TableType::calls,
                                      [&](const format::CallRecord& record, const format::Table&) {
                                          r.calls.add(record.call, call_of(record), record.counter);
                                      });
}

}  // namespace mpiprof::report
