// A finding: what one rule has to say about a job, as values. Which rule, how much it weighs, the calls, ranks and
// nodes it speaks of, and the figures that it rests on. The rules make findings (findings.h, placement_findings.h);
// sections put them into words. Nothing here is a sentence, so rewording one changes no answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "report/analysis/hang.h"
#include "report/analysis/suspicion.h"
#include "report/model/job.h"

namespace mpiprof::report {

enum class Rule : std::uint8_t {
#define RULE(name, ...) name,
#include "report/analysis/rules.def"
#undef RULE
};

// What may begin a report, the first kind before all others; among causes what costs most comes first, from 5 % of the
// run on. Behind a cause nothing begins one unless there is nothing else.
enum class Kind {
    no_job,     // these are many jobs
    hang,       // proven
    wrong,      // the program has luck
    ended,      // one that tells how the job ended, if it tells with whom that began
    not_lost,   // time that costs nothing, where that is most of it
    cause,      // of lost time
    remark,     // never
    spoiled,    // a remark, but nobody is told that all is well
    remainder,  // where no other one speaks
};
// Which lines of the source a rule is about: those of its call, or those where ranks wait.
enum class About { no_calls, its_call, waiting };

struct RuleRow {
    std::string_view id;  // what people read in brackets behind a finding, and scripts find in csv and json
    Kind kind;
    About about;
    std::span<const Rule> explains;
};
const RuleRow& row_of(Rule rule);
inline std::string_view id_of(Rule rule) { return row_of(rule).id; }
std::span<const Rule> all_rules();
std::optional<Rule> rule_called(std::string_view id);

// When something began and ended, where it was not so all the time.
struct Stretch {
    std::uint64_t began_ns = 0;  // after the first MPI_Init; 0: from the start on
    std::uint64_t began_at = 0;  // the same since 1970
    std::uint64_t ended_ns = 0;  // 0: it lasts to the end
    std::uint64_t ended_at = 0;
};

// The figures of each rule. Shares are of 1, times in ns.
namespace evidence {

// What is proven of a hang; Finding::ranks: all that are in it.
struct Hung {
    Hang hang;
    bool is_over = false;  // the job has ended: it hung until then
};
// The ranks ended, or stand, in this way; Finding::calls: inside of which.
struct Unfinished {
    State state = State::running;
    Life life = Life::ended;
    int exit_code = 0;
    std::uint64_t longest_ns = 0;  // in the call
    bool points_to_hang = false;   // some rank is inside a call, and this is the last of these findings
    // Of the verdict alone: Finding::ranks are those with whom the end began, Finding::calls what they were in last.
    bool is_inside = false;               // in that call, else after it
    std::uint32_t place = 0;              // index into Job::places: from where
    std::uint64_t after_ns = 0;           // after MPI_Init
    std::uint32_t alike = 0;              // ranks that ended in the same way, these included
    std::uint32_t waiting = 0;            // ranks that were in a call which these had not entered
    std::uint64_t waited_ns = 0;          // so long
    std::optional<std::uint16_t> call{};  // index into Job::calls: that call; empty with `waiting`: MPI_Finalize
    Suspicion held_by{};                  // where nobody was waited for inside MPI
};
struct Errors {
    std::vector<std::uint64_t> times;  // by Finding::calls, the most frequent first
};
struct Paused {
    double share = 0;  // of the elapsed time
    struct Setting {
        std::string name, value;
    };
    std::vector<Setting> window;  // empty: the program paused it
};
// MPI on other threads than the main one, or, where threads are not told apart, perhaps so. At most one of the next two
// is large; where neither is, the thread that calls MPI stands for the program.
struct Overlap {
    std::optional<double> background_share;  // of the time in MPI
    double cores_busy = 0;
    double beside_share = 0;        // of the time on other threads: the main thread is proven not to have been blocked
    double not_known_share = 0;     // of it: whether threads that compute were blocked meanwhile is not known
    double main_blocked_share = 0;  // of the run: the main thread neither ran nor wanted to; 0: not known
};
struct Waiting {
    std::optional<double> mean_bytes;
    double mean_ns = 0;
    double undisturbed_ns = 0;
    double run_share = 0;
};
struct Waits {
    double mpi_share = 0;       // of the time in MPI
    double call_run_share = 0;  // of the run, in the call that waits most
    bool is_known = false;      // by comparing calls, else it is an estimate
};
struct Requests {
    bool is_most = false;     // of all waiting for requests
    bool is_divided = false;  // by calls that completed several requests, of whose time each has an even part
    double mean_bytes = 0;
    double run_share = 0;
    std::optional<double> overlapped;
};
// How often some ranks were the last to enter the collective that ranks waited longest in, of its calls that were
// compared.
struct CameLast {
    std::uint16_t call = 0;  // index into Job::calls
    double share = 0;
};
// Ranks that are longer outside MPI than the others, who wait for them.
struct Imbalance {
    bool is_all_of_node = false;  // they are all ranks of their node, and there are others
    double longer_share = 0;      // than the mean of the others, while it was so
    double longer_ns = 0;         // the longest, above the mean of all
    double load_balance = 0;
    double others_share = 0;          // of the others' time in MPI
    double others_run_share = 0;      // of the others' run
    std::optional<double> cpu_share;  // of their time outside MPI, at most: they had a processor; empty: not known
    std::uint64_t throttled_ns = 0;   // the mean of these ranks, above the others': that long their cgroup's quota was
                                      // used up. 0: it explains little
    std::optional<Stretch> when;
    std::optional<CameLast> last;  // one of these ranks was
    bool is_at_least = false;      // others poll: a part of their waiting is outside MPI, between their calls
    std::uint32_t least_rank = 0;  // who has least to do
};
// Ranks for which the others wait in a collective, late because of what they do inside MPI: Finding::calls, the one
// that they spend more time in than the others, and the one in which these wait.
struct LateInside {
    double waiting_share = 0;  // of the waiting in the second call: for these ranks
    double more_ns = 0;        // in the first call, the longest of them above the mean of the others
    double others_run_share = 0;
    bool may_wait = false;  // there for somebody else
};
struct Polling {
    double calls_per_s = 0;   // of each rank that does so
    std::uint32_t ranks = 0;  // how many; of one Finding::ranks says which
    double run_share = 0;
};
// Nobody is slower than others over the run, and still all wait.
struct Varying {
    double mpi_share = 0;  // of the time in MPI
    double run_share = 0;
    double slow_share = 0;          // of the run, besides: waiting for ranks that are slow all the time
    bool is_said_for_whom = false;  // by another finding: a chain, or one that serves all
    // Why, perhaps; each only where it is worth saying. The second where the kernel keeps no account of the first.
    std::optional<double> processor_share;   // of the run the ranks waited for a processor
    bool is_processor_outside = false;       // MPI; else inside or outside, which is not known
    std::optional<double> pushed_off_per_s;  // the kernel took a rank's processor away, or the rank yielded it
    double load_balance = 0;
    bool is_known = false;         // by comparing calls, else the waiting is an estimate
    std::optional<CameLast> last;  // the rank that the others waited longest for
    std::uint32_t last_rank = 0;
    double last_waiting_share = 0;       // of the waiting in that call: for this rank
    std::vector<std::uint32_t> turns{};  // the ranks that were late, each in a stretch of the run; empty: at random
};
struct SerialChain {
    double at_work = 0;  // ranks outside MPI at the same time, on average
    double run_share = 0;
};
struct OneServesAll {
    double messages_share = 0;  // of all messages: to or from it
    double busy_share = 0;      // of its run: outside MPI
    double others_run_share = 0;
};
struct SmallMessages {
    double calls_of_rank = 0;  // mean
    double mean_bytes = 0;
    double mean_ns = 0;
    double calls_per_s = 0;  // of each rank
    double run_share = 0;
};
struct CheapCalls {
    double calls_per_s = 0;  // of each rank that does so
    std::uint32_t ranks = 0;
    double run_share = 0;  // estimated
};
// Communicators made by the same calls of the same parent.
struct UnequalComms {
    std::string made_by;
    std::uint32_t least_size = 0, most_size = 0;
    double least_calls = 0, most_calls = 0;  // of a member
    double least_bytes = 0, most_bytes = 0;
    double run_share = 0;
};
struct Init {
    std::uint64_t longest_ns = 0;
    double process_share = 0;     // of the longest process
    std::uint64_t waited_ns = 0;  // of that: until the last rank, Finding::ranks, entered it; 0: nobody was late
};
// Ranks wait in MPI_Finalize for the last one, Finding::ranks.
struct Finalize {
    std::uint64_t longest_ns = 0;
    std::uint64_t waited_ns = 0;  // of that, until the last one came
    double process_share = 0;     // of the longest process
};
// Without what late ranks were waited for.
struct Setup {
    double run_share = 0;       // all calls that set up or free
    double call_run_share = 0;  // of it, Finding::calls
    double calls = 0;           // of each rank, of these
    double mean_ns = 0;
    bool have_waited = false;  // so that mean_ns is less than they took
};
struct FileIo {
    double run_share = 0;
    double bytes_per_s = 0;
};
struct Transfers {
    double run_share = 0;
    double mean_bytes = 0;
    double bytes_per_s = 0;               // of each rank, while in that call
    std::optional<double> waiting_share;  // of the time in MPI, at most
    bool is_waiting_known = false;        // by comparing calls: not at most
};
struct Healthy {
    double mpi_share = 0;  // of the run
    std::optional<double> load_balance;
    double blocked_share = 0;        // of the run: outside, and on no processor
    double setup_share = 0;          // of the run: NCCL's communicators are made and ended
    bool is_gpu_unseen = false;      // NCCL's calls return at once, and no time on the GPU was recorded
    bool is_something_else = false;  // serious, but no time that is lost
    std::uint64_t too_short_ns = 0;  // the run is so short that nothing is judged; 0: it is not
    bool is_length_unknown = false;  // nor is it where a text does not tell how long the ranks ran
};
struct WrongLauncher {
    std::uint32_t launches = 0;
    std::string launcher, family;  // who started the ranks, whose library they called
};
struct NcclWaiting {
    double collectives_share = 0;  // of their time on the GPU
    double run_share = 0;
    double last_share = 0;  // of the waiting: for the rank that came last most often, Finding::ranks
    std::uint64_t last = 0, compared = 0;
};
struct NcclExposed {
    double nccl_share = 0;
    double kernels_share = 0;
};
// What CUDA graphs repeated without a call.
struct GraphReplays {
    double replayed = 0, called = 0;  // operations of NCCL, of the mean rank
    std::uint32_t ranks_missing = 0;  // whose replays are not all counted
};
struct GpuIdle {
    double idle_share = 0, largest_share = 0;  // of the time that was recorded; Finding::ranks: whose is the largest
    std::uint32_t gpus = 0;
    double host_share = 0;  // of the run: hosts inside operations of MPI and NCCL
};
// Members of a communicator that ended as they should and have not made the same collectives; Finding::ranks: one of
// each of two sides, Finding::calls: what they made where they parted, if that is known.
struct Order {
    std::string communicator;  // empty: it has no name
    std::uint32_t size = 0;
    std::uint64_t one = 0, other = 0;  // how many they made
    // The so manieth differs, from 1 on, or is the first that the other has not made (then it is the finding's only
    // call, at place_of_one); 0: not known.
    std::uint64_t at = 0;
    std::uint64_t since = 0;  // they may have parted from this one on
    std::int32_t root_of_one = any_rank, root_of_other = any_rank;
    std::uint32_t place_of_one = 0, place_of_other = 0;  // index into Job::places
    Given given_of_one{}, given_of_other{};              // of NCCL's
    bool are_swapped = false;
    bool is_enqueued = false;         // on a communicator of NCCL's
    bool has_ended_well = false;      // all members reached MPI_Finalize
    std::uint64_t communicators = 0;  // of which this is so
};
struct Dropped {
    std::uint64_t Drops::*what = nullptr;
    std::uint64_t count = 0;
};

// Of placements: an example is of the first node and mask that the rule met.
struct Masks {
    std::uint32_t rank = 0, other_rank = 0;
    NumberList cpus, other_cpus;
};
struct TooMany {
    std::uint64_t ranks = 0;
    NumberList cpus;
};
struct Threads {
    std::uint64_t threads = 0, most_of_rank = 0;
    NumberList cpus;
};
struct Starved {
    std::uint32_t rank = 0;
    double cores_busy = 0;
    std::uint64_t cores = 0;
    double pushed_off_per_s = 0;
};
struct Beyond {
    std::uint32_t rank = 0;
    double cores_busy = 0;
    std::uint64_t cores = 0;
};
struct Throttled {
    std::uint64_t most_ns = 0;
    double share = 0;
};
struct Memory {
    bool is_of_all_together = false;
    double share = 0;
    std::uint64_t limit_bytes = 0;
};
struct Unbound {
    NumberList cpus;
};
struct Spread {
    std::uint32_t rank = 0;
    NumberList cpus;
    std::vector<std::uint32_t> numa_nodes;
};
struct FarGpu {
    std::uint32_t rank = 0, gpu = 0, gpu_numa_node = 0;
    std::vector<std::uint32_t> numa_nodes;
};
struct FarAdapter {
    std::string adapter;
    std::uint32_t numa_node = 0;
    std::uint64_t free_cores = 0;
};

// What the program's own code has left over at MPI_Finalize.
struct LeftOvers {};  // Job::left_over

// Ranks that wanted to run and waited for a processor: too many of them on their cores, where that is known.
struct Crowded {
    double waited_share = 0;      // of their run
    double pushed_off_per_s = 0;  // 0: the kernel counted the time itself
    double waited_ns = 0;         // each time
    bool is_at_least = false;
    double inside_share = 0;  // of the run: what they waited inside MPI, where is_outside
    bool is_outside = false;  // MPI: what was waited inside is not in it
    bool have_own_cores = false;
    std::optional<TooMany> too_many;
};

}  // namespace evidence

template <class Types, class... More>
struct Each {
    using type = Types;
};
template <class... Types, class T, class... More>
struct Each<std::variant<Types...>, T, More...>
    : Each<std::conditional_t<(std::is_same_v<T, Types> || ...), std::variant<Types...>, std::variant<Types..., T>>,
           More...> {};

using AnyFigures = Each<std::variant<evidence::Hung>
#define RULE(name, id, figures, ...) , evidence::figures
#include "report/analysis/rules.def"
#undef RULE
                        >::type;

// The figures of any rule; some rules share theirs. How one of forty kinds is copied, moved and destroyed is compiled
// once, in finding.cpp, and not by each file that hands a Finding on.
struct Evidence : AnyFigures {
    using AnyFigures::AnyFigures;
    Evidence();
    Evidence(const Evidence&);
    Evidence(Evidence&&) noexcept;
    Evidence& operator=(const Evidence&);
    Evidence& operator=(Evidence&&) noexcept;
    ~Evidence();
};

struct Finding {
    Rule rule{};
    bool is_serious = false;
    std::vector<std::uint16_t> calls;  // index into Job::calls
    std::vector<std::uint32_t> ranks;  // sorted
    std::vector<std::uint32_t> nodes;  // index into Job::nodes; of placements
    Evidence evidence;
    double run_share = 0;      // of the time of all ranks: what it costs, where that is known
    std::optional<Rule> of{};  // of Rule::placement: which one of the placement this is
};

}  // namespace mpiprof::report
