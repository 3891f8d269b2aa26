// The handle of an event is the other plugin's wherever it wants that event, so that nothing has to be kept of events
// that live longer than their end (NCCL names a collective as the parent of what its proxy does later). What ours has
// to know of an event's end, launches and groups, ends in the thread that began it.
#include "libmpiprof/nccl/second_plugin.h"

#include <stdio.h>
#include <string.h>

#include "libmpiprof/base/loader.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/format/facts.h"
#include "libmpiprof/nccl/contexts.h"
#include "libmpiprof/nccl/library.h"
#include "libmpiprof/process/invitation.h"
#include "libmpiprof/process/runtime.h"
#include "libmpiprof/process/say.h"
#include "libmpiprof/process/settings.h"

namespace mpiprof::nccl {
namespace {

using interface::Begun;
using interface::Plugin;
constexpr int versions = 8;

// A communicator as both know it; NCCL keeps the address of this.
struct Pair {
    std::atomic<bool> is_taken;
    bool is_told;  // the other one took it
    void *ours, *theirs;
    int wanted, their_wanted;  // kinds of events; theirs may change while NCCL runs
    int* mask;                 // NCCL's
};

struct Second {
    static constexpr unsigned most_pairs = 256;
    Lock lock;
    bool is_looked_for, is_missing, is_noted;
    int newest;  // version of the interface that it speaks; 0: there is none
    char name[240];
    Plugin* ours[versions];
    Plugin* theirs[versions];
    struct {
        Plugin plugin;
        void* beyond[4];  // as in profiler.cpp
    } joined[versions];
    Pair pairs[most_pairs];
};
constinit Second second{};

// ---- finding it ----

constexpr char default_name[] = "libnccl-profiler.so";

// As NCCL does: by this name, else by the name that plugins have.
void* open(const char* name) {
    if (!loader().dlopen) return nullptr;
    if (void* found = loader().dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
    char spelled[280] = "libnccl-profiler-";
    append(spelled, name);
    append(spelled, ".so");
    return loader().dlopen(spelled, RTLD_NOW | RTLD_LOCAL);
}

const char* name_of_second() {
    const char* set = value_of(Setting::nccl_plugin);
    if (strcmp(set, "forward") != 0) return set;
    return *displaced_plugin() ? displaced_plugin() : default_name;
}

// Named as its own second.
bool is_this_library(void* object) { return loader().dlsym(object, "mpiprof_pause") != nullptr; }

void look_for_second() {
    copy(second.name, name_of_second());
    if (strcmp(second.name, "off") == 0) return;
    void* object = open(second.name);
    if (object && is_this_library(object)) return;
    for (int version = 1; object && version < versions; ++version) {
        char symbol[24];
        snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", version);
        second.theirs[version] = static_cast<Plugin*>(loader().dlsym(object, symbol));
        if (second.theirs[version]) second.newest = version;
    }
    second.is_missing = second.newest == 0 && strcmp(second.name, default_name) != 0;
}

// ---- one for both ----

Pair* pair_of(void* context) {
    auto* pair = static_cast<Pair*>(context);
    return pair >= second.pairs && pair < second.pairs + Second::most_pairs ? pair : nullptr;
}

// In the profile, once.
void note(int version, bool is_told) {
    if (second.is_noted || !runtime.is_recording()) return;
    second.is_noted = true;
    char text[sizeof second.name + 40];
    snprintf(text, sizeof text, "%s (version %d%s)", second.name, version, is_told ? "" : ", which it refused");
    runtime.note_fact(format::facts::nccl_plugin_behind, text);
}

Pair* take_pair() {
    for (Pair& pair : second.pairs)
        if (!pair.is_taken.exchange(true, std::memory_order_acquire)) return &pair;
    return nullptr;
}

void set_mask(Pair& pair) { interface::want(*pair.mask, pair.wanted | pair.their_wanted); }

template <int version, class Init, class... Arguments>
int begin_both(void** context, int* mask, Arguments... arguments) {
    const auto call = [&](Plugin* plugin, void** c, int* m) {
        if constexpr (version >= 5)
            return [&](auto id, auto... rest) {
                return reinterpret_cast<Init>(plugin->init)(c, id, m, rest...);
            }(arguments...);
        else
            return reinterpret_cast<Init>(plugin->init)(c, m, arguments...);
    };
    int wanted = 0;
    const int result = call(second.ours[version], context, mask ? &wanted : nullptr);
    Pair* pair = context && mask ? take_pair() : nullptr;
    if (!pair) {
        if (mask) interface::want(*mask, wanted);
        return result;
    }
    pair->ours = *context;
    pair->wanted = wanted;
    pair->mask = mask;
    pair->theirs = nullptr;
    pair->their_wanted = 0;
    pair->is_told = call(second.theirs[version], &pair->theirs, &pair->their_wanted) == 0;
    if (!pair->is_told) pair->their_wanted = 0;
    note(version, pair->is_told);
    *context = pair;
    set_mask(*pair);
    return result;
}

using Init1 = int (*)(void**, int*);
using Init4 = int (*)(void**, int*, const char*, std::uint64_t, int, int, int, void*);
using Init5 = int (*)(void**, std::uint64_t, int*, const char*, int, int, int, void*);
template <int version>
int begin_1(void** context, int* mask) {
    return begin_both<version, Init1>(context, mask);
}
template <int version>
int begin_4(void** context, int* mask, const char* name, std::uint64_t id, int nodes, int size, int rank, void* log) {
    return begin_both<version, Init4>(context, mask, name, id, nodes, size, rank, log);
}
template <int version>
int begin_5(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int size, int rank, void* log) {
    return begin_both<version, Init5>(context, mask, id, name, nodes, size, rank, log);
}

// Which kinds of events have to be asked for, any of them, so that NCCL tells of one kind: itself and what can lie
// inside of it. Read from NCCL 2.23 to 2.30; up to 2.25 Sends and Recvs come with the collectives.
struct Kind {
    std::uint64_t type;
    int asked_for;
};
constexpr int of_proxy = 8 | 16 | 128, of_operation = of_proxy | 64, of_copy_engine = 4096 | 8192 | 16384;
constexpr Kind told_of[] = {{1, 1 | 2 | 4 | of_operation},                                               // a group
                            {2, 2 | of_operation},                                                       // a collective
                            {4, 4 | of_operation},                                                       // Send or Recv
                            {8, of_proxy},                                                               // of the proxy
                            {16, 16 | 128},                                                              // a step of it
                            {256, 256 | 512 | 1024 | 2048 | 1 | 2 | 4 | of_operation | of_copy_engine},  // as called:
                            {512, 512 | 2 | of_operation | of_copy_engine},
                            {1024, 1024 | 4 | of_operation},
                            {4096, of_copy_engine}};
constexpr Kind told_before_3[] = {{1, 2 | 4 | 8 | 16}, {2, 2 | 8 | 16}, {4, 2 | 8 | 16}, {8, 8 | 16}};

template <std::size_t n>
std::uint64_t asked_for(const Kind (&rows)[n], std::uint64_t type) {
    for (const Kind& row : rows)
        if (row.type == type) return static_cast<std::uint64_t>(row.asked_for);
    return type;
}

bool is_wanted(int version, std::uint64_t type, int wanted) {
    return ((version < 3 ? asked_for(told_before_3, type) : asked_for(told_of, type)) &
            static_cast<std::uint64_t>(wanted)) != 0;
}

// Handles of ours mean nothing to the other one: while it is told of an event, it lies inside of nothing.
class WithoutOurParents {
  public:
    WithoutOurParents(Begun& event, std::uint64_t type, int version) : places_{&event.parent, nullptr} {
        if (version >= 5 && (type == 2 || type == 4))
            places_[1] = reinterpret_cast<void**>(
                reinterpret_cast<char*>(&event) +
                (type == 2 ? interface::group_of_collective_5 : interface::group_of_point_to_point_5));
        for (int i = 0; i < 2; ++i) {
            if (!places_[i] || !own_handles.have(*places_[i])) continue;
            hidden_[i] = *places_[i];
            *places_[i] = nullptr;
        }
    }
    ~WithoutOurParents() {
        for (int i = 0; i < 2; ++i)
            if (hidden_[i]) *places_[i] = hidden_[i];
    }
    WithoutOurParents(const WithoutOurParents&) = delete;
    WithoutOurParents& operator=(const WithoutOurParents&) = delete;

  private:
    void** places_[2];
    void* hidden_[2] = {};
};

Group::StandingFor* last_of(std::uint64_t type) {
    return type == interface::kernel_launch ? &group.standing_for[0]
           : type == interface::group       ? &group.standing_for[1]
                                            : nullptr;
}

// Around a launch ours is the inner one: what the other one does is no time of the kernel.
template <int version>
int start_event(void* context, void** handle, Begun* event) {
    Pair* pair = pair_of(context);
    if (!pair || !event) return second.ours[version]->start_event(context, handle, event);
    std::uint64_t type = event->type;
    if constexpr (version >= 5) __builtin_memcpy(&type, event, sizeof type);
    void *theirs = nullptr, *ours = nullptr;
    if (pair->is_told && is_wanted(version, type, pair->their_wanted)) {
        const WithoutOurParents hidden(*event, type, version);
        second.theirs[version]->start_event(pair->theirs, &theirs, event);
    }
    set_mask(*pair);
    const int result = second.ours[version]->start_event(pair->ours, &ours, event);
    if (Group::StandingFor* last = last_of(type); last && theirs) *last = {theirs, ours};
    if (handle) *handle = theirs ? theirs : ours;
    return result;
}

template <int version>
int stop_event(void* handle) {
    if (own_handles.have(handle)) return second.ours[version]->stop_event(handle);
    for (Group::StandingFor& last : group.standing_for) {
        if (!handle || last.theirs != handle) continue;
        second.ours[version]->stop_event(last.ours);
        last = {};
    }
    return handle ? second.theirs[version]->stop_event(handle) : 0;
}

template <int version>
int record_event_state(void* handle, int state, void* arguments) {
    if (!handle || own_handles.have(handle)) return 0;
    return second.theirs[version]->record_event_state(handle, state, arguments);
}

template <int version>
int finalize(void* context) {
    Pair* pair = pair_of(context);
    if (!pair) return second.ours[version]->finalize(context);
    if (pair->is_told) second.theirs[version]->finalize(pair->theirs);
    const int result = second.ours[version]->finalize(pair->ours);
    pair->is_taken.store(false, std::memory_order_release);
    return result;
}

template <int version>
Plugin* join(Plugin& ours) {
    void* init;
    if constexpr (version < 4)
        init = reinterpret_cast<void*>(&begin_1<version>);
    else if constexpr (version < 5)
        init = reinterpret_cast<void*>(&begin_4<version>);
    else
        init = reinterpret_cast<void*>(&begin_5<version>);
    second.ours[version] = &ours;
    Plugin& joined = second.joined[version].plugin;
    joined = {ours.name,         init, &start_event<version>, &stop_event<version>, &record_event_state<version>,
              &finalize<version>};
    return &joined;
}

}  // namespace

Plugin* with_second_plugin(Plugin& ours, int version) {
    const Guard guard(second.lock);
    if (!second.is_looked_for) {
        second.is_looked_for = true;
        look_for_second();
    }
    if (second.newest == 0) return &ours;
    if (!second.theirs[version]) return version > second.newest ? nullptr : &ours;
    switch (version) {
        case 1:
            return join<1>(ours);
        case 2:
            return join<2>(ours);
        case 3:
            return join<3>(ours);
        case 4:
            return join<4>(ours);
        case 5:
            return join<5>(ours);
        case 6:
            return join<6>(ours);
        default:
            return join<7>(ours);
    }
}

void note_missing_plugin(int rank) {
    if (!second.is_missing || second.is_noted || !runtime.is_recording()) return;
    second.is_noted = true;
    char text[sizeof second.name + 64];
    snprintf(text, sizeof text, "none: %s cannot be opened or has no version 1 to 7", second.name);
    runtime.note_fact(format::facts::nccl_plugin_behind, text);
    if (rank == 0)
        say("MPIPROF_NCCL_PLUGIN: %s cannot be opened, or does not speak version 1 to 7 of NCCL's interface; it is "
            "told nothing",
            second.name);
}

}  // namespace mpiprof::nccl
