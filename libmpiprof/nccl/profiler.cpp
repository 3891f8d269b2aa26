// A communicator is known here by its context: NCCL hands out the address of a member of the communicator for us to
// fill in, so that address and handle differ by the same for all communicators of that NCCL. It is learned from those
// of which both are seen. Contexts lie in a table of fixed size; what finds no place there is counted on no
// communicator.
#include "libmpiprof/nccl/profiler.h"

#include <string.h>

#include "libmpiprof/base/text.h"
#include "libmpiprof/nccl/library.h"
#include "libmpiprof/nccl/operations.h"
#include "libmpiprof/nccl/profiler_interface.h"
#include "libmpiprof/nccl/told.h"
#include "libmpiprof/process/invitation.h"
#include "libmpiprof/process/settings.h"
#include "libmpiprof/wrap/start.h"

namespace mpiprof::nccl {
namespace {

using format::NcclOperation;

struct Context {
    Word address;        // where NCCL keeps our pointer; 0: free
    std::uint64_t hash;  // NCCL's, the same for all members; 0: not told
    unsigned earlier;    // of the same hash and rank, made by this process before
    int rank, size;      // size 0: not told
    bool is_through_us;  // its operations are counted where they are called
    char name[64];
    std::uint16_t index;  // into the profile's communicators; 0: not known yet
};

struct State {
    static constexpr unsigned most = 1024;
    Lock lock;
    Context contexts[most];
    Context nowhere;            // of those without a place, and of a plugin that keeps quiet
    char group, kernel;         // their addresses are the handles of such events
    unsigned highest;           // so many places were ever used
    std::atomic<int> expected;  // communicators that are being made through us
    std::atomic<Word> offset;   // from handle to context address; 0: not known
    Operations operations;
};
constinit State state{};

// ---- communicators ----

Context* take_context(Word address) {
    for (unsigned i = 0; i < State::most; ++i) {
        Context& c = state.contexts[i];
        if (c.address != 0) continue;
        c = {};
        c.address = address;
        if (i >= state.highest) state.highest = i + 1;
        return &c;
    }
    return &state.nowhere;
}

bool is_the_same_seat(const Context& a, const Context& b) { return a.hash == b.hash && a.rank == b.rank; }

// Communicators are made in the same order by all their members, so those that NCCL gives one hash are told apart by
// that.
void number(Context& context) {
    for (unsigned i = 0; i < state.highest; ++i) {
        const Context& other = state.contexts[i];
        if (&other == &context || other.hash == 0 || !is_the_same_seat(other, context)) continue;
        if (other.earlier >= context.earlier) context.earlier = other.earlier + 1;
    }
}

std::uint64_t id_of(const Context& context) {
    return context.hash == 0 ? 0 : hash_of_id(hash_of_id(8, context.hash), context.earlier);
}

bool is_expected() {
    int n = state.expected.load(std::memory_order_relaxed);
    while (n > 0)
        if (state.expected.compare_exchange_weak(n, n - 1, std::memory_order_relaxed)) return true;
    return false;
}

// Several GPUs of this process may be members: then there are as many fewer processes.
void tell_world(const Context& context) {
    int here = 0, lowest = context.rank;
    for (unsigned i = 0; i < state.highest; ++i) {
        const Context& c = state.contexts[i];
        if (c.address == 0 || c.hash != context.hash || c.earlier != context.earlier) continue;
        ++here;
        if (c.rank < lowest) lowest = c.rank;
    }
    if (here > 0 && context.size > 0 && context.size % here == 0)
        runtime.learn_world(static_cast<unsigned>(lowest / here), static_cast<unsigned>(context.size / here), here > 1);
}

// Into the profile, with the first operation on it.
void publish(Records& records, Context& context) {
    const CommunicatorTable::Slot slot = records.communicators.take(records.image);
    if (!slot.record) return count_drop(records.image.header().drops.communicators);
    format::Communicator& record = *slot.record;
    record.id = id_of(context);
    record.size = static_cast<std::uint32_t>(context.size);
    record.rank = static_cast<std::uint32_t>(context.rank);
    record.handle = record.fortran_handle = static_cast<std::uint64_t>(context.address);
    record.how = format::origin_unknown;
    copy(record.name, context.name);
    context.index = slot.index;
}

// The communicator that our wrappers know behind a context; 0: none of these, or not sure which.
std::uint16_t known_index(Records& records, const Context& context, Word handle_in_hand) {
    if (handle_in_hand != no_handle) return library.communicators.find(records, handle_in_hand).index;
    const Word offset = state.offset.load(std::memory_order_relaxed);
    if (offset != 0)
        if (const std::uint16_t index = library.communicators.known_index(records, context.address - offset))
            return index;
    return library.communicators.only_index(records, context.rank, context.size);
}

void learn_offset(const Context& context, Word handle) {
    constexpr Word largest_communicator = Word{1} << 26;
    const Word offset = context.address - handle;
    if (offset > 0 && offset < largest_communicator) state.offset.store(offset, std::memory_order_relaxed);
}

std::uint16_t index_of(Records& records, Context& context, Word handle_in_hand) {
    if (context.index != 0 || &context == &state.nowhere) return context.index;
    if (context.is_through_us && handle_in_hand != no_handle) learn_offset(context, handle_in_hand);
    const std::uint16_t known =
        context.is_through_us ? known_index(records, context, handle_in_hand) : std::uint16_t{0};
    const Guard guard(state.lock);
    if (context.index == 0 && !context.is_through_us)
        publish(records, context);
    else if (known != 0)
        context.index = known;
    return context.index;
}

// ---- operations ----

// Where NCCL tells of an operation.
struct Where {
    bool is_in_a_call;  // of NCCL's, that this thread makes and we record
    bool is_nested;     // inside a call of something else
    Id id;
    Word handle;  // of the communicator that call was given
};

Where where_are_we(const ThreadState& thread) {
    if (!thread.token) return {false, false, Id::end, no_handle};
    const bool is_timed = reinterpret_cast<std::uintptr_t>(thread.token) % 2 == 0;
    const std::uint16_t call = call_of(thread.ledger->hand.key());
    if (!is_timed || call < first_id || call >= static_cast<std::uint16_t>(Id::end))
        return {false, true, Id::end, no_handle};
    const auto id = static_cast<Id>(call);
    return {true, false, id, id == Id::GroupEnd ? no_handle : thread.ledger->hand.comm()};
}

// What NCCL calls Broadcast may have been called ncclBcast: the same call, or one of this thread's group.
Id name_as_called(Id id, const Where& where) {
    if (id != Id::Broadcast) return id;
    if (where.id == Id::Bcast) return Id::Bcast;
    if (where.id != Id::GroupEnd || group.bcasts == 0) return id;
    group.bcasts -= 1;
    return Id::Bcast;
}

// NCCL that is opened by hand calls its own ncclBroadcast through us all the same, and only that. Such a call was
// counted.
bool was_counted(Id id, const Where& where) {
    if (where.is_in_a_call) {
        if (id == Id::Broadcast) group.broadcasts -= 1;
        return true;
    }
    if (id != Id::Broadcast || group.broadcasts <= 0) return false;
    group.broadcasts -= 1;
    return true;
}

Bytes message_size(const Function& function, const Told& told, Context& context, std::uint16_t index) {
    const Bytes block = told.count * size_of_type(told.type);
    if (!function.has_blocks) return block;
    if (context.size == 0 && told.traffic != 0 && block != 0) context.size = static_cast<int>(told.traffic / block);
    if (context.size == 0 && context.is_through_us && index != 0) context.size = library.communicators.at(index).size;
    return context.size > 0 ? block * static_cast<Bytes>(context.size) : block;
}

// The communicator, where it is told of with its operations alone.
void learn(Context& context, const Told& told) {
    if (&context == &state.nowhere || context.hash != 0 || told.hash == 0) return;
    const Guard guard(state.lock);
    if (context.hash != 0) return;
    context.rank = told.rank;
    if (told.communicator) copy(context.name, told.communicator);
    context.hash = told.hash;
    number(context);
}

void record(Context& context, const Told& told) {
    if (gate_epoch() == 0) return;  // nothing is recorded, or this is a forked child
    ThreadState& thread = thread_state;
    const Function* function = function_of(told.function);
    if (!function) return;
    const Where where = where_are_we(thread);
    if (where.is_nested) return;
    learn(context, told);
    const Id id = name_as_called(function->id, where);
    const bool is_counted = was_counted(function->id, where) || context.is_through_us;
    if (!runtime.records_call(static_cast<std::uint16_t>(id))) return;
    Records& records = runtime.records();
    const std::uint16_t index = index_of(records, context, where.handle);
    const Bytes bytes = message_size(*function, told, context, index);

    NcclOperation kind{};
    kind.call = static_cast<std::uint16_t>(id);
    kind.bin = static_cast<std::uint8_t>(format::size_bin(bytes));
    kind.channels = static_cast<std::uint8_t>(told.channels < 255 ? told.channels : 255);
    kind.communicator = index;
    kind.flags = context.is_through_us ? 0 : format::not_called_through_us;
    if (told.algorithm) copy(kind.algorithm, told.algorithm);
    if (told.protocol) copy(kind.protocol, told.protocol);
    records.publish_call(kind.call);
    state.operations.add(records, kind, bytes);
    if (!where.is_in_a_call) gpu::launches.kernel_did(on_the_gpu(kind.call, kind.bin, index, bytes, true));
    if (is_counted) return;
    if (Ledger* ledger = thread.epoch == gate_epoch() ? thread.ledger : runtime.open(thread))
        ledger->add_untimed(kind.call, index, bytes);
}

// ---- the plugin ----

constexpr int wanted = interface::collective | interface::point_to_point;

// Inherited by a process that is not preloaded any more: not ours to look at.
bool keeps_quiet() { return library.is_off() || (is_invited() && !wrap::is_preloaded()); }

int begin(void** context, int* mask, const char* name, std::uint64_t hash, int size, int rank,
          bool tells_launches = false) {
    if (!context || !mask) return 0;
    *context = &state.nowhere;
    *mask = 0;
    if (keeps_quiet()) return 0;
    // Opened by NCCL alone: it will close us when its last communicator ends, and our threads and state have to stay.
    if (!wrap::is_preloaded()) wrap::keep_loaded(reinterpret_cast<const void*>(&keeps_quiet));
    tells_launches = tells_launches && mpiprof::is_on(Setting::gpu);
    if (tells_launches) gpu::launches.will_be_told();
    const bool is_through_us = is_expected();
    if (!is_through_us) library.begin_unseen({rank, size > 0 ? size : 1});
    const Guard guard(state.lock);
    Context& made = *take_context(reinterpret_cast<Word>(context));
    *context = &made;
    *mask = tells_launches ? wanted | interface::kernel_launch : wanted;
    if (&made == &state.nowhere) return 0;
    made.is_through_us = is_through_us;
    made.rank = rank;
    made.size = size;
    if (name) copy(made.name, name);
    if (hash != 0) {
        made.hash = hash;
        number(made);
        if (!is_through_us) tell_world(made);
    }
    group.told = &made;
    return 0;
}

int begin_1(void** context, int* mask) { return begin(context, mask, nullptr, 0, 0, 0); }
int begin_4(void** context, int* mask, const char* name, std::uint64_t hash, int, int size, int rank, void*) {
    return begin(context, mask, name, hash, size, rank);
}
int begin_5(void** context, std::uint64_t hash, int* mask, const char* name, int, int size, int rank, void*) {
    return begin(context, mask, name, hash, size, rank, true);
}

// Some versions tell of nothing inside of what got no handle, so all gets one.
template <class Collective, class PointToPoint, bool tells_launches>
int start_event(void* context, void** handle, const interface::Begun* event) {
    if (handle) *handle = &state.nowhere;
    if (!context || !event) return 0;
    Context& of = *static_cast<Context*>(context);
    if constexpr (tells_launches) {
        const auto* launch = reinterpret_cast<const interface::KernelLaunch5*>(event);
        if (launch->type == interface::kernel_launch) {
            if (!handle || gate_epoch() == 0) return 0;
            const Where where = where_are_we(thread_state);
            if (where.is_nested) return 0;
            *handle = &state.kernel;
            gpu::launches.begin_kernel(reinterpret_cast<Word>(launch->stream), where.is_in_a_call);
            return 0;
        }
    }
    if (event->type == interface::group && handle) *handle = &state.group;
    if (event->type == interface::collective)
        record(of, told_of_collective(*reinterpret_cast<const Collective*>(event)));
    if (event->type == interface::point_to_point)
        record(of, told_of_point_to_point(*reinterpret_cast<const PointToPoint*>(event)));
    return 0;
}
// A group is what one kernel does: it is told of behind the launch.
int stop_event(void* handle) {
    if (handle == &state.kernel) gpu::launches.end_kernel();
    if (handle == &state.group) gpu::launches.end_of_kernels(static_cast<std::uint16_t>(Id::GroupEnd));
    return 0;
}
int record_event_state(void*, int, void*) { return 0; }
int finalize(void* context) {
    gpu::launches.settle();
    const Guard guard(state.lock);
    if (context && context != &state.nowhere) static_cast<Context*>(context)->address = 0;
    return 0;
}

using interface::Plugin;

// Filled when NCCL asks for it: six tables of addresses would be as many relocations in every process.
constinit Plugin plugins[7]{};
template <class Collective, class PointToPoint, bool tells_launches, class Init>
Plugin* filled(Plugin& plugin, Init init) {
    plugin = {"mpiprof",   reinterpret_cast<void*>(init), &start_event<Collective, PointToPoint, tells_launches>,
              &stop_event, &record_event_state,           &finalize};
    return &plugin;
}

}  // namespace

void expect_communicators(int n) {
    if (n > 0) state.expected.fetch_add(n, std::memory_order_relaxed);
}

void link_communicator(Word handle) {
    const auto* context = static_cast<const Context*>(group.told);
    group.told = nullptr;
    if (!context || context->address == 0 || !context->is_through_us) return;
    learn_offset(*context, handle);
}

}  // namespace mpiprof::nccl

// What NCCL asks for by dlsym: a table of functions for each version. The symbols are indirect functions, which the
// loader calls to learn the address that they stand for.
using namespace mpiprof::nccl;
using Symbol = void();
#define PROFILER(version, Collective, PointToPoint, init)                                                              \
    extern "C" {                                                                                                       \
    static Symbol* mpiprof_resolve_profiler_##version() {                                                              \
        void* table = filled<interface::Collective, interface::PointToPoint, (version >= 5)>(plugins[version], &init); \
        return reinterpret_cast<Symbol*>(table);                                                                       \
    }                                                                                                                  \
    [[gnu::visibility("default"), gnu::ifunc("mpiprof_resolve_profiler_" #version)]] void ncclProfiler_v##version();   \
    }
PROFILER(1, Collective1, PointToPoint1, begin_1)
PROFILER(2, Collective2, PointToPoint2, begin_1)
PROFILER(3, Collective3, PointToPoint3, begin_1)
PROFILER(4, Collective4, PointToPoint4, begin_4)
PROFILER(5, Collective4, PointToPoint4, begin_5)
PROFILER(6, Collective4, PointToPoint4, begin_5)
