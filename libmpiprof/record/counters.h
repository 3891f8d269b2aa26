// How often counted calls were made, and the time that samples of polls stand for. Polls (Test, Iprobe) are asked in
// loops: all are counted, every 16th is timed and stands for the 16. Part of the ledger; on its hot path.
#pragma once

#include "libmpiprof/record/records.h"

namespace mpiprof {

class Counters {
  public:
    // False: there is no room for them.
    bool open(Records& records, std::uint32_t thread) {
        format::Table* table = nullptr;
        counters_ = Rows<format::Counter, 0>::room_for(records.image, records.catalogue.counted, thread, table);
        if (!counters_) return false;
        __atomic_store_n(&table->used, table->capacity, __ATOMIC_RELEASE);
        return true;
    }
    void count(std::uint16_t counter) { counters_[counter].calls += 1; }
    void count_error(std::uint16_t counter) { counters_[counter].errors += 1; }
    static constexpr unsigned polls_per_sample = 16;
    bool is_sample(std::uint16_t counter) const { return counters_[counter].calls % polls_per_sample == 0; }
    // What a sample that ended then stands for: the polls since the one before, which have taken no longer than that is
    // ago.
    Ticks time_of_polls(std::uint16_t counter, Ticks sample, Ticks end);

  private:
    // The polls of one call between two samples.
    struct Polls {
        Ticks since;  // the end of the last sample
        Ticks owed;   // what samples stood for beyond the time there was
    };
    format::Counter* counters_ = nullptr;
    Polls polls_[Catalogue::most_counted];  // pages of calls that are not polled stay untouched
};

// Where one that moved data stands for more than there is time, there were others that did, and were no samples: it is
// theirs, as far as there is time between later ones. Of a sample as long as a time slice the process was interrupted:
// how often that happened to others would be a guess.
inline Ticks Counters::time_of_polls(std::uint16_t counter, Ticks sample, Ticks end) {
    constexpr Ticks time_slice = Ticks{1} << 21;  // 0.5 to 1 ms by an x86-64 processor's counter
    Polls& polls = polls_[counter];
    if (polls.since == 0) [[unlikely]] {  // the first poll stands for itself
        polls.since = end;
        return sample;
    }
    const Ticks passed = end - polls.since, due = sample * polls_per_sample + polls.owed;
    polls.since = end;
    polls.owed = 0;
    if (due <= passed) [[likely]]
        return due;
    if (sample < time_slice) polls.owed = due - passed;
    return passed;
}

}  // namespace mpiprof
