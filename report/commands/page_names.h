// What the places of a job are called, looked up on this machine: for a page, which is read elsewhere.
#pragma once

#include <cstdint>
#include <functional>

#include "report/model/given_names.h"
#include "report/model/job.h"

namespace mpiprof::report {

// Each place of a program or library, some more than once.
void for_each_place(const Job& job, const std::function<void(const Module& module, std::uint64_t offset)>& take);

GivenNames names_of(const Job& job);

}  // namespace mpiprof::report
