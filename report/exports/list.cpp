// The list of exports.
#include <algorithm>
#include <array>

#include "report/exports/export.h"

namespace mpiprof::report {
namespace {

constexpr std::array all{
    Export{"csv", "one line per rank, call, size bin and buffer", export_csv},
    Export{"folded", "stacks of call sites with microseconds, for flame graphs", export_folded},
    Export{"json", "everything", export_json},
    Export{"ddp-json", "the iterations as the file of PyTorch's DDP benchmark", export_ddp},
    Export{"line", "one line of JSON for each launch, for log collectors", export_line, false, true},
    Export{"perfetto", "the traces of MPIPROF_TRACE as a timeline for ui.perfetto.dev", export_perfetto, true},
};

}  // namespace

std::span<const Export> exports() { return all; }

const Export* find_export(std::string_view name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Export& e) { return e.name == name; });
    return found == all.end() ? nullptr : found;
}

}  // namespace mpiprof::report
