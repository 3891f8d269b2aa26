// Layouts: a Job as the text files that people's eyes and scripts already know. `mpiprof-report text` asks them.
// A layout is chosen by name; it shows what the other tool would have shown and adds nothing of ours, except for a
// last line where ranks are missing.
// Some are texts of one rank each, some of the job as a whole.
// They never read a file and never write one: text comes back as a string.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "report/model/job.h"
#include "report/model/result.h"

namespace mpiprof::report {

struct MpitraceStyle;    // the words in which two layouts differ
struct MpitraceFigures;  // what the texts of all ranks share

struct Layout {
    std::string_view name;                                // what --layout takes
    std::string_view about;                               // one line for --help
    const MpitraceStyle* style;                           // of the layouts that show one rank; else none
    Result<std::string> (*of_job)(const Job&) = nullptr;  // of the others
};

std::span<const Layout> layouts();  // the first is the default
const Layout* find_layout(std::string_view name);

// What is said about the job as a whole: the table of all ranks, and the lines that compare this rank with them.
enum class JobPart : std::uint8_t {
    with_rank_0,  // the table in the text of rank 0 (or of the lowest rank there is), as mpitrace does
    always,       // the table in every text
    never,        // neither table nor comparisons: what the library itself writes, which knows one rank only
};

// The texts of one job's ranks. What all of them share is worked out once, so that `--rank all` is not quadratic.
// The Job must outlive it, and hold the cells of the ranks that are asked for.
class Listing {
  public:
    Listing(const Job& job, const Layout& layout);
    ~Listing();

    Result<std::string> text(std::uint32_t rank, JobPart part = JobPart::with_rank_0) const;

  private:
    const Job& job_;
    const Layout& layout_;
    std::unique_ptr<const MpitraceFigures> figures_;
};

}  // namespace mpiprof::report
