// The texts of PyTorch's DDP benchmark of several jobs: the table and the file of a sweep, and the comparison of two.
// For text, export and diff; of one job the first two do it by themselves.
#pragma once

#include <string>
#include <string_view>

#include "report/commands/operands.h"
#include "report/commands/options.h"

namespace mpiprof::report {

inline constexpr std::string_view ddp_layout = "ddp", ddp_export = "ddp-json";

bool are_several_runs(const Options& options);
// Of several runs; `output`: a file, empty: stdout.
int ddp_text(const Options& options);
int ddp_json(const Options& options, const std::string& output);
int ddp_diff(const Options& options, const Sides& sides);

}  // namespace mpiprof::report
