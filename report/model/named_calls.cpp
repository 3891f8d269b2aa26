// Tables of names.
#include "report/model/named_calls.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace mpiprof::report {
namespace {

using namespace std::literals;

constexpr std::string_view prefixes[] = {"MPI_Scan", "MPI_Exscan", "MPI_Scan_c", "MPI_Exscan_c"};
constexpr std::string_view meetings[] = {"MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "MPI_Comm_disconnect"};

bool is_one_of(const Call& call, std::span<const std::string_view> names) {
    return std::ranges::find(names, call.name) != names.end();
}

}  // namespace

bool is_prefix(const Call& call) { return is_one_of(call, prefixes); }

bool is_passive_target(const Call& call) {
    return std::ranges::any_of(std::array{"MPI_Win_lock"sv, "MPI_Win_unlock"sv, "MPI_Win_flush"sv},
                               [&](std::string_view begin) { return call.name.starts_with(begin); });
}

bool starts_processes(const Call& call) { return call.name.starts_with("MPI_Comm_spawn"); }

bool meets_other_processes(const Call& call) { return is_one_of(call, meetings) || starts_processes(call); }

}  // namespace mpiprof::report
