// Reading and checking the settings. Uses the environment as it is and never changes it.
#include "libmpiprof/process/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmpiprof/base/text.h"
#include "libmpiprof/process/compat.h"
#include "libmpiprof/process/say.h"
#include "libmpiprof/record/trace.h"

namespace mpiprof {
namespace {

constexpr char prefix[] = "MPIPROF_";
constexpr std::size_t prefix_length = sizeof prefix - 1;
constexpr std::uint32_t default_trace_events = 65536;
constexpr unsigned settings = static_cast<unsigned>(Setting::count);

constexpr SettingRow rows[settings] = {
    {Setting::directory, "DIR", ".", Accepts::anything, "",
     "directory for the profiles; %j is the job, %u the user, %h the host"},
    {Setting::job, "JOB", "", Accepts::anything, "", "the job's name in file names; by default the scheduler's id"},
    {Setting::disable, "DISABLE", "0", Accepts::choice, "0 1 no yes off on", "1: do nothing at all"},
    {Setting::verbose, "VERBOSE", "0", Accepts::choice, "0 1 no yes off on",
     "1: rank 0 reports what was found, where the profile is and what was written"},
    {Setting::text, "TEXT", "0", Accepts::ranks, "",
     "ranks that also write <profile>.txt: a list such as 0,4-7, all, none"},
    {Setting::clock, "CLOCK", "auto", Accepts::choice, "auto tsc mono",
     "tsc: the processor's counter; mono: CLOCK_MONOTONIC"},
    {Setting::store, "STORE", "auto", Accepts::choice, "auto mapped written",
     "mapped: the profile is memory-mapped; written: it is flushed once a period"},
    {Setting::period, "PERIOD", "auto", Accepts::seconds, "",
     "seconds between two writes of the written store; 0: no helper thread, written at the end"},
    {Setting::ranks, "RANKS", "all", Accepts::ranks, "", "ranks that are profiled: a list such as 0,4-7, all, none"},
    {Setting::functions, "FUNCTIONS", "all", Accepts::functions, "",
     "functions that are recorded: MPI_Send,MPI_I* or -MPI_Iprobe, all, none"},
    {Setting::begin_time, "BEGIN_TIME", "0", Accepts::seconds, "", "seconds after MPI_Init at which recording begins"},
    {Setting::end_time, "END_TIME", "never", Accepts::seconds, "", "seconds after MPI_Init at which recording ends"},
    {Setting::collective_barrier, "COLLECTIVE_BARRIER", "none", Accepts::functions, "",
     "insert and time a barrier before these collectives: a list of names, all"},
    {Setting::compat, "COMPAT", "none", Accepts::choice, "none mpitrace mpip ipm",
     "also accept the variables and MPI_Pcontrol codes of this tool"},
    {Setting::nccl, "NCCL", "on", Accepts::choice, "on off", "off: NCCL calls are not recorded"},
    {Setting::nccl_plugin, "NCCL_PLUGIN", "off", Accepts::anything, "",
     "forward: chain the NCCL profiler plugin that would be loaded; or that plugin's path"},
    {Setting::gpu, "GPU", "on", Accepts::choice, "on off",
     "off: no GPU queries: no times of NCCL operations, no kinds of MPI buffers"},
    {Setting::cupti, "CUPTI", "window", Accepts::choice, "on sample window off",
     "on: GPU times by CUPTI; sample: for some seconds; window: while a recording window is set; off: never"},
    {Setting::cupti_time, "CUPTI_TIME", "60", Accepts::seconds, "",
     "at most so many seconds of CUPTI; a sample begins after as long and takes a twelfth of it"},
    {Setting::depth, "DEPTH", "8", Accepts::choice, "1 2 3 4 5 6 7 8 12 16 24 32",
     "call-stack depth per call site; 1: the line of the call only"},
    {Setting::libunwind, "LIBUNWIND", "on", Accepts::choice, "on off",
     "off: do not use libunwind where the built-in unwinder ends"},
    {Setting::trace, "TRACE", "off", Accepts::events, "",
     "keep the last N events per thread: a number such as 100k, on (64k), off"},
    {Setting::clock_offsets, "CLOCK_OFFSETS", "off", Accepts::choice, "on off",
     "on: measure the clock offsets between nodes, with messages, in MPI_Init and MPI_Finalize"},
    {Setting::labels, "LABELS", "", Accepts::labels, "",
     "labels attached to the run: a list such as model=resnet50,bucket_size=25"},
};

constexpr bool rows_follow_the_enumeration() {
    for (unsigned i = 0; i < settings; ++i)
        if (rows[i].setting != static_cast<Setting>(i)) return false;
    return true;
}
static_assert(rows_follow_the_enumeration(), "a row stands where its Setting does");

bool is_one_of(const char* value, const char* choices) {
    const std::size_t length = strlen(value);
    for (const char* c = choices; *c;) {
        const char* end = c;
        while (*end && *end != ' ') ++end;
        if (static_cast<std::size_t>(end - c) == length && memcmp(c, value, length) == 0) return true;
        c = *end ? end + 1 : end;
    }
    return false;
}

// "0,4-7": walks the list and returns its end, or where it stops being one.
template <class Visit>
const char* walk_ranks(const char* list, Visit visit) {
    for (;;) {
        unsigned first, last;
        const char* end = read_number(list, first);
        if (end == list) return list;
        last = first;
        if (*end == '-') {
            const char* begin = end + 1;
            end = read_number(begin, last);
            if (end == begin || last < first) return list;
        }
        visit(first, last);
        if (*end != ',') return end;
        list = end + 1;
        if (!*list) return end;
    }
}

bool is_rank_list(const char* list) {
    return is_one_of(list, "all none") || !*walk_ranks(list, [](unsigned, unsigned) {});
}

// "2", "0.25": whole seconds and up to nine decimals. False: not a number of seconds.
bool read_seconds(const char* text, std::uint64_t& ns) {
    unsigned seconds;
    const char* end = read_number(text, seconds);
    if (end == text) return false;
    ns = std::uint64_t{seconds} * 1'000'000'000u;
    if (*end == '.' && end[1])
        for (std::uint64_t digit = 100'000'000; *++end >= '0' && *end <= '9'; digit /= 10)
            ns += static_cast<std::uint64_t>(*end - '0') * digit;
    return *end == 0;
}

// "100000", "100k", "1M".
bool read_events(const char* text, std::uint32_t& events) {
    events = is_one_of(text, "on yes") ? default_trace_events : 0;
    if (events != 0 || is_one_of(text, "off no 0")) return true;
    unsigned number;
    const char* end = read_number(text, number);
    const unsigned unit = (*end | 32) == 'k' ? 1000 : (*end | 32) == 'm' ? 1'000'000 : 1;
    if (end == text || end[unit != 1] != 0 || __builtin_mul_overflow(number, unit, &number)) return false;
    events = number < Trace::fewest_events ? Trace::fewest_events
             : number < Trace::most_events ? number
                                           : Trace::most_events;
    return true;
}

bool is_function_list(const char* list) {
    for (const char* c = list; *c; ++c)
        if (!((*c | 32) >= 'a' && (*c | 32) <= 'z') && !(*c >= '0' && *c <= '9') && !strchr("_,*-", *c)) return false;
    return true;
}

const char* from_environment(const SettingRow& row) {
    char name[sizeof prefix + sizeof row.name] = "MPIPROF_";
    append(name, row.name);
    const char* value = getenv(name);
    return value && *value ? value : nullptr;
}

bool is_valid(Setting setting, const char* value) {
    const SettingRow& row = row_of(setting);
    std::uint64_t ns;
    std::uint32_t events;
    switch (row.accepts) {
        case Accepts::anything:
        case Accepts::labels:  // each for itself: report_wrong_labels()
            return true;
        case Accepts::choice:
            return is_one_of(value, row.choices);
        case Accepts::ranks:
            return is_rank_list(value);
        case Accepts::functions:
            return is_function_list(value);
        case Accepts::events:
            return read_events(value, events);
        case Accepts::seconds:
            return strcmp(value, row.fallback) == 0 || read_seconds(value, ns);
    }
    return false;
}

const char* expected(const SettingRow& row) {
    if (row.accepts == Accepts::choice) return row.choices;
    switch (row.accepts) {
        case Accepts::ranks:
            return "a list of ranks such as 0,4-7, all or none";
        case Accepts::events:
            return "a number of events such as 100k, on or off";
        case Accepts::functions:
            return "a list of functions such as MPI_Send,MPI_Recv, all or none";
        default:
            return "seconds such as 5 or 0.5";
    }
}

const char* from_other_tool(Setting setting) {
    const char* value = compat_value(setting);
    return value && is_valid(setting, value) ? value : nullptr;
}

}  // namespace

const SettingRow& row_of(Setting setting) { return rows[static_cast<unsigned>(setting)]; }

const char* value_of(Setting setting) {
    if (const char* value = from_environment(row_of(setting)); value && is_valid(setting, value)) return value;
    const char* value = from_other_tool(setting);
    return value ? value : row_of(setting).fallback;
}

std::uint64_t seconds_of(Setting setting, std::uint64_t fallback) {
    std::uint64_t ns;
    return read_seconds(value_of(setting), ns) ? ns : fallback;
}

std::uint32_t events_of(Setting setting) {
    std::uint32_t events = 0;
    read_events(value_of(setting), events);
    return events;
}

unsigned number_of(Setting setting) {
    unsigned number;
    read_number(value_of(setting), number);
    return number;
}

bool is_on(Setting setting) { return is_one_of(value_of(setting), "1 yes on"); }

// The others count.
static void report_wrong_labels(const char* list) {
    const char* first = nullptr;
    std::size_t length = 0;
    unsigned wrong = 0;
    walk_labels(
        list, [](const char*, std::size_t, const char*, std::size_t) {},
        [&](const char* word, std::size_t n) {
            if (wrong++ != 0) return;
            first = word;
            length = n;
        });
    if (wrong != 0)
        say("MPIPROF_LABELS: \"%.*s\" is not a label (expected KEY=VALUE) and is ignored%s", static_cast<int>(length),
            first, wrong > 1 ? ", and so are others" : "");
}

void record_labels(Image& image, Labels& labels) {
    walk_labels(
        value_of(Setting::labels),
        [&](const char* key, std::size_t key_length, const char* value, std::size_t value_length) {
            labels.set(image, key, key_length, value, value_length);
        },
        [](const char*, std::size_t) {});
}

void report_wrong_settings() {
    report_wrong_labels(value_of(Setting::labels));
    for (char** variable = environ; variable && *variable; ++variable) {
        if (strncmp(*variable, prefix, prefix_length) != 0) continue;
        const char* name = *variable + prefix_length;
        const char* equals = strchr(name, '=');
        if (!equals) continue;
        unsigned i = 0;
        while (i < settings && (strncmp(rows[i].name, name, static_cast<std::size_t>(equals - name)) != 0 ||
                                rows[i].name[equals - name] != 0))
            ++i;
        if (i == settings)
            say("unknown setting %.*s is ignored; docs/settings.md lists them", static_cast<int>(equals - *variable),
                *variable);
        else if (equals[1] && !is_valid(rows[i].setting, equals + 1))
            say("MPIPROF_%s=%s is not understood (%s); using %s", rows[i].name, equals + 1, expected(rows[i]),
                rows[i].fallback);
    }
}

void record_settings(Image& image) {
    Rows<format::Setting, settings> recorded;
    for (unsigned i = 0; i < settings; ++i) {
        format::Setting* record = recorded.next(image);
        if (!record) return;
        const char* value = value_of(rows[i].setting);
        copy(record->name, rows[i].name);
        copy(record->value, value);
        if (length_of(value) >= sizeof record->value)
            memcpy(record->value + sizeof record->value - 4, "...", 4);  // it was cut
        record->source = value == rows[i].fallback ? 0u : value == compat_value(rows[i].setting) ? 2u : 1u;
        recorded.publish();
    }
}

bool names_rank(const char* list, unsigned rank) {
    if (strcmp(list, "all") == 0) return true;
    bool named = false;
    walk_ranks(list, [&](unsigned first, unsigned last) { named |= rank >= first && rank <= last; });
    return named;
}

}  // namespace mpiprof
