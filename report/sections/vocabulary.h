// What sections call the libraries that a job used: MPI, NCCL, both or neither. Titles, notes and findings are written
// with these words; nothing edits them afterwards.
#pragma once

#include <string_view>

#include "report/model/job.h"

namespace mpiprof::report {

// Between what ranks are recorded.
struct Bounds {
    std::string_view init;        // from where on
    std::string_view first_init;  // of the first rank
    std::string_view finalize;    // what ranks reach that end as they should
    std::string_view begin, end;  // the same in the headline, where there is little room
};

struct Vocabulary : Bounds {
    std::string_view library;     // time is spent inside it
    std::string_view in_library;  // titles of columns
    std::string_view outside;     //
    std::string_view share;       // of the time inside it
};

const Vocabulary& vocabulary_of(const Job& job);
// Before a share of communication: "at least " where other libraries communicate unseen, else nothing.
std::string_view at_least(const Job& job);
// Of jobs that are compared: a serial run beside one with MPI is spoken of in MPI's words.
const Vocabulary& vocabulary_of_both(const Vocabulary& a, const Vocabulary& b);

}  // namespace mpiprof::report
