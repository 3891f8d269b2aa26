// What is proven of a hang, in words: its class first, then the ranks and their lines; and the words for places and
// arguments that all sentences of calls that do not return have in common. For the section `hang` and for findings.
#pragma once

#include <cstdint>
#include <string>

#include "report/analysis/hang.h"
#include "report/model/hanging.h"

namespace mpiprof::report {

// `is_over`: the job has ended, it hung until then.
std::string words_of(const Hang& hang, const Job& job, bool is_over);

// "MPI_COMM_WORLD", "rows", "a communicator of 4 ranks"; empty where it is not known.
std::string communicator_text(const Group& group);

// What a collective of NCCL's was given, in NCCL's words: "4096 float32 (sum)"; of a call that does not reduce without
// the bracket.
std::string given_text(const Given& given);

// "The only rank", "Both ranks", "All 64 ranks", "3 of 64 ranks".
std::string of_all(std::size_t ranks, const Job& job);

// A place of Job::places in one word: "halo.f90:123", or what is known of it. Empty where nothing is known.
std::string line_text(const Job& job, std::uint32_t place);
std::string in_brackets(const std::string& line);  // " (halo.f90:123)"

}  // namespace mpiprof::report
