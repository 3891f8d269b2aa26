// The texts, in the order of the rules.
#include "report/sections/rule_words.h"

#include <array>

namespace mpiprof::report {
namespace {

constexpr std::array texts{
    RuleText{
        Rule::hang, "Ranks wait for each other, or for what will never come: proven, not guessed.",
        "What the ranks stand in, have entered and have enqueued, and who has ended; for a second and more. What is proven, "
        "and from what, is in docs/hangs.md. A job that only waits, however long, has no such line.",
        "mpiprof-report hang has the line of every rank."},
    RuleText{
        Rule::unfinished, "The job, or some of its ranks, did not reach MPI_Finalize.",
        "The state that each profile was left in: aborted, exited, killed. Where it began: the rank that called "
        "MPI_Abort, else the one that exited, else the one that the others waited for in a collective, else those whose "
        "records stop 2 s (or two periods of the store) before the others'.",
        "mpiprof-report hang shows where every rank stood; mpiprof-report check names the states. Look into the job's "
        "own output for signals and the scheduler's messages."},
    RuleText{Rule::errors, "Calls returned error codes and the program went on.",
             "The return value of each call. Such calls are in no other figure.",
             "mpiprof-report calls has them by call."},
    RuleText{Rule::paused, "Recording was off for a part of the run.",
             "MPI_Pcontrol by the program, or MPIPROF_BEGIN_TIME and MPIPROF_END_TIME.",
             "mpiprof-report settings; mpiprof-report time shows when. All shares are of the rest."},
    RuleText{
        Rule::overlap,
        "MPI is called by other threads than the main one: what it costs follows from who was blocked meanwhile.",
        "A tenth of the time in MPI, or more, is on other threads than the main thread. By the kernel's account the main "
        "thread ran, or waited for a processor, for so long that it has to have done so while others were in MPI: from "
        "half of MPI's time on this is the verdict, and no rank is called slow. Where one other thread makes nearly all "
        "calls, and on average no more than one thread ran or wanted to, that thread is taken for the program, and all "
        "verdicts are as usual. Else it is not known, and nothing follows.",
        "mpiprof-report calls --format csv has the time of other threads, budget what was computed. A main thread that "
        "spins (OpenMP's may) is not blocked, either."},
    RuleText{
        Rule::crowded, "Ranks wanted to run and waited for a processor.",
        "The time in which the thread that began MPI was ready to run and had no processor, by the kernel's account "
        "(CPU WAIT in mpiprof-report ranks): what of it was outside MPI, as stretches of the run taken by chance divide it; "
        "where less than that is enough, all of it, if it was 0.5 ms and more at a time. Where a kernel keeps none: 25 to "
        "500 involuntary context switches a "
        "second, 0.5 to 12 ms off the processor for each, and hardly any voluntary ones. Sleeping, polling and sched_yield are no crowding; CPU time alone is no evidence.",
        "mpiprof-report placement: which cores were allowed. On the node: pidstat -w -p PID, or perf sched."},
    RuleText{
        Rule::waiting, "Small collectives take many times what they take when nobody is late.",
        "The mean call of at most 1 KiB takes five times the 5th percentile or more, and the difference is 5 % of the "
        "run.",
        "mpiprof-report calls, sites. It says that ranks wait there, not who is late: see the verdict above it."},
    RuleText{
        Rule::waits, "Much of the time in MPI is waiting rather than moving data.",
        "Time above the fastest call of the same function, size and number of ranks: an upper bound where the fastest "
        "did not wait itself.",
        "mpiprof-report calls, column WAITING; docs/waiting.md."},
    RuleText{
        Rule::requests, "Wait and its like wait for the requests of one call.",
        "Each request is followed from the call that posted it to the one that completed it. The time of a call that "
        "completed several (Waitall) is divided evenly among them: which of them came last is not recorded.",
        "mpiprof-report calls --width 140, column WAITED FOR, for which 80 columns have no room (--format csv: waited_ns). "
        "Post earlier, or do something else meanwhile."},
    RuleText{Rule::imbalance, "Work is uneven, without a clear group of slow ranks.",
             "The longest time outside MPI is above the mean by 5 % of the run or more, and the slowest ranks are not "
             "clearly apart from the others.",
             "mpiprof-report ranks --sort outside; mpiprof-report time."},
    RuleText{
        Rule::slow_node, "All ranks of one node, and only they, are slower than the others.",
        "As slow-rank, and the slow ranks are all ranks of one node of several.",
        "mpiprof-report ranks --by node; mpiprof-report placement (throttled, memory). On the node: clock rates, other "
        "processes, dmesg. Ask for another node."},
    RuleText{Rule::polling, "The program asks with Test or Probe again and again.",
             "50,000 such calls a second by each rank that makes them, of less than 5 us each.",
             "mpiprof-report sites --by line. Use Wait, or do more between two questions."},
    RuleText{
        Rule::placement, "Something is seriously wrong with the cores that ranks were allowed.",
        "The masks that the kernel had for each rank in MPI_Init, against its node's other ranks.",
        "mpiprof-report placement has the rule, the ranks and the launcher's option that cures it; docs/placement.md."},
    RuleText{Rule::nccl_waiting, "NCCL's collectives wait on the GPU for the rank that comes last.",
             "Times of the same collectives on the GPUs of all ranks: whoever comes last is done soonest.",
             "mpiprof-report nccl; docs/nccl.md."},
    RuleText{Rule::nccl_exposed, "NCCL's kernels run while no other kernel does.",
             "CUPTI's times of kernels: those of NCCL that nothing overlapped.", "mpiprof-report nccl; docs/nccl.md."},
    RuleText{
        Rule::gpu_idle, "GPUs run no kernel for a good part of the time, and NCCL and MPI are not why.",
        "CUPTI's times of all kernels from the first to the last that it recorded: 20% of it and more without any, "
        "while the hosts spend less than half as much of the run inside operations of NCCL and MPI. Copies are no "
        "kernels. Only what CUPTI recorded is known: with MPIPROF_CUPTI=sample some seconds.",
        "mpiprof-report nccl (HOW BUSY THE GPUS WERE). Whether data are loaded in time (workers of the data loader, "
        "the file system), synchronisations with the host, many short kernels; a timeline of some steps (Nsight "
        "Systems, PyTorch's profiler) shows which."},
    RuleText{
        Rule::graph_replays, "Replays of CUDA graphs repeat operations of NCCL, which are no calls.",
        "Operations that were captured into graphs, times the replays of these: a tenth and more of all. Or replays that "
        "cannot be counted: by the driver's functions, by a static CUDA runtime, of what was captured while recording was "
        "off.",
        "mpiprof-report nccl counts them by communicator; with MPIPROF_CUPTI=sample they have times on the GPU, too."},
    RuleText{Rule::dropped, "Something could not be kept apart, or was not recorded.",
             "The recorder's own counts of what did not fit into its tables.",
             "mpiprof-report check; docs/settings.md has the sizes of the tables."},
    RuleText{
        Rule::order, "Members of a communicator have not made the same collectives in the same order.",
        "Each rank adds up, for each communicator, which collectives it made, in which order and with which roots (of "
        "NCCL's also with which counts, types and reductions), recorded or not, and keeps some of them with their lines, "
        "the same numbers on all ranks, of NCCL's the newest 256. Two have kept other calls under one number; or all members reached MPI_Finalize, and what they add up to differs. Nothing is said where a "
        "member has no profile, of intercommunicators, and of communicators whose members alone tell them apart.",
        "The lines that are named; else mpiprof-report comms and sites: who made the call, and where. A program that is "
        "right makes them alike on all members."},
    RuleText{
        Rule::left_over,
        "At MPI_Finalize the program had requests, communicators or datatypes left that nobody completed or freed.",
        "Each request is followed from the call that posted it, each communicator and datatype from the call that made it. "
        "Only what the program's own file or script has made counts, not what libraries have; of what is freed by PMPI_ names nothing "
        "is known. Nothing is said of requests where recording was paused, functions were left out, or a completing call failed; and of nothing where "
        "another tool comes first.",
        "The lines that are named. A request that is never completed may mean a message that never arrived; what is made in a loop and not freed "
        "makes MPI's memory grow."},
    RuleText{
        Rule::wrong_launcher, "The ranks are jobs of one rank each: the launcher belongs to another MPI.",
        "Several profiles of worlds of one rank, of one job and command, started within a minute of each other by a "
        "launcher that is not that of the library they called.",
        "ldd PROGRAM names the library, which mpirun the launcher: both from one MPI. With srun: --mpi=pmix (Open MPI) or "
        "--mpi=pmi2 (MPICH)."},
    RuleText{
        Rule::slow_rank, "Some ranks are longer outside MPI than the others, which wait for them.",
        "Time outside MPI: theirs is above the mean by 5 % of the run or more and clearly apart from the others'. The "
        "others wait for as much as they are shorter outside. `since` is from 48 periods of the run. Nothing is said, of "
        "slow nodes, growing work and imbalance either, where the record of a rank that did not reach MPI_Finalize is so "
        "much shorter than the longest that half of the difference may be due to that.",
        "mpiprof-report ranks --sort outside; mpiprof-report time. More work, or a slower processor? Compare what they "
        "did, and CPU time with time outside MPI."},
    RuleText{Rule::growing_work, "The work of a rank grows, or falls, with its number.",
             "Time outside MPI goes with the number of the rank (correlation 0.95 or more, four ranks or more).",
             "mpiprof-report ranks. Divide the work otherwise: triangular loops, remainders that all go to the last."},
    RuleText{
        Rule::varying, "Nobody is slow over the run, but each time another rank is late.",
        "Waiting (time above the fastest call, and above what the slowest network would take) is 5 % of the run or more, "
        "beyond what slow ranks explain, and a quarter of the time in MPI. Ranks that are late in turn, each for a twelfth of the run and more, are named in their "
        "order.",
        "mpiprof-report sites, column WAITING; mpiprof-report time for ranks in turn. Random work, noise of the system, or work that moves about. Fewer "
        "collectives make fewer such waits."},
    RuleText{
        Rule::serial_chain, "The ranks work one after the other.",
        "The times outside MPI of all ranks together are about one run (0.2 to 1.15 of it), none has most of it, and what "
        "they do inside MPI takes far longer than its messages could; of fewer than four ranks even in the fastest calls.",
        "mpiprof-report peers shows who hands on to whom; mpiprof-report sites where they wait."},
    RuleText{
        Rule::one_serves_all, "One rank works for all others in turn, and they wait for it.",
        "90 % of all messages are to or from one rank, with nearly all others; it is outside MPI for half of its run or "
        "more, and the others wait in calls between two ranks.",
        "mpiprof-report peers; mpiprof-report ranks. Several servers, larger portions, or collectives."},
    RuleText{
        Rule::small_messages, "The time goes into calls that carry next to nothing.",
        "5,000 calls a second by each rank, or more, of at most 1 KiB and less than 100 us each; together 10 % of the run, "
        "each taken for as long as the median of its kind: what few of them waited for a late rank is left out.",
        "mpiprof-report sites. Send many at once, or combine collectives."},
    RuleText{Rule::cheap_calls, "A query is called so often that it shows.",
             "Calls that are counted and not timed, at 5 ns each: 5 % of a rank's run or more. An estimate.",
             "mpiprof-report calls has the number; perf record the line. Ask once and keep the answer."},
    RuleText{
        Rule::unequal_comms, "Communicators made by one call are unequal.",
        "Of communicators that the same function made of the same parent, the largest has 1.5 times the ranks, or each "
        "member 1.5 times the calls or bytes, of the smallest.",
        "mpiprof-report comms --format csv."},
    RuleText{
        Rule::init, "MPI_Init takes a good part of the run.",
        "The longest MPI_Init is 5 s or more, a second if one rank was late, and a tenth of the process. If another rank's is much shorter, that one "
        "entered it last.",
        "What does the late rank do before MPI_Init? Else the start of the MPI itself: its network, the file system that "
        "its libraries lie on."},
    RuleText{
        Rule::setup, "Communicators, windows or persistent requests are set up again and again.",
        "Time in calls that set up or free (MPI_Comm_dup, MPI_Win_create, MPI_Bcast_init ...) without MPI_Init and "
        "without waiting for late ranks: 10 % of the run or more. The one that takes most is named, and called 100 times "
        "or more by each rank.",
        "mpiprof-report sites has the lines, comms what was made. Make it once, before the loop, and keep it."},
    RuleText{
        Rule::file_io, "MPI-IO takes a good part of the run.",
        "Time in MPI's calls on files: 10 % of the run or more. Files that are read "
        "and written without MPI are not seen.",
        "mpiprof-report calls --sort bytes; fewer and larger accesses, collective ones, stripes of the file system."},
    RuleText{Rule::transfers, "A good part of the run is inside MPI, and no rule names a cause.",
             "10 % of the run or more, no slow rank, no lateness, calls of some size.",
             "mpiprof-report calls, peers, sites: which calls, how large, to whom."},
    RuleText{Rule::healthy, "Nothing that the report can see is worth your time.",
             "No cause costs 5 % of the run, and less than 10 % of it is inside MPI. Of a run below 20 ms nothing is "
             "said: a disturbance looks like a slow rank there.",
             "What the program does outside MPI is for another profiler: perf record."},
    RuleText{
        Rule::unseen, "Nothing that the report can see costs time, and it does not see where most may be spent.",
        "As healthy, but NCCL's time on the GPUs was not recorded, or a library moves data between GPUs that nobody outside it sees.",
        "mpiprof-report nccl says why times on the GPU are missing, and the notes of the summary which library it is; docs/nccl.md."},
    RuleText{Rule::masks, "Allowed cores of ranks overlap without being the same.", "The masks in MPI_Init.",
             "mpiprof-report placement; bind each rank to cores of its own."},
    RuleText{Rule::too_many, "Ranks may use fewer cores than they are.", "The masks in MPI_Init.",
             "mpiprof-report placement. Whether it costs time is said by crowded."},
    RuleText{Rule::threads, "OMP_NUM_THREADS is more than the cores allowed.", "The variable and the masks.",
             "mpiprof-report placement; more cores for each rank, or fewer threads."},
    RuleText{Rule::starved, "A rank's own threads push each other off its cores.",
             "All its cores are busy for a second at least, it is pushed off 50 times a second and core, and by the "
             "kernel's account, where there is one, it waits 5 % of the time.",
             "mpiprof-report placement; more cores for each rank, or fewer threads."},
    RuleText{Rule::beyond, "A rank kept more cores busy than it was allowed in MPI_Init.", "CPU time against the mask.",
             "mpiprof-report placement; find the library that pins the threads."},
    RuleText{Rule::throttled, "The cgroup of a rank was kept from the processors: its quota was used up.",
             "cpu.stat of the cgroup: 1 % of the time or more.", "Ask for a larger quota, or run fewer threads."},
    RuleText{Rule::memory, "Memory comes near the limit of the cgroup.", "Peak memory above 90 % of the limit.",
             "mpiprof-report ranks; ask for more memory, or start fewer ranks per node."},
    RuleText{Rule::unbound, "Ranks may run on all cores and be moved about.", "The masks in MPI_Init.",
             "mpiprof-report placement."},
    RuleText{Rule::spread, "The cores of a rank lie on several NUMA nodes although one has enough.",
             "The masks and the NUMA nodes.", "mpiprof-report placement."},
    RuleText{Rule::far_gpu, "A rank's GPU is on another NUMA node than its cores.",
             "CUDA_VISIBLE_DEVICES, the masks and the NUMA nodes.", "mpiprof-report placement."},
    RuleText{Rule::far_adapter, "Ranks are far from the only network adapter while cores beside it are free.",
             "The masks and the NUMA nodes.", "mpiprof-report placement."},
};

constexpr bool are_in_order() {
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (texts[i].rule != static_cast<Rule>(i)) return false;
    return texts.back().rule == Rule::far_adapter;
}
static_assert(are_in_order(), "every rule is explained, in the order of the enumeration");

}  // namespace

const RuleText& text_of(Rule rule) { return texts[static_cast<std::size_t>(rule)]; }

}  // namespace mpiprof::report
