// A job with what follows from it, each worked out once, when it is first asked for: what several screens of one
// command say, they say from the same values. Commands make it, sections and exports are handed it. Values alone; one
// thread.
#pragma once

#include <optional>
#include <vector>

#include "report/analysis/arrivals.h"
#include "report/analysis/budget.h"
#include "report/analysis/completeness.h"
#include "report/analysis/figures.h"
#include "report/analysis/finding.h"
#include "report/analysis/hang.h"
#include "report/analysis/suspicion.h"
#include "report/model/job.h"

namespace mpiprof::report {

// What it costs, as a share of the time of all ranks; 0: nothing, or not known. Causes cost, and ends and hangs all;
// time in MPI that no rule calls lost, or on a thread of its own, does not.
inline double cost_share(const Finding& finding) {
    const Kind kind = row_of(finding.rule).kind;
    return kind == Kind::cause || kind == Kind::hang || kind == Kind::ended ? finding.run_share : 0;
}

// The same in ns, added up over the ranks; what is lost before MPI_Init ends or in MPI_Finalize is a share of whole
// processes.
double cost_ns(const Finding& finding, const Figures& figures);

// Of the causes of lost time, one that others follow from. The first of a job's is what a report begins with; there
// always is one, if only that nothing is worth a look.
struct Verdict {
    Finding finding;
    std::vector<Finding> explained;
};

class Analysed {
  public:
    // The job has to outlive it. Implicit: where a job is asked one question, nothing has to be kept.
    Analysed(const Job& of) : job(of) {}
    ~Analysed();  // compiled once
    Analysed(const Analysed&) = delete;
    Analysed& operator=(const Analysed&) = delete;

    const Job& job;
    const Figures& figures() const;
    const Budget& budget() const;                // the mean of the ranks
    const std::vector<Row>& unfinished() const;  // calls that some ranks have not returned from
    const Completeness& completeness() const;
    const std::vector<Arrival>& arrivals() const;      // of collectives of MPI that ranks are in
    const std::vector<Arrival>& not_enqueued() const;  // of those of NCCL
    const std::optional<Hang>& hang() const;           // what is proven
    const Suspicion& suspicion() const;                // what is not, where nothing is
    const std::vector<Finding>& placement() const;     // what is wrong with it
    const std::vector<Verdict>& verdicts() const;      // one at least
    const Finding& cause() const { return verdicts().front().finding; }

  private:
    std::vector<Verdict> judged() const;  // verdict.cpp

    template <class T>
    using Once = std::optional<T>;

    mutable Once<Figures> figures_;
    mutable Once<Budget> budget_;
    mutable Once<std::vector<Row>> unfinished_;
    mutable Once<Completeness> completeness_;
    mutable Once<std::vector<Arrival>> arrivals_, not_enqueued_;
    mutable Once<std::optional<Hang>> hang_;
    mutable Once<Suspicion> suspicion_;
    mutable Once<std::vector<Finding>> placement_;
    mutable Once<std::vector<Verdict>> verdicts_;
};

}  // namespace mpiprof::report
