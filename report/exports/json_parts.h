// Parts of the json export that are long enough for a file of their own: communicators, placement, what NCCL chose,
// facts, peers, what was left over.
#pragma once

#include "report/analysis/analysed.h"
#include "report/model/job.h"
#include "report/model/json_writer.h"

namespace mpiprof::report {

// What the report says of the job, the first verdict first: rule and figures, for words ask the summary.
void write_verdicts(JsonWriter& json, const Analysed& all);
void write_comms(JsonWriter& json, const Job& job);
void write_placement(JsonWriter& json, const Job& job);
void write_nccl_choices(JsonWriter& json, const Job& job);
void write_labels(JsonWriter& json, const Job& job);
void write_regions(JsonWriter& json, const Job& job);
void write_left_over(JsonWriter& json, const Job& job);
// Of one rank: where it ran and under whose settings, as its profile has it.
void write_facts(JsonWriter& json, const Profile& profile);
void write_peers(JsonWriter& json, const Profile& profile);  // what it exchanged with others

}  // namespace mpiprof::report
