// A finding as fields for programs: whom and what it speaks of, and what it costs. For sections and exports, which
// write them beside its rule and its sentence.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "report/analysis/analysed.h"
#include "report/model/table.h"

namespace mpiprof::report {

// What does not apply is not known.
struct FindingFields {
    Value ranks;               // "0-3,7"
    Value nodes, calls;        // names, separated by commas
    Value run_share, cost_ns;  // of the time of all ranks
    Value confidence;          // the id of its Confidence
    Value since_ns, until_ns;  // since 1970; not known: from the start, to the end

    // All of them by name, in this order.
    std::vector<std::pair<std::string_view, Value>> named() const;
};
FindingFields fields_of(const Finding& finding, const Analysed& all);

}  // namespace mpiprof::report
