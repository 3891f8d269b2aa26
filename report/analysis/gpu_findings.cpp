// What of the GPU's side of NCCL deserves a look. Times on the GPU begin with the first kernel, which waits there for
// the kernels of the other ranks: so the shortest of an operation over its members is the transfer, and the rest is
// waiting for the rank that came last.
#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/analysis/causes.h"
#include "report/analysis/findings.h"

namespace mpiprof::report {
namespace {

// The rank for which the members of a communicator waited longest.
void stragglers(const Job& job, const Figures& figures, std::vector<Finding>& findings) {
    const GpuComm* worst = job.gpu.most_waiting();
    if (!worst) return;
    const double share = *worst->waiting_share();
    const double of_run = share * figures.share_of_wall(worst->time_ns);
    if (of_run < worth_a_look) return;
    const GpuComm::Late& last = worst->late.front();
    const double blame =
        static_cast<double>(last.waited_ns) / static_cast<double>(std::max<std::uint64_t>(1, worst->waiting_ns));
    findings.push_back({.rule = Rule::nccl_waiting,
                        .is_serious = true,
                        .calls = {},
                        .ranks = {last.rank},
                        .nodes = {},
                        .evidence = evidence::NcclWaiting{.collectives_share = share,
                                                          .run_share = of_run,
                                                          .last_share = blame,
                                                          .last = last.operations,
                                                          .compared = worst->compared},
                        .run_share = of_run});
}

// Communication that no computation hides.
void exposed(const Job& job, std::vector<Finding>& findings) {
    const auto [nccl_ns, exposed_ns] = job.gpu.exposed();
    double busy_ns = 0;
    for (const GpuWork& work : job.gpu.work)
        if (work.kind == GpuWorkKind::other_kernels) busy_ns += static_cast<double>(work.time_ns);
    if (nccl_ns <= 0 || exposed_ns < worth_a_look * (exposed_ns + busy_ns)) return;
    findings.push_back({.rule = Rule::nccl_exposed,
                        .is_serious = false,
                        .calls = {},
                        .ranks = {},
                        .nodes = {},
                        .evidence = evidence::NcclExposed{.nccl_share = exposed_ns / nccl_ns,
                                                          .kernels_share = exposed_ns / (exposed_ns + busy_ns)}});
}

// Operations alone: what makes and ends communicators lies outside of what CUPTI records in a sample.
double share_in_operations(const Job& job, const Figures& figures) {
    std::uint64_t ns = 0;
    for (const Row& row : job.rows) {
        const Traffic traffic = job.calls[row.sum.call].traffic;
        if (traffic != Traffic::none && traffic != Traffic::setup && traffic != Traffic::file) ns += row.sum.time_ns;
    }
    return figures.share_of_wall(ns);
}

// GPUs without work, for which neither NCCL nor MPI is the reason.
void idle(const Job& job, const Figures& figures, std::vector<Finding>& findings) {
    constexpr double much = 0.2;
    double idle_ns = 0, recorded_ns = 0;
    for (const GpuBusy& gpu : job.gpu.busy) {
        idle_ns += static_cast<double>(gpu.idle_ns());
        recorded_ns += static_cast<double>(gpu.recorded_ns);
    }
    const double host_share = share_in_operations(job, figures);
    if (idle_ns < much * recorded_ns || recorded_ns <= 0 || 2 * host_share > idle_ns / recorded_ns) return;
    const GpuBusy& most = job.gpu.busy.front();
    findings.push_back({.rule = Rule::gpu_idle,
                        .is_serious = false,
                        .calls = {},
                        .ranks = {most.rank},
                        .nodes = {},
                        .evidence = evidence::GpuIdle{.idle_share = idle_ns / recorded_ns,
                                                      .largest_share = static_cast<double>(most.idle_ns()) /
                                                                       static_cast<double>(most.recorded_ns),
                                                      .gpus = job.gpu.gpus_busy,
                                                      .host_share = host_share}});
}

// Where most of NCCL's work is no call, all figures of calls are of the rest.
void replays(const Job& job, std::vector<Finding>& findings) {
    constexpr double worth_a_word = 0.1;
    std::uint64_t calls = 0;
    for (const Row& row : job.rows) {
        const Call& call = job.calls[row.sum.call];
        if (call.family == Family::nccl && carries_messages(call.traffic)) calls += row.sum.calls;
    }
    const auto replayed = static_cast<double>(job.gpu.replayed_operations()), called = static_cast<double>(calls);
    const bool is_much = replayed > 0 && replayed >= worth_a_word * (replayed + called);
    if (!is_much && job.gpu.ranks_missing_replays == 0) return;
    const double ranks = std::max(1u, job.profiles());
    findings.push_back(
        {.rule = Rule::graph_replays,
         .is_serious = false,
         .calls = {},
         .ranks = {},
         .nodes = {},
         .evidence = evidence::GraphReplays{
             .replayed = replayed / ranks, .called = called / ranks, .ranks_missing = job.gpu.ranks_missing_replays}});
}

}  // namespace

void find_on_gpus(const Analysed& all, std::vector<Finding>& findings) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    stragglers(job, figures, findings);
    exposed(job, findings);
    idle(job, figures, findings);
    replays(job, findings);
}

}  // namespace mpiprof::report
