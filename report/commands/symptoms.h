// What can keep a job from being profiled, each as a line for a person. For doctor, which asks for those of a program
// and for those of the machine and the directory that it is called in.
#pragma once

#include <string>
#include <vector>

#include "report/symbols/program_file.h"

namespace mpiprof::report {

enum class Weight : char { fatal = 'x', remark = '!', fine = '.' };
struct Symptom {
    Weight weight;
    std::string text;
    bool is_seen = false;  // it speaks of an MPI or an NCCL that will be recorded, or of profiles that are there
};
using Symptoms = std::vector<Symptom>;
void add(Symptoms& all, const Symptoms& more);

// What its file says. `path` is where it lies.
Symptoms symptoms_of_program(const std::string& path, const ProgramFile& file);

// Of this environment: the preload, settings for everyone, and the directory where profiles go. A file of 1 MiB is
// written there and deleted again, since that alone proves that there is room.
Symptoms symptoms_of_environment();

// After a run: where profiles lie that are not in this directory, and what the outputs of jobs in it say of the
// preload.
Symptoms symptoms_after_a_run();

}  // namespace mpiprof::report
