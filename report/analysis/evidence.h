// What each rule rests on: the figures of a finding. Rules fill them in, sections put them into words; figures() names
// them for programs, with their units, as a member that is nothing but its name. Those of placements are in
// placed_evidence.h, those of GPUs and NCCL in gpu_evidence.h, those of late ranks in late_evidence.h. Values alone, no
// text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/figure.h"
#include "report/analysis/hang.h"
#include "report/analysis/late_evidence.h"
#include "report/analysis/suspicion.h"
#include "report/model/job.h"

namespace mpiprof::report {

// The figures of each rule. Shares are of 1, times in ns.
namespace evidence {

// What is proven of a hang; Finding::ranks: all that are in it.
struct Hung {
    Hang hang;
    bool is_over = false;  // the job has ended: it hung until then

    Confidence confidence() const { return Confidence::proven; }
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

    FigureList figures() const {
        return {{"exit_code", exit_code},   {"longest_ns", longest_ns}, {"after_ns", after_ns},  {"ranks_alike", alike},
                {"ranks_waiting", waiting}, {"waited_ns", waited_ns},   {"is_inside", is_inside}};
    }
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

    FigureList figures() const { return {{"share", share}}; }
};
// MPI on other threads than the main one, or, where threads are not told apart, perhaps so. At most one of the next two
// is large; where neither is, the thread that calls MPI stands for the program.
struct Overlap {
    std::optional<double> background_share;  // of the time in MPI
    double cores_busy = 0;
    double beside_share = 0;        // of the time on other threads: the main thread is proven not to have been blocked
    double not_known_share = 0;     // of it: whether threads that compute were blocked meanwhile is not known
    double main_blocked_share = 0;  // of the run: the main thread neither ran nor wanted to; 0: not known
    // The rank that comes last to the call that is waited in, where it does so more often than the others.
    std::optional<std::uint32_t> last_rank{};
    CameLast last{};

    FigureList figures() const {
        return {{"background_share", background_share},
                {"cores_busy", cores_busy},
                {"last_rank", last_rank},
                {"last_share", last_rank ? std::optional(last.share) : std::nullopt},
                {"concurrent_share", beside_share},
                {"not_known_share", not_known_share},
                {"main_blocked_share", main_blocked_share}};
    }
};
struct Waiting {
    std::optional<double> mean_bytes;
    double mean_ns = 0;
    double undisturbed_ns = 0;
    double run_share = 0;

    FigureList figures() const {
        return {{"mean_bytes", mean_bytes},
                {"mean_ns", mean_ns},
                {"undisturbed_ns", undisturbed_ns},
                {"run_share", run_share}};
    }
};
struct Waits {
    double mpi_share = 0;       // of the time in MPI
    double call_run_share = 0;  // of the run, in the call that waits most
    bool is_known = false;      // by comparing calls, else it is an estimate

    Confidence confidence() const { return is_known ? Confidence::measured : Confidence::estimated; }
    FigureList figures() const { return {{"mpi_share", mpi_share}, {"call_run_share", call_run_share}}; }
};
struct Requests {
    bool is_most = false;     // of all waiting for requests
    bool is_divided = false;  // by calls that completed several requests, of whose time each has an even part
    double mean_bytes = 0;
    double run_share = 0;
    std::optional<double> overlapped;

    Confidence confidence() const { return is_divided ? Confidence::estimated : Confidence::measured; }
    FigureList figures() const {
        return {{"is_most", is_most}, {"mean_bytes", mean_bytes}, {"run_share", run_share}, {"overlapped", overlapped}};
    }
};
struct Polling {
    double calls_per_s = 0;   // of each rank that does so
    std::uint32_t ranks = 0;  // how many; of one Finding::ranks says which
    double run_share = 0;

    FigureList figures() const { return {{"calls_per_s", calls_per_s}, {"ranks", ranks}, {"run_share", run_share}}; }
};
struct SmallMessages {
    double calls_of_rank = 0;  // mean
    double mean_bytes = 0;
    double mean_ns = 0;
    double calls_per_s = 0;  // of each rank
    double run_share = 0;

    FigureList figures() const {
        return {{"calls_of_rank", calls_of_rank},
                {"mean_bytes", mean_bytes},
                {"mean_ns", mean_ns},
                {"calls_per_s", calls_per_s},
                {"run_share", run_share}};
    }
};
struct CheapCalls {
    double calls_per_s = 0;  // of each rank that does so
    std::uint32_t ranks = 0;
    double run_share = 0;  // estimated

    Confidence confidence() const { return Confidence::estimated; }
    FigureList figures() const { return {{"calls_per_s", calls_per_s}, {"ranks", ranks}, {"run_share", run_share}}; }
};
// Communicators made by the same calls of the same parent.
struct UnequalComms {
    std::string made_by;
    std::uint32_t least_size = 0, most_size = 0;
    double least_calls = 0, most_calls = 0;  // of a member
    double least_bytes = 0, most_bytes = 0;
    double run_share = 0;

