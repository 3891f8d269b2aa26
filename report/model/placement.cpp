// Looking things up in a Placement.
#include "report/model/placement.h"

#include <algorithm>

namespace mpiprof::report {

const std::string* Placement::variable_of(const RankPlace& rank, std::string_view name) const {
    const auto found = std::lower_bound(variables.begin(), variables.end(), name,
                                        [](const Variable& variable, std::string_view n) { return variable.name < n; });
    if (found == variables.end() || found->name != name) return nullptr;
    const auto& value =
        found->values[environments[rank.environment][static_cast<std::size_t>(found - variables.begin())]];
    return value.value ? &*value.value : nullptr;
}

}  // namespace mpiprof::report
