// The answers themselves, for list.cpp.
#pragma once

#include "report/sections/section.h"

namespace mpiprof::report {

Result<std::vector<Table>> summary(const Job& job, const Question& question);
Result<std::vector<Table>> calls(const Job& job, const Question& question);
Result<std::vector<Table>> ranks(const Job& job, const Question& question);
Result<std::vector<Table>> regions(const Job& job, const Question& question);
Result<std::vector<Table>> time(const Job& job, const Question& question);
Result<std::vector<Table>> hang(const Job& job, const Question& question);
Result<std::vector<Table>> comms(const Job& job, const Question& question);
Result<std::vector<Table>> nccl(const Job& job, const Question& question);
Result<std::vector<Table>> peers(const Job& job, const Question& question);
Result<std::vector<Table>> sites(const Job& job, const Question& question);
Result<std::vector<Table>> settings(const Job& job, const Question& question);
Result<std::vector<Table>> placement(const Job& job, const Question& question);

}  // namespace mpiprof::report
