// The rows that are more than a call: MPI begins, ends, is aborted, is told to pause. In C and in Fortran, whose
// bindings take other arguments here. Everything is forwarded as it came; the profile's life (process/runtime.h) hangs
// on it.
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "libmpiprof/base/text.h"
#include "libmpiprof/format/facts.h"
#include "libmpiprof/host/launch.h"
#include "libmpiprof/mpi/clock_offsets.h"
#include "libmpiprof/mpi/library.h"
#include "libmpiprof/process/compat.h"
#include "libmpiprof/process/settings.h"
#include "libmpiprof/wrap/start.h"

namespace mpiprof::mpi {
namespace {

// Whether MPI is initialised is a matter of one world and any number of sessions.
std::atomic<int> open_sessions{0};

// "Open MPI v4.1.4, package: ..." -> "Open MPI v4.1.4"; "MPICH Version:\t4.0.2\n..." -> "MPICH 4.0.2".
void shorten_version(char* text) {
    cut(text, "\n,");
    for (char* c = text; *c; ++c)
        if (*c == '\t') *c = ' ';
    static constexpr char filler[] = " Version:";
    if (char* found = strstr(text, filler)) do
            found[0] = found[sizeof filler - 1];
        while (*found++);
}

World ask_world() {
    static char text[8192];  // MPI_MAX_LIBRARY_VERSION_STRING; once per process, under the library's own initialisation
    World world{0, 1, false, false, 0, profiled.facts.family, text};
    int length = 0;
    if (!profiled.ask.get_library_version || profiled.ask.get_library_version(text, &length) != 0)
        copy(text, "unknown MPI");
    shorten_version(text);
    if (profiled.ask.query_cuda_support) world.cuda_aware = profiled.ask.query_cuda_support() != 0;
    int level = 0;
    if (profiled.ask.query_thread && profiled.ask.query_thread(&level) == 0)
        world.thread_level = static_cast<unsigned>(
            profiled.facts.family == MpiFamily::standard_abi ? level / 1024 - (level > 2048) : level);
    const LaunchRank launched = rank_by_launcher();
    if (library.communicators.has_world && library.is_known()) {
        int rank = 0, size = 1;
        Word parent = profiled.facts.comm_null;
        if (profiled.ask.comm_rank) profiled.ask.comm_rank(profiled.facts.world, &rank);
        if (profiled.ask.comm_size) profiled.ask.comm_size(profiled.facts.world, &size);
        world.rank = static_cast<unsigned>(rank);
        world.size = static_cast<unsigned>(size);
        world.is_world = true;
        if (profiled.ask.comm_get_parent && profiled.ask.comm_get_parent(&parent) == 0)
            world.is_spawned = library.normal(parent) != profiled.facts.comm_null;
    } else if (launched.known) {
        world.rank = launched.rank;
        world.size = launched.size;
    }
    return world;
}

template <class... Words>
Word forward(const char* name, Word return_address, Words... words) {
    const wrap::Real real = find_real(name, return_address);
    if (!real.function) wrap::no_such_function(name);
    return reinterpret_cast<Word (*)(Words...)>(real.function)(words...);
}

// A second MPI in the process passes through untouched: from now on every call is looked up by its caller.
void meet_second_mpi() {
    library.several = true;
    wrap::forget_functions<Mpi>();
    runtime.note_several_mpis();
}

bool fortran_failed(Word ierror) { return ierror != 0 && *reinterpret_cast<const int*>(ierror) != 0; }

// A tool in front of us that calls PMPI_Send keeps the program's MPI_Send from us: this cannot be helped, but be said.
void look_for_tool_in_front() {
    if (any_of("MPI_Init\0MPI_Finalize\0MPI_Send\0MPI_Recv\0MPI_Isend\0MPI_Bcast\0MPI_Allreduce\0MPI_Barrier\0",
               [](const char* name) { return !wrap::comes_first(name); }))
        runtime.note_tool_in_front();
}

void watch_ends() {
    if (library.is_identified && library.is_known() && runtime.is_recording()) library.begin_to_watch();
}

void begin_profile(const void* real, Ticks init_ticks) {
    if (!library.is_identified) library.identify(real);
    wrap::start_profile(ask_world(), init_ticks);
    watch_ends();
    if (library.communicators.has_world && library.is_known() && runtime.is_recording())
        library.communicators.know(runtime.records(), profiled.facts.world);
    look_for_tool_in_front();
}

// Whatever is recorded here and whatever not: all ranks are in it.
bool measures_clocks = false;

void measure_clock(const char* name) {
    char text[96];
    const ClockOffset offset = measure_clock_offset();
    if (!offset.is_known) return;
    snprintf(text, sizeof text, "%llu %lld %llu", static_cast<unsigned long long>(offset.at_ns),
             static_cast<long long>(offset.offset_ns), static_cast<unsigned long long>(offset.error_ns));
    runtime.note_fact(name, text);
}

enum class Binding { c, fortran };
enum class Model { world, sessions };  // as the standard calls MPI's two ways to begin

// MPI_Init, MPI_Init_thread, MPI_Session_init. Looked up at every call: the second MPI is met here.
template <Binding binding, Model model, class... Words>
Word begin(const char* name, Word return_address, Words... words) {
    const wrap::Real real = find_real(name, return_address);
    if (!real.function) wrap::no_such_function(name);
    const auto function = reinterpret_cast<Word (*)(Words...)>(real.function);
    if (!library.adopt(real.function)) {
        meet_second_mpi();
        return function(words...);
    }
    const bool ours = runtime.prepare();
    const Ticks before = now(runtime.clock() == format::ClockKind::monotonic);
    const Word result = function(words...);
    const Ticks after = now(runtime.clock() == format::ClockKind::monotonic);
    const Word last[] = {words..., 0};
    if (binding == Binding::fortran ? fortran_failed(last[sizeof...(Words) - 1]) : static_cast<int>(result) != 0)
        return result;
    // MPICH's Fortran mpi_init_ calls MPI_Init: the inner call has started the profile, the outer one finds it so.
    if (model == Model::sessions)
        open_sessions.fetch_add(1);
    else
        library.communicators.has_world = true;
    library.is_over = false;
    if (!ours) {
        watch_ends();  // sessions begin MPI more than once
        return result;
    }
    begin_profile(real.function, after - before);
    if (model == Model::world && !measures_clocks && is_on(Setting::clock_offsets)) {
        measures_clocks = true;
        measure_clock(format::facts::clock_offset_at_start);
    }
    return result;
}

// MPI_Finalize, MPI_Session_finalize: the profile is complete before the library lets go (its launcher may kill us
// then).
template <Model model, class... Words>
Word end(const char* name, Word return_address, Words... words) {
    const wrap::Real real = find_real(name, return_address);
    if (!real.function) wrap::no_such_function(name);
    const auto function = reinterpret_cast<Word (*)(Words...)>(real.function);
    if (library.several && !library.is_ours(real.function)) return function(words...);
    if (model == Model::world && measures_clocks) {
        measures_clocks =
            false;  // MPICH's Fortran mpi_finalize_ calls MPI_Finalize, and not all ranks need be Fortran's
        measure_clock(format::facts::clock_offset_at_end);
    }
    if (model == Model::sessions)
        open_sessions.fetch_sub(1);
    else
        library.communicators.has_world = false;
    const bool last = !library.communicators.has_world && open_sessions <= 0;
    if (last) {
        runtime.finish(format::State::finalized, 0);
        library.communicators.end_watching();
    }
    const Ticks before = now(runtime.clock() == format::ClockKind::monotonic);
    // What it calls in turn is part of it, and of nobody's order.
    const Word* const outer = thread_state.token;
    if (!outer) thread_state.token = untimed(MPIPROF_FRAME());
    const Word result = function(words...);
    thread_state.token = outer;
    if (!last) return result;
    library.is_over = true;  // before others than MPI go on
    wrap::forget_functions<Mpi>();
    runtime.after_finalize(now(runtime.clock() == format::ClockKind::monotonic) - before);
    return result;
}

// Text at an address that may not be one (a caller of MPI_Pcontrol need not have passed it). False: nothing can be read
// there.
bool read_text(Word address, char* text, std::size_t size) {
    const iovec to{text, size - 1};
    // Up to the end of the page: what lies behind it may be nobody's.
    const std::size_t room = 4096 - static_cast<std::size_t>(address) % 4096;
    const iovec from{reinterpret_cast<void*>(address), room < size - 1 ? room : size - 1};
    const long n = raw(SYS_process_vm_readv, getpid(), raw_address(&to), 1, raw_address(&from), 1);
    if (n <= 0) return false;
    text[n] = 0;
    return text[0] != 0;
}

// `second` is what IPM's users give a name by; to all others it is whatever the register held.
void obey(int level, Word second) {
    char name[64];
    switch (meaning_of_pcontrol(level)) {
        case Control::pause:
            return runtime.pause();
        case Control::resume:
            return runtime.resume();
        case Control::new_region:
            return runtime.new_region();
        case Control::begin_region:
            if (read_text(second, name, sizeof name)) runtime.begin_region(name);
            return;
        case Control::end_region:
            if (read_text(second, name, sizeof name)) runtime.end_region(name);
            return;
        case Control::nothing:
            return;
    }
}

}  // namespace

// A tool in front of us may keep MPI_Init for itself and call PMPI_Init, and may do so with MPI_Finalize: then the
// first call that does reach us begins the profile, and the end of the process ends it.
void Mpi::begin_late(std::uint16_t, const void* real) {
    static constinit std::atomic<bool> one_is_enough{false};
    const auto initialized = reinterpret_cast<int (*)(int*)>(wrap::find_beside("PMPI_Initialized", real));
    const auto finalized = reinterpret_cast<int (*)(int*)>(wrap::find_beside("PMPI_Finalized", real));
    int begun = 0, over = 0;
    if (!initialized || !finalized || initialized(&begun) != 0 || !begun || finalized(&over) != 0 || over) return;
    if (one_is_enough.exchange(true) || !library.adopt(real) || !runtime.prepare()) return;
    library.communicators.has_world = true;
    wrap::keep_loaded(reinterpret_cast<const void*>(finalized));
    runtime.ask_at_exit(finalized);
    begin_profile(real, 0);
}

}  // namespace mpiprof::mpi

