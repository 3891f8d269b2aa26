// A recorder without a process around it: a private image, a catalogue of four calls, one ledger. record() books a call
// the way a wrapper does: the fast path if it is open, else the slow one.
#pragma once

#include "libmpiprof/record/ledger.h"

namespace mpiprof::test {

enum Made : std::uint16_t { reduce, send, wait, query, made_calls };

inline constexpr char made_names[] = "MPI_Reduce\0MPI_Send\0MPI_Wait\0MPI_Query";
inline constexpr CallInfo made_infos[made_calls] = {
    {0, Family::mpi, Treatment::timed, Traffic::collective, SizeRule::count_type, 0, 0, BusRule::twice_around},
    {11, Family::mpi, Treatment::timed, Traffic::send, SizeRule::count_type, 0, 0},
    {20, Family::mpi, Treatment::timed, Traffic::completion, SizeRule::none, 0, 0},
    {29, Family::mpi, Treatment::counted, Traffic::none, SizeRule::none, 0, 0},
};
inline constexpr Catalogue made_catalogue{made_names, made_infos, made_calls, 1};

inline constexpr Word some_site = 0x401000;
inline constexpr Word some_communicator = 0x44000000;

struct Spec {
    std::uint16_t call = reduce;
    Word site = some_site;
    Word communicator = some_communicator;
    std::uint16_t communicator_index = 1;
    const Word* frame = nullptr;  // a stack on which `site` lies first
};

// The stack of a call: where it returns to, and nothing that is known above.
inline const Word* frame_of(const Spec& spec) {
    thread_local Word shallow[1];
    shallow[0] = spec.site;
    return spec.frame ? spec.frame : shallow;
}

// As wrap/'s second halves do it. Returns the memo that knows the call now.
inline Memo& record(Ledger& ledger, Bytes bytes, Ticks ticks, const Spec& spec = {}) {
    const std::uint64_t key = call_key(spec.call, spec.site);
    const Word* frame = frame_of(spec);
    Memo& first = ledger.memos.first(key);
    if (Memos::hit(first, key, no_handle, spec.communicator) && Memos::is_called_alike(first, frame) &&
        ledger.books.add_fast(first, bytes, ticks))
        return first;
    Memo* second =
        first.key == key ? ledger.memos.second(first, frame, spec.communicator_index, hot_bin(bytes)) : nullptr;
    if (second && ledger.books.add_fast(*second, bytes, ticks)) return *second;
    const Meaning meaning{1, spec.communicator_index};
    Memo* known = ledger.memos.known(key, no_handle, spec.communicator, frame, meaning, bytes);
    Memo& memo = known ? *known : ledger.learn(key, no_handle, spec.communicator, frame, meaning, bytes);
    ledger.books.add(memo, bytes, ledger.sane(ticks));
    return memo;
}

struct Recording {
    Records records{};
    Ledger* ledger = nullptr;

    explicit Recording(int fd = -1) {
        records.open(made_catalogue);
        records.clock = format::ClockKind::tsc;
        const bool open = fd >= 0 ? records.image.open_mapped(fd) : records.image.open_private();
        if (open) ledger = Ledger::create(records, 1, format::ThreadKind::main);
    }
    Image& image() { return records.image; }
    const format::Drops& drops() const { return records.image.header().drops; }
};

}  // namespace mpiprof::test
