// Guarded by the runtime's lock, like all of start.
#include "libmpiprof/host/facts.h"

#include "libmpiprof/base/text.h"
#include "libmpiprof/record/rows.h"

namespace mpiprof {
namespace {

constexpr unsigned most_facts = 512;

Rows<format::Fact, 24> facts;
unsigned recorded = 0;

}  // namespace

void record_fact(Image& image, format::FactKind kind, const char* name, const char* value) {
    if (recorded == most_facts) return count_drop(image.header().drops.strings);
    std::size_t length = length_of(value);
    const std::uint64_t offset = image.add_string(value, length);
    format::Fact* fact = facts.next(image);
    if (!fact) return count_drop(image.header().drops.strings);
    copy(fact->name, name);
    fact->kind = kind;
    fact->value_offset = offset;
    fact->value_length = static_cast<std::uint32_t>(length);
    facts.publish();
    ++recorded;
}

}  // namespace mpiprof
