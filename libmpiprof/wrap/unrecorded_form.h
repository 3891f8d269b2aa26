// What the plain form (plain_form.h) does of calls that are not recorded: recording is off, the user left the function
// out, or the call is part of another one. They are handed on; what happens to handles and orders meanwhile is followed
// all the same. Never books anything, and opens no ledger.
#pragma once

#include "libmpiprof/record/token.h"
#include "libmpiprof/wrap/forward.h"
#include "libmpiprof/wrap/functions.h"

namespace mpiprof::wrap {

// The real call, with its arguments as so many words: of any symbol, or of one that the compiler knows.
struct AnyReal {
    void* function;
    const Word* words;
    unsigned n;
    [[gnu::always_inline]] Word operator()() const { return forward(function, words, n); }
};
template <std::size_t... I>
struct FixedReal {
    void* function;
    const Word* words;
    [[gnu::always_inline]] Word operator()() const {
        return reinterpret_cast<Word (*)(decltype(words[I] + 0)...)>(function)(words[I]...);
    }
};

template <std::size_t... I>
FixedReal<I...> fixed_real(std::index_sequence<I...>);

// A call in the plain form, as its pieces hand it on: all of them are inlined, so that it lies in registers.
template <class Row, class Real>
struct PlainCall {
    Row row;
    Real real;
    Word* words;        // its arguments, in the frame of the symbol
    const Word* frame;  // that of the exported symbol
    Word return_address;
    bool is_first = false;    // the process had not called this function before
    bool is_foreign = false;  // of a second MPI, or passed on: nothing else is done
    bool is_part = false;     // of another call
};

// The word behind the C arguments.
[[gnu::always_inline]] inline const int* ierror_in(const Word* words, const RowFacts& facts) {
    return reinterpret_cast<const int*>(words[facts.arity]);
}

// A call that is handed on and nothing else. It holds the token: what it calls in turn is not recorded either, and need
// not follow the stack to know whose part it is.
[[gnu::noinline]] inline Word call_unrecorded(void* real, const Word* words, unsigned n, const Word* frame) {
    thread_state.token = untimed(frame);
    const Word result = forward(real, words, n);
    if (thread_state.token == untimed(frame)) thread_state.token = nullptr;
    return result;
}

// A call that is not recorded, while recording is off or as part of another: lives of handles begin and end in it all
// the same.
template <class Library, class Language, class Call>
[[gnu::always_inline]] inline Word call_followed(const Call& call) {
    const auto& facts = call.row.facts;
    if (facts.frees) Library::template free_unrecorded<Language>(call.row, call.words, call.is_part);
    CallInHand hand{};
    if constexpr (Language::fortran) hand.ierror = ierror_in(call.words, facts);
    const Word result = call.real();
    if (facts.follows && !Language::failed(result, hand))
        Library::template follow_unrecorded<Language>(call.row, call.words, call.is_part);
    return result;
}

// A call that is not recorded, since there is nowhere to record it.
template <class Library, class Language, class Call>
[[gnu::always_inline]] inline Word call_uncounted(const Call& call) {
    const auto& facts = call.row.facts;
    if (facts.hears_of_unrecorded) {
        const Word result = call.real();
        if (!call.is_part && gate_epoch() == 0 && Library::watches(facts.id))
            Library::unrecorded(call.row, call.words, result);
        return result;
    }
    return facts.follows || facts.frees ? call_followed<Library, Language>(call) : call.real();
}

// The same, with the token; and one that has its place in an order is counted there, whoever records it.
template <class Library, class Language, class Call>
[[gnu::always_inline]] inline Word call_without_ledger(const Call& call) {
    if (call.is_foreign) return call.real();
    if (call.is_part) return call_uncounted<Library, Language>(call);
    thread_state.token = untimed(call.frame);
    const Word result = call_uncounted<Library, Language>(call);
    if (call.row.facts.is_in_order) Library::template count_unrecorded<Language>(call.row, call.words, result);
    if (thread_state.token == untimed(call.frame)) thread_state.token = nullptr;
    return result;
}

}  // namespace mpiprof::wrap
