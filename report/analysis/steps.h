// The steps of a program that marks none: found from the order in which its collectives recur, and how long they took
// over the run. For the section `steps`. No regular order, no steps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

struct Steps {
    std::uint64_t collectives = 0;  // in one step
    // Those that were seen at each position of a step, as far as they were; which one is the first nobody knows.
    std::vector<std::uint16_t> calls;  // indices into Job::calls
    double steps = 0;                  // in all
    double mean_ns = 0, median_ns = 0;
    double of_part = 0;  // steps in one of the parts below, on average

    // The run in parts of about equal numbers of steps.
    struct Part {
        double begin_ns = 0, end_ns = 0;  // since the end of MPI_Init
        double step_ns = 0;               // mean in it
    };
    std::vector<Part> parts;
    // Neighbouring parts that took longer than others, together.
    std::vector<Part> slow;
};

std::optional<Steps> steps_of(const Job& job);

}  // namespace mpiprof::report
