// How much of a thread's waiting for a processor falls between its calls, and how much inside them: the kernel's
// account is read at both ends of one call and of the stretch before it, some 20 times a second. The ledger asks here
// when a call has ended late enough, and before a call of the plain form. What the account says of the whole run is
// host/processor_time's; this divides it.
#pragma once

#include "libmpiprof/base/basics.h"
#include "libmpiprof/format/layout.h"

namespace mpiprof {

class ProcessorStretches {
  public:
    // The thread's own record, where what is found stands. Without this call nothing is ever read.
    void open(format::Thread& shown, Ticks now);

    // When the ledger is to say that a call has ended: at its first end from then on.
    Ticks due() const { return due_; }
    // A call that began and ended then has been booked. True: the next call is to say that it begins.
    bool after_call(Ticks since, Ticks end);
    bool awaits_call() const { return step_ == Step::between_calls; }
    // The next call begins, but for its clock.
    void before_call(Ticks now);

  private:
    enum class Step : std::uint8_t { idle, between_calls, in_call };

    struct Account {
        std::uint64_t ran_ns, waited_ns;
    };

    static bool read(Account& account);
    void rest(Ticks now);

    format::Thread* shown_ = nullptr;
    Ticks due_ = ~Ticks{0};
    Ticks ended_ = 0, began_ = 0;        // of the calls before and in the stretch
    Account when_ended_{}, at_begin_{};  // at these moments
    unsigned skips_ = 0;                 // ends of calls
    Step step_ = Step::idle;
};

}  // namespace mpiprof