using mpiprof::Word;
using namespace mpiprof::mpi;

#define EXPORT extern "C" [[gnu::visibility("default")]]
#define CALLER reinterpret_cast<Word>(__builtin_return_address(0))

EXPORT Word MPI_Init(Word argc, Word argv) { return begin<Binding::c, Model::world>("MPI_Init", CALLER, argc, argv); }
EXPORT Word MPI_Init_thread(Word argc, Word argv, Word required, Word provided) {
    return begin<Binding::c, Model::world>("MPI_Init_thread", CALLER, argc, argv, required, provided);
}
EXPORT Word MPI_Session_init(Word info, Word errhandler, Word session) {
    return begin<Binding::c, Model::sessions>("MPI_Session_init", CALLER, info, errhandler, session);
}
EXPORT Word MPI_Finalize() { return end<Model::world>("MPI_Finalize", CALLER); }
EXPORT Word MPI_Session_finalize(Word session) { return end<Model::sessions>("MPI_Session_finalize", CALLER, session); }
EXPORT Word MPI_Abort(Word comm, Word code) {
    mpiprof::runtime.finish(mpiprof::format::State::aborted, static_cast<int>(code));
    return forward("MPI_Abort", CALLER, comm, code);
}
// The standard's one variadic function; no library reads more than the level, and no more is forwarded.
EXPORT Word MPI_Pcontrol(Word level, Word second) {
    obey(static_cast<int>(level), second);
    return forward("MPI_Pcontrol", CALLER, level);
}

