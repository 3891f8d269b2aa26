// What is done once: telling one NCCL from another, and beginning the profile of a job without MPI. Used by the symbols
// of this room and by profiler.cpp.
#include "libmpiprof/nccl/library.h"

#include <stdio.h>
#include <unistd.h>

#include "libmpiprof/base/loader.h"
#include "libmpiprof/format/facts.h"
#include "libmpiprof/host/launch.h"
#include "libmpiprof/process/say.h"
#include "libmpiprof/process/settings.h"
#include "libmpiprof/wrap/start.h"

namespace mpiprof::nccl {

constinit Library library;
constinit thread_local Group group{};

namespace {

constexpr char landmark[] = "ncclGetErrorString";

// 2709 is 2.7.9; from 2.9 on 20903 is 2.9.3.
void version_text(int code, char (&text)[32]) {
    if (code < 10000)
        snprintf(text, sizeof text, "NCCL %d.%d.%d", code / 1000, code / 100 % 10, code % 100);
    else
        snprintf(text, sizeof text, "NCCL %d.%d.%d", code / 10000, code / 100 % 100, code % 100);
}

// PyTorch's libraries, say, may have NCCL in them: their calls of it are the program's.
bool is_a_library_of_nccl(const void* address) {
    char name[128];
    wrap::name_of_object(address, name);
    return strncmp(name, "libnccl", 7) == 0 || strncmp(name, "librccl", 7) == 0;
}

}  // namespace

void count_untimed(std::uint16_t call, std::uint16_t communicator, Bytes bytes) {
    ThreadState& thread = thread_state;
    if (Ledger* ledger = thread.epoch == gate_epoch() ? thread.ledger : runtime.open(thread))
        ledger->add_untimed(call, communicator, bytes);
}

bool is_of_its_own_library(const void* real, Word return_address) {
    return is_a_library_of_nccl(real) && wrap::is_in_object_of(real, return_address);
}

bool Library::is_off() {
    if (off_ == 0) off_ = strcmp(value_of(Setting::nccl), "off") == 0 ? 1 : 2;
    return off_ == 1;
}

bool Library::is_ours(const void* real) const { return wrap::find_beside(landmark, real) == first_; }

void Library::find_questions(const void* real) {
    first_ = wrap::find_beside(landmark, real);
    with_object_at(first_, [this](const dl_phdr_info&, Word begin, Word end) {
        code_ = begin;
        code_bytes_ = static_cast<std::uintptr_t>(end - begin);
    });
    is_apart_ = is_a_library_of_nccl(first_);
    get_version_ = reinterpret_cast<decltype(get_version_)>(wrap::find_beside("ncclGetVersion", real));
    Communicators::Questions& ask = communicators.questions;
    ask.count = reinterpret_cast<decltype(ask.count)>(wrap::find_beside("ncclCommCount", real));
    ask.user_rank = reinterpret_cast<decltype(ask.user_rank)>(wrap::find_beside("ncclCommUserRank", real));
}

void Library::meet(const void* real) {
    const Guard guard(lock_);
    if (!communicators.questions.count) return find_questions(real);
    if (several || is_ours(real)) return;
    several = true;
    wrap::forget_functions<Nccl>();
}

void Library::meet_for_id(const void* real) {
    meet(real);
    if (!runtime.has_not_begun()) return;
    const Guard guard(lock_);
    if (ids_made_in_ != getpid()) ids_before_ = 0;  // those of the process that this one was forked from
    ids_made_in_ = getpid();
    ids_before_ += 1;
}

void Library::count_earlier_ids() {
    if (ids_made_in_ == getpid()) count_earlier(Id::GetUniqueId, ids_before_);
    ids_before_ = 0;
}

void Library::count_earlier(Id id, unsigned number) {
    const auto call = static_cast<std::uint16_t>(id);
    if (number == 0 || gate_epoch() == 0 || !runtime.records_call(call)) return;
    runtime.records().publish_call(call);
    for (unsigned i = 0; i < number; ++i) count_untimed(call, 0, 0);
}

void Library::meet_itself(const void* real) {
    if (real) meet(real);
    if (!calls_itself_.exchange(true)) wrap::forget_functions<Nccl>();
}

// What NCCL is known to call itself is rare in programs; RCCL sends and receives in its all-to-all, too.
bool Library::may_be_quick(std::uint16_t id, Traffic traffic) const {
    if (!is_called_) return false;
    if (id == static_cast<std::uint16_t>(Id::Broadcast)) return false;
    return is_operation(traffic) || traffic == Traffic::completion || id == static_cast<std::uint16_t>(Id::GroupStart);
}

bool Library::is_within_unseen(Word return_address) {
    if (!is_apart_ || !is_its_code(return_address)) return false;
    if (!is_called_) note_by_dlsym();
    return true;
}

void Library::note_by_dlsym() {
    if (is_off()) return;
    if (runtime.is_recording()) {
        if (!is_noted_.exchange(true)) runtime.note_fact(format::facts::nccl_by_dlsym, format::facts::yes);
        return;
    }
    if (!runtime.has_not_begun() || is_said_.exchange(true)) return;
    if (const LaunchRank who = rank_by_launcher(); who.known && who.rank != 0) return;
    say("the program fetched NCCL's functions by dlsym, as JAX, TensorFlow and CuPy do: its calls are not recorded; "
        "preload libmpiprof-dlsym.so beside libmpiprof.so");
}

void Library::begin(const void* real, Membership membership) {
    if (!is_called_.exchange(true) && calls_itself()) wrap::forget_functions<Nccl>();
    meet(real);
    const Guard guard(lock_);
    runtime.go_on_after_mpi();
    if (!runtime.has_not_begun() || !runtime.prepare()) {
        char version[32];
        int code = 0;
        static constinit bool noted = false;
        count_earlier_ids();
        if (noted || !runtime.is_recording() || !get_version_ || get_version_(&code) != 0) return;
        noted = true;
        version_text(code, version);
        return runtime.note_fact("nccl_version", version + sizeof "NCCL");
    }
    char version[32] = "NCCL";
    int code = 0;
    if (get_version_ && get_version_(&code) == 0) version_text(code, version);
    const World world =
        world_without_mpi(static_cast<unsigned>(membership.rank), static_cast<unsigned>(membership.size), version);
    wrap::start_profile(world, 0);
    count_earlier_ids();
    count_earlier(Id::GroupStart, group.depth);  // open still: their ends will be recorded
}

void Library::begin_unseen(Membership membership) {
    const Guard guard(lock_);
    runtime.go_on_after_mpi();
    if (!runtime.has_not_begun() || !runtime.prepare()) return;
    wrap::start_profile(
        world_without_mpi(static_cast<unsigned>(membership.rank), static_cast<unsigned>(membership.size), "NCCL"), 0);
}

void Library::learn_world(Membership membership, std::uint64_t id) {
    // Several GPUs of this process may be members: then there are as many fewer processes.
    const Communicators::Here here = communicators.members_here(id);
    if (here.members == 0 || membership.size % here.members != 0) return;
    runtime.learn_world(static_cast<unsigned>(here.lowest_rank / here.members),
                        static_cast<unsigned>(membership.size / here.members), here.members > 1);
}

void Nccl::begin_late(std::uint16_t id, const void* real) {
    const Traffic traffic = whole_catalogue.calls[id].traffic;
    if (traffic == Traffic::collective || traffic == Traffic::send || traffic == Traffic::receive)
        library.begin(real, {0, 1});
}

}  // namespace mpiprof::nccl
