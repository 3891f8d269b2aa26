// A record of the table nccl_operations -> NcclOperation. Safe for any bytes. Used by the profile reader only.
#pragma once

#include "libmpiprof/format/layout.h"
#include "report/model/nccl_operation.h"

namespace mpiprof::report {

// `call` is its index into Profile::calls; of communicators there are so many.
NcclOperation nccl_operation_of(const format::NcclOperation& record, std::uint16_t call, std::size_t communicators);

}  // namespace mpiprof::report
