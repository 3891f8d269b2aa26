// The MPIPROF_* settings as one table: name, default, meaning, check. Read once, at the first MPI call that starts a
// profile; wrong names and values are reported once and never fatal. Other tools' variables count where MPIPROF_COMPAT
// names the tool (compat.h), and files where they can be trusted (config_file.h).
#pragma once

#include "libmpiprof/process/setting.h"
#include "libmpiprof/record/image.h"
#include "libmpiprof/record/labels.h"

namespace mpiprof {

// What a value has to be.
enum class Accepts : std::uint8_t { anything, choice, ranks, seconds, functions, events, labels, amount, share };

struct SettingRow {
    Setting setting;
    char name[20];  // without MPIPROF_
    char fallback[8];
    Accepts accepts;
    char choices[32];  // of Accepts::choice, blank-separated
    char meaning[104];
    bool is_environments = false;  // never taken from a file: it communicates, or names code or files
};

const SettingRow& row_of(Setting setting);

// The value in force: the environment's if it is set, not empty and valid, else that of the tool that MPIPROF_COMPAT
// names, else that of a file, else the default. Never null.
const char* value_of(Setting setting);
bool is_on(Setting setting);
// A number of seconds, in nanoseconds; `fallback` where the setting is at its default, which is a word.
std::uint64_t seconds_of(Setting setting, std::uint64_t fallback);

// The value of a setting that is a choice among numbers.
unsigned number_of(Setting setting);

// A number such as 500, 10k, 2M or 1G: thousands, millions, billions. 0: no bound.
std::uint64_t amount_of(Setting setting);

// Of a billion, how many are meant: 0.05 is 50,000,000.
std::uint32_t share_of(Setting setting);

// How many events a trace keeps of each thread; 0: there is no trace.
std::uint32_t events_of(Setting setting);

// Says one line for each MPIPROF_* name that does not exist and each value that is not valid.
void report_wrong_settings();

// Writes what is in force into the profile.
void record_settings(Image& image);

// Puts what MPIPROF_LABELS says of the run there.
void record_labels(Image& image, Labels& labels);

// Whether `rank` is named by a list such as "0,3,8-11", "all" or "none".
bool names_rank(const char* list, unsigned rank);

}  // namespace mpiprof
