// `mpiprof-report export`: hands a job, or each launch, to the export that was chosen, and its text to a file or
// stdout.
#pragma once

#include "report/merge/merge.h"
#include "report/model/job.h"
#include "report/options.h"

namespace mpiprof::report {

bool exports_each_launch(const Options& options);

int export_data(const Job& job, RankReader& reader, const Options& options);
// The launches that are found, or those of the job that was asked for, in the order in which they began.
int export_launches(const Options& options);

}  // namespace mpiprof::report
