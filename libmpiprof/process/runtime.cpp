// Start, threads, pauses and the end. Everything here is slow path: once per process, thread or epoch.
#include "libmpiprof/process/runtime.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmpiprof/base/clock.h"
#include "libmpiprof/base/raw.h"
#include "libmpiprof/format/facts.h"
#include "libmpiprof/host/environment.h"
#include "libmpiprof/host/facts.h"
#include "libmpiprof/host/launch.h"
#include "libmpiprof/host/place.h"
#include "libmpiprof/process/choice.h"
#include "libmpiprof/process/say.h"
#include "libmpiprof/process/settings.h"
#include "libmpiprof/process/standard_error.h"
#include "libmpiprof/process/text_profile.h"
#include "libmpiprof/record/ledger.h"

namespace mpiprof {

constinit Runtime runtime;

namespace {

using format::State;

constexpr char library_version[] = "mpiprof " MPIPROF_VERSION;

constexpr std::uint64_t second = 1'000'000'000;

// The end waits for nobody who may never let go: a signal's handler that calls exit() or MPI_Abort may have interrupted
// who holds the lock, in this very thread.
class PatientGuard {
  public:
    explicit PatientGuard(Lock& lock) : lock_(lock) {
        const std::uint64_t until = nanoseconds(CLOCK_MONOTONIC) + second / 5;
        while (!(is_held_ = lock.try_lock()) && nanoseconds(CLOCK_MONOTONIC) < until) raw(SYS_sched_yield);
    }
    ~PatientGuard() {
        if (is_held_) lock_.unlock();
    }
    PatientGuard(const PatientGuard&) = delete;
    PatientGuard& operator=(const PatientGuard&) = delete;

