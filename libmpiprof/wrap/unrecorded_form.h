// What the plain form (plain_form.h) does of calls that are not recorded: recording is off, the user left the function
// out, or the call is part of another one. They are handed on; what happens to handles and orders meanwhile is followed
// all the same. Never books anything, and opens no ledger.
#pragma once

#include "libmpiprof/record/token.h"
#include "libmpiprof/wrap/functions.h"

namespace mpiprof::wrap {

// A call that the user left out: what it calls in turn is not recorded either.
template <class... Words>
Word call_unrecorded(Word (*real)(Words...), const Word* frame, Words... args) {
    thread_state.token = untimed(frame);
    const Word result = real(args...);
    if (thread_state.token == untimed(frame)) thread_state.token = nullptr;
    return result;
}

// A call that is not recorded, while recording is off or as part of another: lives of handles begin and end in it all
// the same.
template <class Library, auto Id, class Language, class... Words>
Word call_followed(Word (*real)(Words...), bool is_part, Words... args) {
    const Word words[] = {args..., 0};
    if constexpr (Library::frees(Id)) Library::template free_unrecorded<Id, Language>(words, is_part);
    CallInHand hand{};
    if constexpr (Language::fortran) hand.ierror = ierror_of<Library::row(Id).arity>(args...);
    const Word result = real(args...);
    if constexpr (Library::follows(Id))
        if (!Language::failed(result, hand)) Library::template follow_unrecorded<Id, Language>(words, is_part);
    return result;
}

// A call in the plain form, as its pieces hand it on.
struct PlainCall {
    const Found& found;  // a copy would cost each call some instructions
    const Word* frame;   // that of the exported symbol
    Word return_address;
    bool is_part;  // of another call
    template <class... Words>
    auto real_as() const {
        return reinterpret_cast<Word (*)(Words...)>(found.function);
    }
    template <class... Words>
    [[gnu::always_inline]] Word real(Words... args) const {
        return real_as<Words...>()(args...);
    }
};

// A call that is not recorded, since there is nowhere to record it.
template <class Library, auto Id, class Language, class... Words>
[[gnu::always_inline]] inline Word call_uncounted(const PlainCall& call, Words... args) {
    if constexpr (Library::hears_of_unrecorded(Id)) {
        const Word result = call.real(args...);
        const Word words[] = {args..., 0};
        if (!call.is_part && gate_epoch() == 0 && Library::watches(static_cast<std::uint16_t>(Id)))
            Library::template unrecorded<Id>(words, result);
        return result;
    } else if constexpr (Library::follows(Id) || Library::frees(Id)) {
        return call_followed<Library, Id, Language>(call.real_as<Words...>(), call.is_part, args...);
    } else {
        return call.real(args...);
    }
}

// The same; and one that has its place in an order is counted there, whoever records it. It holds the token, so that
// what it calls in turn need not follow the stack to know whose part it is.
template <class Library, auto Id, class Language, class... Words>
[[gnu::always_inline]] inline Word call_without_ledger(const PlainCall& call, Words... args) {
    if (call.found.foreign) return call.real(args...);
    if (call.is_part) return call_uncounted<Library, Id, Language>(call, args...);
    thread_state.token = untimed(call.frame);
    const Word result = call_uncounted<Library, Id, Language>(call, args...);
    if constexpr (Library::is_in_order(Id)) {
        const Word words[] = {args..., 0};
        Library::template count_unrecorded<Id, Language>(words, result);
    }
    if (thread_state.token == untimed(call.frame)) thread_state.token = nullptr;
    return result;
}

}  // namespace mpiprof::wrap
