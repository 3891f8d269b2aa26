// From what NCCL tells of an operation to the table of what it chose, to a call where nobody else counts it, and to
// the kernel that is being launched; and the tables of functions that NCCL asks a plugin for.
#include "libmpiprof/nccl/profiler.h"

#include <string.h>

#include "libmpiprof/base/loader.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/nccl/contexts.h"
#include "libmpiprof/nccl/library.h"
#include "libmpiprof/nccl/operations.h"
#include "libmpiprof/nccl/profiler_interface.h"
#include "libmpiprof/nccl/second_plugin.h"
#include "libmpiprof/nccl/told.h"
#include "libmpiprof/process/settings.h"
#include "libmpiprof/wrap/start.h"

namespace mpiprof::nccl {
namespace {

using format::NcclOperation;

constinit Operations operations{};

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
    // A call that is not timed: it may have begun before recording did, when this thread had no ledger.
    if (reinterpret_cast<std::uintptr_t>(thread.token) % 2 != 0) return {false, true, Id::end, no_handle};
    const std::uint16_t call = call_of(thread.ledger->hand.key());
    if (call < first_id || call >= static_cast<std::uint16_t>(Id::end)) return {false, true, Id::end, no_handle};
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

Kind& place_of_kind(Context& context, const Told& told) {
    const auto text = reinterpret_cast<std::uintptr_t>(told.function);
    return context.known[(told.count ^ told.count >> 10 ^ text >> 2) % Context::kinds];
}

// The kind of one that is known, which is counted in the table then; else null. The caller holds the lock.
[[gnu::always_inline]] inline const Kind* add_known(Context& context, const Told& told) {
    const Kind* known = &place_of_kind(context, told);
    asm("" : "+r"(known));  // gcc 12 would find the place three times, and save two registers for that
    if (!known->is(told)) return nullptr;
    Operations::add_known(*known->operation, known->recorded.bytes);
    return known;
}

// Whether a call of NCCL's that this thread makes launches what is told of.
bool is_in_a_call(const ThreadState& thread) {
    const auto token = reinterpret_cast<std::uintptr_t>(thread.token);
    if (token == 0 || token % 2 != 0) return false;
    return static_cast<unsigned>(call_of(thread.ledger->hand.key_in_call()) - first_id) < calls;
}

void remember(Context& context, const Told& told, const Recorded& recorded, NcclOperation* operation) {
    const Guard guard(operations.lock());
    place_of_kind(context, told) = {told.function, told.type,     told.algorithm, told.protocol,
                                    told.count,    told.channels, recorded,       operation};
}

// What it was, beside its sums in the table: the kernel that is being launched did this, and where nobody called for it
// through us it is a call, too. What was called through us and is launched in no such call is of a nonblocking
// communicator.
void follow_record(const Recorded& what, const Told& told, const Where& where, bool is_through_us, bool is_counted) {
    if (!where.is_in_a_call) {
        gpu::Operation operation = on_the_gpu(what.call, what.bin, what.index, what.bytes, true);
        operation.is_own = told.is_own;
        operation.is_told_elsewhere = is_through_us && operation.is_collective();
        gpu::launches.kernel_did(operation);
    }
    if (!is_counted) count_untimed(what.call, what.index, what.bytes);
}

// A call that nobody makes through us: NCCL is linked statically, or its functions were fetched by hand.
[[gnu::noinline]] int count_call(Context& context, const Told& told) {
    if (gate_epoch() == 0) return 0;
    const Where where = where_are_we(thread_state);
    const Function* function = where.is_nested ? nullptr : function_of(told.function);
    if (!function || was_counted(function->id, where)) return 0;
    const auto call = static_cast<std::uint16_t>(name_as_called(function->id, where));
    if (!runtime.records_call(call)) return 0;
    Records& records = runtime.records();
    const std::uint16_t index = contexts.index_of(records, context, where.handle);
    records.publish_call(call);
    count_untimed(call, index, message_size(*function, told, context, index));
    return 0;
}

// `tells_calls`: NCCL has told of the call itself, which is where it is counted.
template <bool tells_calls>
void record(Context& context, const Told& told) {
    if (gate_epoch() == 0) return;  // nothing is recorded, or this is a forked child
    const Where where = where_are_we(thread_state);
    if (where.is_nested) return;
    operations.lock().lock();
    const Kind* known = add_known(context, told);
    const Recorded as_known = known ? known->recorded : Recorded{};
    operations.lock().unlock();
    if (known) {
        const bool is_counted = tells_calls || where.is_in_a_call || context.is_through_us;
        return follow_record(as_known, told, where, context.is_through_us, is_counted);
    }
    const Function* function = function_of(told.function);
    if (!function) return;
    contexts.learn(context, told);
    const Id id = name_as_called(function->id, where);
    const bool is_counted = was_counted(function->id, where) || context.is_through_us || tells_calls;
    if (!runtime.records_call(static_cast<std::uint16_t>(id))) return;
    Records& records = runtime.records();
    const std::uint16_t index = contexts.index_of(records, context, where.handle);
    const Bytes bytes = message_size(*function, told, context, index);

    NcclOperation kind{};
    kind.call = static_cast<std::uint16_t>(id);
    kind.bin = static_cast<std::uint8_t>(format::size_bin(bytes));
    kind.channels = static_cast<std::uint8_t>(told.channels < 255 ? told.channels : 255);
    kind.communicator = index;
    kind.flags = context.is_through_us ? 0 : format::not_called_through_us;
    kind.tag = told.tag;
    if (told.algorithm) copy(kind.algorithm, told.algorithm);
    if (told.protocol) copy(kind.protocol, told.protocol);
    records.publish_call(kind.call);
    const Recorded recorded{kind.call, index, kind.bin, bytes};
    NcclOperation* operation = operations.add(records, kind, bytes);
    // A Broadcast may have been called by another name, and what is not known yet of a communicator may be next time.
    const bool is_settled = function->id != Id::Broadcast && index != 0 && (context.size > 0 || !function->has_blocks);
    if (operation && is_settled && !contexts.is_nowhere(context)) remember(context, told, recorded, operation);
    follow_record(recorded, told, where, context.is_through_us, is_counted);
}

// ---- the plugin ----

constexpr int wanted = interface::collective | interface::point_to_point;

int begin(void** context, int* mask, const char* name, std::uint64_t hash, int size, int rank,
          bool tells_launches = false) {
    if (!context || !mask) return 0;
    *context = &contexts.nowhere();
    if (library.is_off()) return 0;
    // Opened by NCCL alone: it will close us when its last communicator ends, and our threads and state have to stay.
    if (!wrap::is_preloaded()) wrap::keep_loaded(&library);
    tells_launches = tells_launches && mpiprof::is_on(Setting::gpu);
    if (tells_launches) gpu::launches.will_be_told();
    const bool is_through_us = contexts.is_expected();
    if (!is_through_us) library.begin_unseen({rank, size > 0 ? size : 1});
    // Else NCCL is a part of the program or of another library, and its own calls never come to us.
    if (!is_through_us && !library.several &&
        (any_loaded("libnccl.so\0librccl.so\0", [](const char*) { return true; }))) {
        library.meet_itself(nullptr);
        library.note_by_dlsym();
    }
    note_missing_plugin(rank);
    Context& made = contexts.begin({reinterpret_cast<Word>(context), name, hash, rank, size, is_through_us});
    *context = &made;
    interface::want(*mask, tells_launches ? wanted | interface::kernel_launch : wanted);
    if (contexts.is_nowhere(made)) return 0;
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

[[gnu::noinline]] int begin_kernel(void** handle, Word stream) {
    if (gate_epoch() == 0) return 0;
    if (gpu::lone.is_in_hand && is_in_a_call(thread_state)) {
        *handle = &own_handles.kernel;
        gpu::launches.begin_lone_kernel(stream);
        return 0;
    }
    const Where where = where_are_we(thread_state);
    if (where.is_nested) return 0;
    *handle = &own_handles.kernel;
    gpu::launches.begin_kernel(stream, where.is_in_a_call);
    return 0;
}

// What was called through us is counted where it was called, so of a known kind nothing is left to do but this.
[[gnu::always_inline]] inline bool add_again(Context& of, const Told& told) {
    if (gate_epoch() == 0 || !is_in_a_call(thread_state) || !operations.lock().try_lock()) return false;
    const bool is_known = add_known(of, told) != nullptr;
    operations.lock().unlock();
    return is_known;
}

template <auto told_of, bool tells_calls>
[[gnu::noinline]] int record_anew(Context& of, const interface::Begun* event) {
    record<tells_calls>(of, told_of(event));
    return 0;
}

template <auto told_of, bool tells_calls>
[[gnu::noinline]] int record_told(Context& of, const interface::Begun* event) {
    if (add_again(of, told_of(event))) [[likely]]
        return 0;
    return record_anew<told_of, tells_calls>(of, event);
}

template <class Collective>
[[gnu::always_inline]] inline Told collective_of(const interface::Begun* event) {
    return told_of_collective(*reinterpret_cast<const Collective*>(event));
}
template <class PointToPoint>
[[gnu::always_inline]] inline Told point_to_point_of(const interface::Begun* event) {
    return told_of_point_to_point(*reinterpret_cast<const PointToPoint*>(event));
}

// Most of what NCCL tells is nothing to us, whatever was asked for: so it saves no register before it knows. What has
// no handle NCCL does not tell the end of. Before version 5 it tells of nothing inside of that either, so all gets one;
// and a group is what one kernel does, whose end is of interest where no call of this thread launches it.
template <class Collective, class PointToPoint, bool tells_launches>
int start_event(void* context, void** handle, interface::Begun* event) {
    std::uint64_t type = event->type;
    if constexpr (tells_launches) __builtin_memcpy(&type, event, sizeof type);
    *handle = tells_launches ? nullptr : &own_handles.nothing;
    constexpr std::uint64_t call = interface::collective_call | interface::point_to_point_call;
    if ((type & (wanted | interface::group | interface::kernel_launch | call)) == 0 || !context) return 0;
    Context& of = *static_cast<Context*>(context);
    if constexpr (tells_launches) {
        if (type == interface::kernel_launch)
            return begin_kernel(
                handle, reinterpret_cast<Word>(reinterpret_cast<const interface::KernelLaunch5*>(event)->stream));
        if ((type & call) != 0)
            return of.is_through_us ? 0
                                    : count_call(of, told_of_call(*reinterpret_cast<const interface::Call5*>(event)));
    }
    if (type == interface::collective) return record_told<collective_of<Collective>, tells_launches>(of, event);
    if (type == interface::point_to_point)
        return record_told<point_to_point_of<PointToPoint>, tells_launches>(of, event);
    if (type == interface::group) {
        if (!tells_launches || !thread_state.token) *handle = &own_handles.group;
        return 0;
    }
    return 0;
}
// A group is what one kernel does: it is told of behind the launch.
int stop_event(void* handle) {
    if (handle == &own_handles.kernel) gpu::launches.end_kernel();
    if (handle == &own_handles.group) gpu::launches.end_of_kernels(static_cast<std::uint16_t>(Id::GroupEnd));
    return 0;
}
int record_event_state(void*, int, void*) { return 0; }
int finalize(void* context) {
    gpu::launches.settle();
    if (context) contexts.end(*static_cast<Context*>(context));
    return 0;
}

using interface::Plugin;

// Filled when NCCL asks for it: their addresses would be as many relocations in every process.
// NCCL reads of each as much as its version has; forks of one version may have more members, which nobody has here.
struct Table {
    Plugin plugin;
    void* beyond[4];
};
constinit Table plugins[8]{};
template <class Collective, class PointToPoint, bool tells_launches, class Init>
Plugin* filled(Plugin& plugin, Init init) {
    plugin = {"mpiprof",   reinterpret_cast<void*>(init), &start_event<Collective, PointToPoint, tells_launches>,
              &stop_event, &record_event_state,           &finalize};
    return &plugin;
}

}  // namespace

void expect_communicators(int n) { contexts.expect(n); }

void link_communicator(Word handle) {
    const auto* context = static_cast<const Context*>(group.told);
    group.told = nullptr;
    if (!context || context->address == 0 || !context->is_through_us) return;
    contexts.learn_offset(*context, handle);
}

}  // namespace mpiprof::nccl

// What NCCL asks for by dlsym: a table of functions for each version. The symbols are indirect functions, which the
// loader calls to learn the address that they stand for.
using namespace mpiprof::nccl;
using Symbol = void();
#define PROFILER(version, Collective, PointToPoint, init)                                                            \
    extern "C" {                                                                                                     \
    static Symbol* mpiprof_resolve_profiler_##version() {                                                            \
        filled<interface::Collective, interface::PointToPoint, (version >= 5)>(plugins[version].plugin, &init);      \
        return reinterpret_cast<Symbol*>(with_second_plugin(plugins[version].plugin, version));                      \
    }                                                                                                                \
    [[gnu::visibility("default"), gnu::ifunc("mpiprof_resolve_profiler_" #version)]] void ncclProfiler_v##version(); \
    }
PROFILER(1, Collective1, PointToPoint1, begin_1)
PROFILER(2, Collective2, PointToPoint2, begin_1)
PROFILER(3, Collective3, PointToPoint3, begin_1)
PROFILER(4, Collective4, PointToPoint4, begin_4)
PROFILER(5, Collective4, PointToPoint4, begin_5)
PROFILER(6, Collective4, PointToPoint4, begin_5)
PROFILER(7, Collective7, PointToPoint7, begin_5)
