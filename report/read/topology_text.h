// What `nvidia-smi topo -m` prints, as it was saved in a file. For placement --topology; reads one text and nothing
// else.
#pragma once

#include <string>
#include <string_view>

#include "report/model/device_matrix.h"
#include "report/model/result.h"

namespace mpiprof::report {

// The matrix somewhere in the text; what stands around it is passed over. A part of one is a problem.
Result<DeviceMatrix> parse_topology(std::string_view text, const std::string& source);
Result<DeviceMatrix> read_topology(const std::string& path);

}  // namespace mpiprof::report