    FigureList figures() const {
        return {{"made_by", made_by},         {"least_size", least_size}, {"most_size", most_size},
                {"least_calls", least_calls}, {"most_calls", most_calls}, {"least_bytes", least_bytes},
                {"most_bytes", most_bytes},   {"run_share", run_share}};
    }
};
struct Init {
    std::uint64_t longest_ns = 0;
    double lost_ns = 0;           // by all ranks
    double process_share = 0;     // of the longest process
    std::uint64_t waited_ns = 0;  // of that: until the last rank, Finding::ranks, entered it; 0: nobody was late

    FigureList figures() const {
        return {{"longest_ns", longest_ns}, {"process_share", process_share}, {"waited_ns", waited_ns}};
    }
};
// Ranks wait in MPI_Finalize for the last one, Finding::ranks.
struct Finalize {
    std::uint64_t longest_ns = 0;
    double lost_ns = 0;           // by all ranks
    std::uint64_t waited_ns = 0;  // of that, until the last one came
    double process_share = 0;     // of the longest process

    FigureList figures() const {
        return {{"longest_ns", longest_ns}, {"waited_ns", waited_ns}, {"process_share", process_share}};
    }
};
// Without what late ranks were waited for.
struct Setup {
    double run_share = 0;       // all calls that set up or free
    double call_run_share = 0;  // of it, Finding::calls
    double calls = 0;           // of each rank, of these
    double mean_ns = 0;
    bool have_waited = false;       // so that mean_ns is less than they took
    bool starts_processes = false;  // MPI_Comm_spawn

    FigureList figures() const {
        return {{"run_share", run_share},
                {"call_run_share", call_run_share},
                {"calls_of_rank", calls},
                {"mean_ns", mean_ns}};
    }
};
struct FileIo {
    double run_share = 0, bytes_per_s = 0;
    double mean_bytes = 0;  // of the calls that most time is in
    FigureList figures() const {
        return {{"run_share", run_share}, {"bytes_per_s", bytes_per_s}, {"mean_bytes", mean_bytes}};
    }
};
struct Transfers {
    double run_share = 0;
    double mean_bytes = 0;
    double bytes_per_s = 0;               // of each rank, while in that call
    std::optional<double> waiting_share;  // of the time in MPI, at most
    bool is_waiting_known = false;        // by comparing calls: not at most

    Confidence confidence() const {
        return is_waiting_known || !waiting_share ? Confidence::measured : Confidence::estimated;
    }
    FigureList figures() const {
        return {{"run_share", run_share},
                {"mean_bytes", mean_bytes},
                {"bytes_per_s", bytes_per_s},
                {"waiting_share", waiting_share}};
    }
};
// Inside MPI without waiting, at least; the call that moves longest, and the rate of each rank while it moves.
struct MovingData {
    double run_share = 0, mean_bytes = 0, bytes_per_s = 0;
    Confidence confidence() const { return Confidence::at_least; }
    FigureList figures() const {
        return {{"run_share", run_share}, {"mean_bytes", mean_bytes}, {"bytes_per_s", bytes_per_s}};
    }
};
// Outside MPI, on no processor and not waiting for one.
struct OffCpu {
    double run_share = 0;
    FigureList figures() const { return {{"run_share", run_share}}; }
};
struct Healthy {
    double mpi_share = 0;  // of the run
    std::optional<double> load_balance;
    double blocked_share = 0;        // of the run: outside, and on no processor
    double setup_share = 0;          // of the run: NCCL's communicators are made and ended
    double off_main_share = 0;       // of the time in MPI, where it may run beside the main thread: on other threads
    bool is_gpu_unseen = false;      // NCCL's calls return at once, and no time on the GPU was recorded
    bool is_something_else = false;  // serious, but no time that is lost
    std::uint64_t too_short_ns = 0;  // the run is so short that nothing is judged; 0: it is not
    bool is_length_unknown = false;  // nor is it where a text does not tell how long the ranks ran

    FigureList figures() const {
        return {{"mpi_share", mpi_share},      {"load_balance", load_balance},     {"blocked_share", blocked_share},
                {"setup_share", setup_share},  {"off_main_share", off_main_share}, {"is_gpu_unseen", is_gpu_unseen},
                {"too_short_ns", too_short_ns}};
    }
};
struct WrongLauncher {
    std::uint32_t launches = 0;
    std::string launcher, family;  // who started the ranks, whose library they called

    FigureList figures() const { return {{"launches", launches}, {"launcher", launcher}, {"family", family}}; }
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

    Confidence confidence() const { return Confidence::proven; }
    FigureList figures() const {
        return {{"communicator", communicator},
                {"size", size},
                {"made_by_one", one},
                {"made_by_other", other},
                {"differ_at", at},
                {"differ_since", since},
                {"communicators", communicators},
                {"has_ended_well", has_ended_well}};
    }
};
struct Dropped {
    std::string_view what;  // a key of drop_rows
    std::uint64_t count = 0;

    FigureList figures() const { return {{"what", what}, {"count", count}}; }
};

// What the program's own code has left over at MPI_Finalize.
struct LeftOvers {};  // Job::left_over

}  // namespace evidence

}  // namespace mpiprof::report
