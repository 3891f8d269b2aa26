// The catalogue's run-time half, built by the compiler: one block of names, one array of plain records, no relocation.
#include "libmpiprof/mpi/catalogue.h"

namespace mpiprof::mpi {
namespace {

constexpr std::size_t bytes_of_names() {
    std::size_t bytes = 0;
    for (const Call& call : table) bytes += std::string_view(call.name).size() + 1;
    return bytes;
}
static_assert(bytes_of_names() < 65536);

constexpr auto build_names() {
    std::array<char, bytes_of_names()> names{};
    std::size_t at = 0;
    for (const Call& call : table) {
        for (const char c : std::string_view(call.name)) names[at++] = c;
        ++at;
    }
    return names;
}

constexpr auto build_infos() {
    std::array<CallInfo, calls> infos{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < calls; ++i) {
        const Call& call = table[i];
        infos[i] = {static_cast<std::uint16_t>(at), call.family, call.treatment, call.traffic, call.size_rule, call.counter};
        at += std::string_view(call.name).size() + 1;
    }
    return infos;
}

constexpr std::uint16_t counted() {
    std::uint16_t n = 0;
    for (const Call& call : table)
        if (call.treatment != Treatment::timed) ++n;
    return n;
}

constexpr bool names_fit() {
    for (const Call& call : table)
        if (std::string_view(call.name).size() >= sizeof(format::CallRecord::name)) return false;
    return true;
}
static_assert(names_fit() && calls < 2048, "a CallRecord holds the name, Records::in_dictionary has a bit per call");

constexpr auto names = build_names();
constexpr auto infos = build_infos();

}  // namespace

constinit const Catalogue catalogue{names.data(), infos.data(), static_cast<std::uint16_t>(calls), counted()};

}  // namespace mpiprof::mpi
