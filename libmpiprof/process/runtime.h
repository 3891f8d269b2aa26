// The one global: everything this process records, and its life from the first MPI call to the last.
// Constant-initialised and immortal, since wrappers are called before constructors and after destructors.
#pragma once

#include "libmpiprof/base/at_first.h"
#include "libmpiprof/host/who.h"
#include "libmpiprof/process/helper.h"
#include "libmpiprof/process/measurements.h"
#include "libmpiprof/process/profile_file.h"
#include "libmpiprof/process/selection.h"
#include "libmpiprof/record/activity.h"
#include "libmpiprof/record/labels.h"
#include "libmpiprof/record/records.h"
#include "libmpiprof/record/token.h"

namespace mpiprof {

class Runtime {
  public:
    // ---- slow, from wrappers ----
    // The ledger of this thread if recording is on: null before the start, after the end, while paused, in a forked
    // child.
    Ledger* open(ThreadState& state);
    // Puts a call into the profile's dictionary. False: too early to tell (MPI has not begun), ask again.
    bool knows_call(std::uint16_t call);
    // A handle's life ends or begins with the call in hand: what was remembered of it is forgotten by every thread
    // before it books another call.
    void end_of(const EndedHandle& ended);
    // The same of a datatype: some programs make and free one for each message.
    void end_of_type(Word type);
    void forget_handles();  // the same of all handles

    // ---- the life of the profile; each may be called at any time and again ----
    // Before the real MPI_Init: the clock starts. True if the caller is to call start() afterwards.
    bool prepare();
    void start(const Catalogue& catalogue, const World& world, Ticks init_ticks);
    // The end that is known: Finalize, Abort, exit. Recording ends but for `exited`, where later calls still count.
    void finish(format::State state, int exit_code);
    // In a job without MPI the size of the world is a guess where no launcher tells it: a larger communicator, or
    // several GPUs in one process (`is_certain`), correct it.
    void learn_world(unsigned rank, unsigned size, bool is_certain);
    void note_fact(const char* name, const char* value);
    // The same of the node, by the rank that describes it.
    void note_fact_of_node(const char* name, const char* value);
    bool describes_node();
    void after_finalize(Ticks finalize_ticks);
    // Another library than MPI is in use here: its calls are recorded behind MPI_Finalize, too, up to the end of the
    // process.
    void go_on_after_mpi();
    void pause();   // MPI_Pcontrol(0)
    void resume();  // MPI_Pcontrol(1)
    // What the program says of itself (include/mpiprof.h).
    void begin_region(const char* name);
    void end_region(const char* name);
    void new_region();
    void end_iteration(std::uint64_t items);
    void set_label(const char* key, const char* value);
    // What the user chose of the functions; known once MPI has begun. The rest forwards and records nothing.
    bool records_call(std::uint16_t call) const { return !left_out_.has(call); }
    // Whatever is recorded and whatever not: all ranks have to do it.
    bool puts_barrier_before(std::uint16_t call) const { return barriers_.has(call); }
    // Nothing is recorded in this process, and nothing will be.
    bool is_off() const { return phase() == Phase::off; }
    // True: not even the first MPI call was seen, though one may have been made (another tool may have kept it).
    bool has_not_begun() const { return phase() == Phase::idle; }
    // Whether MPI was finalised, for a profile whose end passes us by; asked when the process ends.
    void ask_at_exit(int (*finalized)(int*)) { finalized_ = finalized; }
    // What has to be done before the profile ends while the process goes on (MPI_Finalize, MPI_Abort); not at exit.
    void ask_before_the_end(void (*ask)()) { before_the_end_ = ask; }
    void process_ends();
    // By _exit(): that, and when. False: it is not this process that has the profile, or there is none.
    bool leaves();
    // Whether recording was ever meant for a part of the run alone: by the window in time, or by the program.
    bool has_window() const { return was_paused_ || begins_at_ns_ != 0 || ends_at_ns_ != ~std::uint64_t{0}; }
    // Asked before the lock is taken: in a forked child it may be held by a thread that the child does not have.
    bool is_recording() const { return has_started() && owner_ == current_process(); }
    format::ClockKind clock() const { return records_.clock; }
    Records& records() { return records_; }
    // A second MPI was met: said in the profile.
    void note_several_mpis();
    // Another tool comes before us: said in the profile.
    void note_tool_in_front();

