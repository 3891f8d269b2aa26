// The MPIPROF_* settings as one table: name, default, meaning, check. Read once, at the first MPI call that starts a
// profile; wrong names and values are reported once and never fatal.
#pragma once

#include "libmpiprof/record/image.h"

namespace mpiprof {

// One row per setting; docs/settings.md explains them in the same order.
enum class Setting : unsigned { directory, job, disable, verbose, text, clock, store, period, count };

struct SettingRow {
    char name[12];  // without MPIPROF_
    char fallback[8];
    char choices[32];  // blank-separated; empty = anything
    char meaning[104];
};

const SettingRow& row_of(Setting setting);

// The value in force: the environment's if it is set, not empty and valid, else the default. Never null.
const char* value_of(Setting setting);
bool is_on(Setting setting);

// Says one line for each MPIPROF_* name that does not exist and each value that is not valid.
void report_wrong_settings();

// MPIPROF_PERIOD in nanoseconds; 0 = no helper thread. `by_itself`: it is auto, and the store decides.
std::uint64_t period_setting(std::uint64_t by_itself);

// Writes what is in force into the profile.
void record_settings(Image& image);

// Whether `rank` is named by a list such as "0,3,8-11", "all" or "none".
bool names_rank(const char* list, unsigned rank);

}  // namespace mpiprof
