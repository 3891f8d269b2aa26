// How communicators, windows and types come to tell of their end: an attribute of ours each, whose delete callback the
// library calls whoever ends them (decision 20). Asked by communicators.cpp; nothing of ours is locked while MPI is.
#include "libmpiprof/mpi/communicators.h"

#include "libmpiprof/process/runtime.h"
#include "libmpiprof/record/call_in_hand.h"

namespace mpiprof::mpi {

namespace {

Word fortran_of(Word handle) { return profiled.ask.comm_c2f ? profiled.ask.comm_c2f(handle) : handle; }

}  // namespace

// The slot of one that is to tell from now on; none: it does already, or not yet, or cannot.
std::uint32_t Communicators::slot_to_tell(Known& k) {
    if (k.info.is_told || k.uses < used_again || k.slot != ToldEnds::none || !of_communicators_.is_there)
        return ToldEnds::none;
    const Word fortran = k.record ? static_cast<Word>(k.record->fortran_handle) : fortran_of(k.info.handle);
    k.slot = told_.take({k.info.handle, fortran});
    if (k.slot == ToldEnds::none) k.uses = cannot_tell;
    return k.slot;
}

// Nothing of ours is locked: another thread may be in a callback of the program's, for which MPI holds a lock that it
// takes here, too, and which calls us. A communicator that was known before may have the attribute; set once more it
// would tell of an end that is none.
bool Communicators::let_it_tell(Word handle, std::uint32_t slot) {
    void* before = nullptr;
    int has_before = 0;
    const int number = of_communicators_.number;
    if (known_.has_lost_some() && profiled.ask.comm_get_attr(handle, number, &before, &has_before) != 0) has_before = 0;
    const bool tells =
        has_before || profiled.ask.comm_set_attr(handle, number, reinterpret_cast<void*>(std::uintptr_t{slot})) == 0;
    const Guard guard(lock_);
    Known* k = known_.find(handle);
    const bool is_same = k && k->slot == slot;
    if (has_before || !tells) told_.give_back(slot);
    if (!is_same) return false;
    k->slot = has_before ? static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(before))
              : tells    ? slot
                         : ToldEnds::none;
    k->info.is_told = tells;
    if (!tells) k->uses = cannot_tell;
    return tells;
}

void Communicators::collect_ended() {
    told_.collect([&](std::uint32_t slot, Word handle) {
        const Known* k = known_.find(handle);
        if (k && k->slot == slot) forget_known(runtime.records(), handle);
        ended_lately_[short_hash<6>(static_cast<std::uint64_t>(handle))] = handle;
    });
}

// The attribute is its Fortran handle: what is just ending is not asked for it.
bool Communicators::tells_of_window(Word window) const {
    void* before = nullptr;
    int has_before = 0;
    if (!of_windows_.is_there || profiled.ask.win_get_attr(window, of_windows_.number, &before, &has_before) != 0)
        return false;
    const Word fortran = profiled.ask.win_c2f ? profiled.ask.win_c2f(window) : window;
    return has_before || profiled.ask.win_set_attr(window, of_windows_.number, reinterpret_cast<void*>(fortran)) == 0;
}

// Predefined ones never end.
bool Communicators::tells_of_type(Word type) const {
    void* before = nullptr;
    int has_before = 0, integers, addresses, types, combiner = -1;
    if (!of_types_.is_there) return false;
    if (profiled.ask.type_get_envelope(type, &integers, &addresses, &types, &combiner) != 0) return false;
    if (combiner == named_) return true;
    if (profiled.ask.type_get_attr(type, of_types_.number, &before, &has_before) != 0) return false;
    return has_before || profiled.ask.type_set_attr(type, of_types_.number, const_cast<int*>(&named_)) == 0;
}

void Communicators::begin_to_watch(Questions::Delete* communicator_ended, Questions::Delete* window_ended,
                                   Questions::Delete* type_ended) {
    const Questions& ask = profiled.ask;
    const auto copy_nothing = [](Word, int, void*, void*, void*, int* flag) {
        *flag = 0;
        return 0;
    };
    const auto create = [&](Keyval& keyval, Questions::CreateKeyval create_keyval, Questions::SetAttribute set,
                            Questions::GetAttribute get, Questions::Delete* callback) {
        if (!keyval.is_there && create_keyval && set && get)
            keyval.is_there = create_keyval(copy_nothing, callback, &keyval.number, nullptr) == 0;
    };
    create(of_communicators_, ask.comm_create_keyval, ask.comm_set_attr, ask.comm_get_attr, communicator_ended);
    create(of_windows_, ask.win_create_keyval, ask.win_set_attr, ask.win_get_attr, window_ended);
    int integers, addresses, types;
    if (ask.type_get_envelope && profiled.facts.byte != no_handle &&
        ask.type_get_envelope(profiled.facts.byte, &integers, &addresses, &types, &named_) == 0)
        create(of_types_, ask.type_create_keyval, ask.type_set_attr, ask.type_get_attr, type_ended);
}

// What is left of the program's own tells no more, and MPI finds no attribute of ours on it.
void Communicators::end_watching() {
    for (unsigned i = 0; i < ToldEnds::most; ++i) {
        Word handle = 0;
        {
            const Entered entered(*this);
            Known* k = i < static_cast<unsigned>(known_.end() - known_.begin()) ? known_.begin() + i : nullptr;
            if (!k) break;
            if (has_missed_an_end_ && k->record) k->record->made_from = 0;
            if (k->slot == ToldEnds::none || !k->info.is_told) continue;
            told_.pass(k->slot);
            k->slot = ToldEnds::none;
            k->info.is_told = false;
            handle = k->info.handle;
        }
        if (profiled.ask.comm_delete_attr) profiled.ask.comm_delete_attr(handle, of_communicators_.number);
    }
    const auto free = [](Keyval& keyval, int (*free_keyval)(int*)) {
        if (keyval.is_there && free_keyval) free_keyval(&keyval.number);
        keyval = {};
    };
    free(of_communicators_, profiled.ask.comm_free_keyval);
    free(of_windows_, profiled.ask.win_free_keyval);
    free(of_types_, profiled.ask.type_free_keyval);
}

}  // namespace mpiprof::mpi