  private:
    // Each follows from the one above it, but for `off`, and a session that begins MPI once more.
    enum class Phase : std::uint8_t {
        idle,       // not even the first call of MPI was seen
        off,        // the user wants no profile, or there can be none
        prepared,   // MPI is being initialised
        recording,  // there is a profile
        finished,   // its numbers are final: MPI_Finalize or MPI_Abort was entered
        mpi_ended,  // and the real MPI_Finalize has returned
        after_mpi,  // something is recorded behind it
    };
    Phase phase() const { return phase_.load(std::memory_order_relaxed); }
    bool has_started() const { return phase() >= Phase::recording; }
    bool is_finished() const { return phase() == Phase::finished || phase() == Phase::mpi_ended; }
    bool has_mpi_ended() const { return phase() >= Phase::mpi_ended; }
    bool is_child() const { return has_started() && owner_ != current_process(); }
    static int current_process();
    Ledger* new_ledger();
    void say_how_much_is_traced(Ledger& ledger);
    bool guard_against_fork();
    bool begin_image(const World& world);
    ProfileFile::Name name() const;
    void adopt_world(const World& world);
    void begin_with_mpi(const World& world, Ticks init_ticks);
    void take_world_of_nccl(unsigned rank, unsigned size, bool is_certain);
    void move_file();
    int save();
    static std::uint64_t write_to_the_end(void* self, std::uint64_t period_ns);
    void start_helper();
    void do_without_helper();
    void note_what_was_not_said();
    void note_clocks();
    static std::uint64_t refresh(void* self, std::uint64_t period_ns);
    Measured measured();
    void update_header(format::State state, int exit_code);
    void begin_after_mpi();
    // Why nothing is recorded, one bit each; the gate is open while there is no reason.
    enum Reason : std::uint32_t { paused = 1, outside_window = 2, ended = 4 };
    void shut(Reason reason);
    void unshut(Reason reason);
    void count_pause();
    void open_pauses();
    void open_gate();
    void move_gate();
    void close_gate();
    void set_window(std::uint64_t started_ns);
    std::uint64_t obey_window();
    template <class Change>
    void change_region(Change change);
    Ledger* traced_ledger();
    bool moved_nothing() const;
    bool leaves_nothing() const;
    void begin_file();
    static void begin_file_when_due();
    bool open_file(const format::Header& described);
    void say_started(const World& world) const;
    void choose_functions(const Catalogue& catalogue, bool says_what_is_unknown);

    Lock lock_;
    Records records_{};
    Labels labels_;
    Helper helper_;
    Helper last_write_;
    std::atomic<int> last_error_{0};  // of that
    Ledger* ledgers_ = nullptr;
    Ledger* suspect_ = nullptr;  // the next whose thread may be gone without a word
    std::uint32_t ledger_count_ = 0;
    std::uint64_t epochs_ = 0;  // the last one given out
    std::atomic<Phase> phase_{Phase::idle};
    bool goes_on_after_mpi_ = false;
    bool has_text_ = false;
    bool is_world_guessed_ = false;
    unsigned rank_of_nccl_ = 0, size_of_nccl_ = 0;  // of its largest communicator
    bool is_trace_cut_ = false;
    bool is_noted_not_said_ = false;
    bool is_noted_no_helper_ = false;
    bool awaits_file_ = false;  // until MPIPROF_MIN_TIME
    bool are_clocks_noted_ = false;
    std::uint64_t slept_before_ns_ = 0;
    unsigned rank_in_path_ = 0;
    Selection left_out_, barriers_;
    std::uint32_t shut_ = 0;  // Reasons
    Ticks paused_at_ = 0;
    Activity pauses_;  // when it was so
    bool was_paused_ = false;
    std::uint64_t begins_at_ns_ = 0;
    AtFirst<std::uint64_t, ~std::uint64_t{0}> ends_at_ns_;  // CLOCK_MONOTONIC: MPIPROF_BEGIN_TIME, END_TIME
    int (*finalized_)(int*) = nullptr;
    void (*before_the_end_)() = nullptr;
    int owner_ = 0;                   // pid: a forked child is not
    std::uint32_t first_thread_ = 0;  // that began MPI
    std::uint64_t setup_began_ns_ = 0;
    format::Anchor loaded_{};
    ProfileFile file_;
    Measurements measurements_;
};

[[gnu::visibility("hidden")]] extern constinit Runtime runtime;

}  // namespace mpiprof
