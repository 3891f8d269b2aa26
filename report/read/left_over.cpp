// What a rank had left over when it entered MPI_Finalize: the requests in its tables, the communicators and datatypes
// that it made and whose end nobody saw.
#include <map>
#include <tuple>

#include "report/read/reading.h"

namespace mpiprof::report {
namespace {

class Counts {
  public:
    explicit Counts(Reading& r) : r_(r) {}
    // `made_from` as the profile's records have it.
    void add(LeftOverKind kind, std::uint64_t made_from) {
        constexpr std::size_t most = 4096;
        const Key key{kind, static_cast<std::uint16_t>(made_from >> 48), made_from & 0xffff'ffff'ffff};
        if (counts_.size() < most || counts_.contains(key)) ++counts_[key];
    }
    ~Counts() {
        for (const auto& [key, count] : counts_)
            r_.profile.left_over.push_back({.kind = std::get<0>(key),
                                            .call = r_.calls.of(std::get<1>(key)),
                                            .made_at = {.offset = std::get<2>(key)},  // read_modules() finds the module
                                            .count = count});
    }

  private:
    using Key = std::tuple<LeftOverKind, std::uint16_t, std::uint64_t>;
    Reading& r_;
    std::map<Key, std::uint64_t> counts_;
};

}  // namespace

void read_left_over(Reading& r) {
    if (r.header.state != format::State::finalized) return;
    Counts counts(r);
    r.tables.each<format::Request>(format::TableType::requests, [&](const format::Request& record, const auto&) {
        if (record.handle == 0) return;
        const bool is_started = (record.posted_by & format::not_started) == 0;
        counts.add(is_started ? LeftOverKind::request : LeftOverKind::persistent,
                   record.posted_by & ~format::not_started);
    });
    r.tables.each<format::Communicator>(
        format::TableType::communicators, [&](const format::Communicator& record, const auto&) {
            if (record.how == format::origin_made && record.handle != 0 && record.made_from << 16 != 0)
                counts.add(LeftOverKind::communicator, record.made_from);
        });
    r.tables.each<format::LiveType>(format::TableType::types, [&](const format::LiveType& record, const auto&) {
        if (record.handle != 0 && record.made_from != 0) counts.add(LeftOverKind::type, record.made_from);
    });
}

}  // namespace mpiprof::report