  private:
    Lock& lock_;
    bool is_held_;
};

// Whether communicators of NCCL's may have more processes: of a world that nobody has named, and of one rank of MPI's,
// which every process of a job is whose launcher knows nothing of MPI (torchrun, and `from mpi4py import MPI`).
bool may_be_larger(const World& world) {
    if (world.family == format::MpiFamily::none) return !world.is_launchers;
    return world.size == 1 && !world.is_spawned;
}

}  // namespace

int Runtime::current_process() { return static_cast<int>(getpid()); }

void Runtime::note_several_mpis() {
    if (has_started()) records_.image.header().flags |= format::several_mpis;
}

void Runtime::note_tool_in_front() {
    if (has_started()) records_.image.header().flags |= format::behind_a_tool;
}

// ---- start ----

bool Runtime::prepare() {
    if (is_child()) return false;
    standard_error.remember();
    const Guard guard(lock_);
    if (phase() != Phase::idle) return phase() != Phase::off;
    if (is_on(Setting::disable)) {
        phase_ = Phase::off;
        return false;
    }
    if (is_on(Setting::quiet)) standard_error.be_quiet();
    phase_ = Phase::prepared;
    setup_began_ns_ = nanoseconds(CLOCK_MONOTONIC);
    records_.clock = choose_clock(value_of(Setting::clock));
    slept_before_ns_ = slept_ns();
    loaded_ = take_anchor(records_.clock);
    return true;
}

bool Runtime::begin_image(const World& world) {
    format::Header described{};
    const bool says_how = !is_on(Setting::personal);
    describe_process(described, world, value_of(Setting::job), says_how);
    if (!is_chosen_program(described.executable) || !is_drawn(described.job)) return false;
    if (!open_file(described)) return false;
    rank_in_path_ = world.rank;
    is_world_guessed_ = may_be_larger(world);
    format::Header& header = records_.image.header();
    // Everything that describe_process filled, into the header that the image laid out.
    memcpy(described.first_line, header.first_line, sizeof header.first_line);
    described.byte_order = header.byte_order;
    described.format_major = header.format_major;
    described.format_minor = header.format_minor;
    described.header_size = header.header_size;
    described.directory_offset = header.directory_offset;
    described.image_bytes = header.image_bytes;
    described.mapped_bytes = header.mapped_bytes;
    described.state = State::running;
    described.store = records_.image.is_mapped() ? format::StoreKind::mapped : format::StoreKind::written;
    described.clock = records_.clock;
    described.loaded = loaded_;
    memcpy(described.library, library_version, sizeof library_version);
    header = described;
    record_settings(records_.image);
    record_labels(records_.image, labels_);
    labels_.move_to(records_.image);
    record_place(records_.image, measured().describes_node);
    if (says_how) record_environment(records_.image);
    char name_by_kernel[48];
    kernels_name(name_by_kernel, sizeof name_by_kernel);
    record_fact(records_.image, format::FactKind::process, format::facts::kernels_name, name_by_kernel);
    if (world.cuda_aware >= 0)
        record_fact(records_.image, format::FactKind::process, format::facts::mpi_is_cuda_aware,
                    world.cuda_aware ? format::facts::yes : format::facts::no);
    return true;
}

void Runtime::say_started(const World& world) const {
    report_wrong_settings();
    if (!is_on(Setting::verbose)) return;
    say("%s, %s, %s store, %s", library_version, world.library, records_.image.is_mapped() ? "mapped" : "written",
        *file_.path() ? file_.path() : "no file before MPIPROF_MIN_TIME is over");
}

void Runtime::choose_functions(const Catalogue& catalogue, bool says_what_is_unknown) {
    const auto set = [&](Selection& selection, Setting setting, bool (*may_have)(const CallInfo&), const char* kind) {
        selection.choose(value_of(setting), catalogue, may_have, [&](const char* word, int length) {
            if (says_what_is_unknown) say("MPIPROF_%s: there is no %s %.*s", row_of(setting).name, kind, length, word);
        });
    };
    set(
        barriers_, Setting::collective_barrier,
        [](const CallInfo& i) { return i.traffic == format::Traffic::collective && i.family == format::Family::mpi; },
        "collective");
    Selection chosen;
    set(
        chosen, Setting::functions, [](const CallInfo&) { return true; }, "function");
    for (std::uint16_t call = 0; call < catalogue.size; ++call) left_out_.set(call, !chosen.has(call));
}

void Runtime::start(const Catalogue& catalogue, const World& world, Ticks init_ticks) {
    if (is_child()) return;
    const Guard guard(lock_);
    if (has_started()) {  // MPI initialised once more (sessions): recording goes on in the same profile
        begin_with_mpi(world, init_ticks);
        records_.image.header().state = State::running;
        phase_ = Phase::recording;
        unshut(ended);
        start_helper();
        return;
    }
    if (phase() != Phase::prepared) return;
    const std::uint64_t began = nanoseconds(CLOCK_MONOTONIC);
    records_.open(catalogue);
    choose_functions(catalogue, world.rank == 0);
    if (!is_chosen_rank(world.rank, world.size) || !guard_against_fork() || !begin_image(world)) {
        phase_ = Phase::off;
        return;
    }
    owner_ = current_process();
    first_thread_ = static_cast<std::uint32_t>(raw(SYS_gettid));
    phase_ = Phase::recording;
    format::Header& header = records_.image.header();
    if (first_thread_ != static_cast<std::uint32_t>(owner_)) header.flags |= format::another_thread_began;
    header.init_ticks = init_ticks;
    header.started = take_anchor(records_.clock);
    header.updated = header.started;
    measurements_.start(measured());
    if (world.rank == 0) say_started(world);
    set_window(header.started.monotonic_ns);
    if (has_window()) open_pauses();
    records_.trace_events = events_of(Setting::trace);
    start_helper();
    note_what_was_not_said();
    header.own_setup_ns = nanoseconds(CLOCK_MONOTONIC) - began;
    if (shut_ == 0)
        open_gate();
    else
        paused_at_ = header.started.ticks;
}

// For the first time, after calls of NCCL or marks of the program. Where there were marks alone, "elapsed" begins now.
void Runtime::begin_with_mpi(const World& world, Ticks init_ticks) {
    format::Header& header = records_.image.header();
    if (header.mpi_family != format::MpiFamily::none) return;
    header.init_ticks = init_ticks;
    if (world.family != format::MpiFamily::none && !ledgers_ && !has_window()) {
        header.started = header.updated = take_anchor(records_.clock);
        measurements_.start(measured());
    }
    adopt_world(world);
    if (size_of_nccl_ > 1) take_world_of_nccl(rank_of_nccl_, size_of_nccl_, false);
    if (gate.epoch != 0) move_gate();  // threads that were met before look whether their requests may go to others
}

// The world is known better than when the file got its name.
void Runtime::adopt_world(const World& world) {
    describe_world(records_.image.header(), world);
    is_world_guessed_ = may_be_larger(world);
}

void Runtime::learn_world(unsigned rank, unsigned size, bool is_certain) {
    if (!is_recording()) return;
    const Guard guard(lock_);
    if (size > 1 && size > size_of_nccl_) {
        rank_of_nccl_ = rank;
        size_of_nccl_ = size;
    }
    take_world_of_nccl(rank, size, is_certain);
}

void Runtime::take_world_of_nccl(unsigned rank, unsigned size, bool is_certain) {
    if (!is_world_guessed_ || is_finished()) return;
    const format::Header& header = records_.image.header();
    if ((size <= header.size && !is_certain) || (rank == header.rank && size == header.size)) return;
    World world = world_without_mpi(rank, size, header.mpi_library);
    if (header.mpi_family == format::MpiFamily::none) return adopt_world(world);
    world.family = header.mpi_family;
    world.thread_level = header.thread_level;
    world.is_world = !(header.flags & format::no_world);
    adopt_world(world);
    is_world_guessed_ = !world.is_launchers;
}

void Runtime::note_fact(const char* name, const char* value) {
    if (!is_recording()) return;
    const Guard guard(lock_);
    record_fact(records_.image, format::FactKind::process, name, value);
}

void Runtime::note_fact_of_node(const char* name, const char* value) {
    if (!is_recording()) return;
    const Guard guard(lock_);
    if (measured().describes_node) record_fact(records_.image, format::FactKind::node, name, value);
}

bool Runtime::describes_node() { return is_recording() && measured().describes_node; }

ProfileFile::Name Runtime::name() const {
    const format::Header& header = records_.image.header();
    return {header.job, header.host, header.rank, &header};
}

// ---- the end ----

Measured Runtime::measured() {
    const format::Header& header = records_.image.header();
    const bool describes_node = header.local_rank == 0 || header.local_rank == format::no_local_rank;
    return {records_.image, describes_node, first_thread_, helper_.thread()};
}

void Runtime::update_header(State state, int exit_code) {
    format::Header& header = records_.image.header();
    count_pause();
    measurements_.end(measured());
    note_what_was_not_said();
    header.ended = take_anchor(records_.clock);
    header.updated = header.ended;
    note_clocks();
    header.exit_code = exit_code;
    header.state = state;
}

void Runtime::finish(State state, int exit_code) {
    if (!is_recording()) return;
    if (state != State::exited && before_the_end_ && !is_finished()) before_the_end_();
    const PatientGuard guard(lock_);
    if (is_finished()) return;
    const bool is_end = state != State::exited && !(state == State::finalized && phase() == Phase::after_mpi);
    if (is_end) phase_ = Phase::finished;
    const std::uint64_t began = nanoseconds(CLOCK_MONOTONIC);
    if (is_end) close_gate();
    helper_.stop();
    if (helper_.is_running()) file_.give_up_update();
    // Scripts say who they are in their own environment, which may come later than the first call.
    if (const format::Header& h = records_.image.header();
        is_world_guessed_ && h.mpi_family == format::MpiFamily::none) {
        if (const World world = world_without_mpi(h.rank, h.size, h.mpi_library); world.is_launchers)
            adopt_world(world);
    }
    move_file();
    update_header(state, exit_code);
    if (is_end) shut_ |= ended;
    const bool nothing = leaves_nothing();
    format::Header& header = records_.image.header();
    const bool may_go_on = header.flags & format::initialized_by_session;  // then process_ends() removes it
    if (nothing && !may_go_on) file_.remove();
    header.own_setup_ns += nanoseconds(CLOCK_MONOTONIC) - began;
    if (nothing) return;
    if (awaits_file_) begin_file();
    const int error = save();
    if (error && (header.rank == 0 || is_on(Setting::verbose)))  // one line a job
        say("cannot write %s: %s; the profile of rank %u is lost", file_.path(), ProfileFile::text_of(error),
            header.rank);
    // The text is about MPI, as other tools know it, and of NCCL beside it.
    const bool text = header.mpi_family != format::MpiFamily::none &&
                      names_rank(value_of(Setting::text), header.rank) &&
                      write_text_profile(records_.image, records_.catalogue, file_.path(), file_.is_nodes(), has_text_);
    has_text_ |= text;
    if (header.rank == 0 && is_on(Setting::verbose))
        say("%u rank%s wrote mpi_profile.%s.<%s>%s; read them with mpiprof-report", header.size,
            header.size == 1 ? "" : "s", header.job, file_.is_nodes() ? "node" : "rank", text ? " (and .txt)" : "");
}

void Runtime::after_finalize(Ticks finalize_ticks) {
    if (!is_recording()) return;
    const Guard guard(lock_);
    if (!is_finished()) return;
    records_.image.header().finalize_ticks = finalize_ticks;
    if (!leaves_nothing()) save();
    phase_ = Phase::mpi_ended;
    if (goes_on_after_mpi_) unshut(ended);
}

void Runtime::go_on_after_mpi() {
    const Guard guard(lock_);
    goes_on_after_mpi_ = true;
    if (is_recording() && has_mpi_ended()) unshut(ended);
}

// The first call behind MPI_Finalize: until then the profile is complete.
void Runtime::begin_after_mpi() {
    const Guard guard(lock_);
    if (phase() != Phase::mpi_ended || !is_recording()) return;
    phase_ = Phase::after_mpi;
    start_helper();
}

void Runtime::process_ends() {
    int over = 0;
    const bool is_finalized = is_recording() && (has_mpi_ended() || (finalized_ && finalized_(&over) == 0 && over));
    finish(is_finalized ? State::finalized : State::exited, 0);
    if (is_recording() && leaves_nothing()) file_.remove();
}

// May run in a signal handler, so nobody is waited for, and the helper's own means have to do.
bool Runtime::leaves() {
    if (!is_recording()) return false;
    if (!lock_.try_lock()) return true;
    if (!is_finished()) {
        helper_.stop();
        format::Header& header = records_.image.header();
        header.ended = header.updated = take_anchor(records_.clock);
        header.state = has_mpi_ended() ? State::finalized : State::exited;
        if (!records_.image.is_mapped() && !helper_.is_running()) (void)file_.update(records_.image);
    }
    lock_.unlock();
    return true;
}

namespace {
// exit() without MPI_Finalize. The library's only entry in .fini_array; a process without MPI returns at once.
[[gnu::destructor]] void process_ends() { runtime.process_ends(); }
}  // namespace

}  // namespace mpiprof
