// The table of schedulers, and the walk over it. A new scheduler is a row.
#include "libmpiprof/host/job.h"

#include <stdio.h>
#include <string.h>

#include "libmpiprof/base/text.h"
#include "libmpiprof/host/launch.h"

namespace mpiprof {

using format::Header;

namespace {

struct JobRow {
    char id[24];
    char part[28];  // array index
    char part_is_none[12];
};
constexpr JobRow job_rows[] = {
    {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", ""},
    {"SLURM_JOB_ID", "", ""},
    {"PBS_JOBID", "", ""},
    {"LSB_JOBID", "LSB_JOBINDEX", "0"},
    {"COBALT_JOBID", "", ""},
    {"FLUX_JOB_ID", "", ""},
    {"OAR_JOB_ID", "", ""},
    {"JOB_ID", "SGE_TASK_ID", "undefined"},
};

// '/', blanks and control characters have no place in a file name, and dots separate its parts.
char in_file_name(char c) {
    const auto code = static_cast<unsigned char>(c);
    return c == '[' || c == '.' || c == '/' || code <= ' ' || code >= 0x7f ? '_' : c;
}

// "4711.sdb" -> 4711, "4711[3].sdb" -> 4711_3.
void add_job_id(Header& header, const char* id) {
    for (; *id && *id != '.'; ++id) {
        const char c = in_file_name(*id);
        if (*id != ']') append(header.job, &c, 1);
    }
}

// What the user calls it: "lj-2.5" -> lj-2_5.
void add_job_name(Header& header, const char* name) {
    for (; *name; ++name) {
        const char c = in_file_name(*name);
        append(header.job, &c, 1);
    }
}

// What the launcher calls the launch, on all nodes: the port of Hydra's mpiexec; ORTE's job family, or the process of
// PRRTE's prterun, out of the PMIx namespace ("4057923585", "prterun-login-27540@1").
bool add_launchers_number(Header& header, const Starter& starter) {
    if (const char* colon = strrchr(starter.port, ':')) {
        add_job_id(header, colon + 1);
        return true;
    }
    const char* space = variable("PMIX_NAMESPACE");
    unsigned value = 0;
    if (!space) return false;
    const char* dash = strrchr(space, '-');
    if (!number(dash ? dash + 1 : space, value)) return false;
    snprintf(header.job, sizeof header.job, "%u", dash ? value : value >> 16);
    return true;
}

// Without a scheduler it is the launcher's process, if all ranks are where it is.
void add_launcher(Header& header, const ProcessStat& self) {
    const Starter starter = starter_above(self);
    if ((spans_nodes() || starter.pid == 0) && add_launchers_number(header, starter)) return;
    unsigned launcher = starter.pid ? starter.pid : self.parent;
    if (SharedMark mark; starter.pid == 0 && mark_of_hydra(mark)) launcher = mark.number;
    if (starter.port[0] && starter.parent > 1) launcher = starter.parent;  // mpiexec, above its proxy
    snprintf(header.job, sizeof header.job, "%u", launcher);
}

}  // namespace

void describe_job(Header& header, const char* chosen, const ProcessStat& self) {
    if (*chosen) return add_job_name(header, chosen);
    if (const char* leader = variable("SLURM_HET_JOB_ID")) {
        add_job_id(header, leader);
        if (const char* offset = variable("SLURM_HET_JOB_OFFSET")) {
            append(header.job, "+");
            add_job_id(header, offset);
        }
        return;
    }
    for (const JobRow& row : job_rows) {
        const char* id = variable(row.id);
        if (id) add_job_id(header, id);
        if (!header.job[0]) continue;
        const char* part = row.part[0] ? variable(row.part) : nullptr;
        if (part && strcmp(part, row.part_is_none) != 0) {
            append(header.job, "_");
            add_job_id(header, part);
        }
        return;
    }
    const char* run = variable("TORCHELASTIC_RUN_ID");
    if (run && strcmp(run, "none") != 0) return add_job_name(header, run);
    add_launcher(header, self);
}

}  // namespace mpiprof
