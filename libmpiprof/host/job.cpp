// The table of schedulers, and the walk over it. A new scheduler is a row.
#include "libmpiprof/host/job.h"

#include <stdio.h>
#include <string.h>

#include "libmpiprof/base/text.h"
#include "libmpiprof/host/launch.h"

namespace mpiprof {

using format::Header;

namespace {

// `around`: how the scheduler itself writes the part behind the id.
struct JobRow {
    char id[24];
    char part[28];  // array index, component
    char part_is_none[12];
    char around[3];
    bool has_steps;
    bool is_anybodys;  // programs have a variable of this name, too: it counts where no other scheduler is
};
constexpr JobRow job_rows[] = {
    {"SLURM_HET_JOB_ID", "SLURM_HET_JOB_OFFSET", "", "+", true, false},
    {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "", "_", true, false},
    {"SLURM_JOB_ID", "", "", "", true, false},
    {"PBS_JOBID", "", "", "", false, false},
    {"LSB_JOBID", "LSB_JOBINDEX", "0", "[]", false, false},
    {"COBALT_JOBID", "", "", "", false, false},
    {"FLUX_JOB_ID", "", "", "", false, false},
    {"OAR_JOB_ID", "", "", "", false, false},
    {"JOB_ID", "SGE_TASK_ID", "undefined", ".", false, true},
};

const char* part_of(const JobRow& row) {
    const char* part = row.part[0] ? variable(row.part) : nullptr;
    return part && strcmp(part, row.part_is_none) != 0 ? part : nullptr;
}

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

// ---- as the scheduler spells it ----

using Ids = char[sizeof(Header::job_ids)];

void add_raw(Ids& ids, const char* word) {
    for (; *word; ++word) {
        const auto code = static_cast<unsigned char>(*word);
        const char c = code <= ' ' || code == 0x7f ? '_' : *word;  // blanks are between ids
        append(ids, &c, 1);
    }
}

// Slurm's numbers of batch scripts, and of what else is no step of the user's, begin here.
constexpr unsigned first_special_step = 0xfffffff0;

void add_step(Ids& id) {
    unsigned step = 0;
    const char* text = variable("SLURM_STEP_ID");
    if (!number(text, step) || step >= first_special_step) return;
    append(id, ".");
    append(id, text);
}

}  // namespace

// An id that does not fit is left out: half of it would be another job's.
void describe_job_ids(Header& header) {
    for (const JobRow& row : job_rows) {
        const char* id = variable(row.id);
        if (!id || (row.is_anybodys && header.job_ids[0])) continue;
        Ids raw = "";
        add_raw(raw, id);
        if (const char* part = part_of(row)) {
            append(raw, row.around, 1);
            add_raw(raw, part);
            append(raw, row.around + 1);
        }
        if (row.has_steps) add_step(raw);
        if (length_of(header.job_ids) + 1 + length_of(raw) > sizeof raw - 1) continue;
        if (header.job_ids[0]) append(header.job_ids, " ");
        append(header.job_ids, raw);
    }
}

void describe_job(Header& header, const char* chosen, const ProcessStat& self) {
    if (*chosen) return add_job_name(header, chosen);
    for (const JobRow& row : job_rows) {
        const char* id = variable(row.id);
        if (id) add_job_id(header, id);
        if (!header.job[0]) continue;
        if (const char* part = part_of(row)) {
            append(header.job, row.around[0] == '+' ? "+" : "_");
            add_job_id(header, part);
        }
        return;
    }
    const char* run = variable("TORCHELASTIC_RUN_ID");
    if (run && strcmp(run, "none") != 0) return add_job_name(header, run);
    add_launcher(header, self);
}

}  // namespace mpiprof