// ---- Fortran: every spelling that we export is forwarded to the library's own ----
#define FORTRAN_SPELLINGS(SPELLING, name) SPELLING(mpi_##name##_) SPELLING(mpi_##name##__) SPELLING(mpi_##name##_f08_)

#define INIT(symbol) \
    EXPORT Word symbol(Word ierror) { return begin<Binding::fortran, Model::world>(#symbol, CALLER, ierror); }
FORTRAN_SPELLINGS(INIT, init)
#define INIT_THREAD(symbol)                                                                        \
    EXPORT Word symbol(Word required, Word provided, Word ierror) {                                \
        return begin<Binding::fortran, Model::world>(#symbol, CALLER, required, provided, ierror); \
    }
FORTRAN_SPELLINGS(INIT_THREAD, init_thread)
#define SESSION_INIT(symbol)                                                                                 \
    EXPORT Word symbol(Word info, Word errhandler, Word session, Word ierror) {                              \
        return begin<Binding::fortran, Model::sessions>(#symbol, CALLER, info, errhandler, session, ierror); \
    }
FORTRAN_SPELLINGS(SESSION_INIT, session_init)
#define FINALIZE(symbol) \
    EXPORT Word symbol(Word ierror) { return end<Model::world>(#symbol, CALLER, ierror); }
FORTRAN_SPELLINGS(FINALIZE, finalize)
#define SESSION_FINALIZE(symbol) \
    EXPORT Word symbol(Word session, Word ierror) { return end<Model::sessions>(#symbol, CALLER, session, ierror); }
FORTRAN_SPELLINGS(SESSION_FINALIZE, session_finalize)
#define ABORT(symbol)                                                                                  \
    EXPORT Word symbol(Word comm, Word code, Word ierror) {                                            \
        mpiprof::runtime.finish(mpiprof::format::State::aborted, *reinterpret_cast<const int*>(code)); \
        return forward(#symbol, CALLER, comm, code, ierror);                                           \
    }
FORTRAN_SPELLINGS(ABORT, abort)
#define PCONTROL(symbol)                               \
    EXPORT Word symbol(Word level) {                   \
        obey(*reinterpret_cast<const int*>(level), 0); \
        return forward(#symbol, CALLER, level);        \
    }
FORTRAN_SPELLINGS(PCONTROL, pcontrol)
