// What a collective of NCCL's was given, in NCCL's words. For the sections that say which calls differ.
#pragma once

#include <string>

#include "report/model/hanging.h"

namespace mpiprof::report {

// "4096 float32 (sum)"; of a call that does not reduce without the bracket.
std::string given_text(const Given& given);

}  // namespace mpiprof::report
