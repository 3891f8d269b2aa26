// Reading and checking the settings. Uses the environment and files as they are and never changes them.
#include "libmpiprof/process/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmpiprof/base/text.h"
#include "libmpiprof/process/compat.h"
#include "libmpiprof/process/config_file.h"
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
     "directory for the profiles; %j: the job, %u: the user, %h: the host, %Y %m %d: the day (UTC)"},
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
    {Setting::files, "FILES", "rank", Accepts::choice, "rank node",
     "node: the ranks of a node share one file; rank: each has its own"},
    {Setting::period, "PERIOD", "auto", Accepts::seconds, "",
     "seconds between two writes of the written store; 0: no helper thread, written at the end"},
    {Setting::ranks, "RANKS", "all", Accepts::ranks, "", "ranks that are profiled: a list such as 0,4-7, all, none"},
    {Setting::functions, "FUNCTIONS", "all", Accepts::functions, "",
     "functions that are recorded: MPI_Send,MPI_I* or -MPI_Iprobe, all, none"},
    {Setting::begin_time, "BEGIN_TIME", "0", Accepts::seconds, "", "seconds after MPI_Init at which recording begins"},
    {Setting::end_time, "END_TIME", "never", Accepts::seconds, "", "seconds after MPI_Init at which recording ends"},
    {Setting::collective_barrier, "COLLECTIVE_BARRIER", "none", Accepts::functions, "",
     "insert and time a barrier before these collectives: a list of names, all", true},
    {Setting::compat, "COMPAT", "none", Accepts::choice, "none mpitrace mpip ipm",
     "also accept the variables and MPI_Pcontrol codes of this tool", true},
    {Setting::nccl, "NCCL", "on", Accepts::choice, "on off", "off: NCCL calls are not recorded"},
    {Setting::nccl_plugin, "NCCL_PLUGIN", "off", Accepts::anything, "",
     "forward: chain the NCCL profiler plugin that would be loaded; or that plugin's path", true},
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
     "on: measure the clock offsets between nodes, with messages, in MPI_Init and MPI_Finalize", true},
    {Setting::labels, "LABELS", "", Accepts::labels, "",
     "labels attached to the run: a list such as model=resnet50,bucket_size=25"},
    {Setting::config, "CONFIG", "", Accepts::anything, "",
     "a file of settings, for those the environment has not; then /etc/mpiprof.conf counts. none: no file", true},
    {Setting::min_time, "MIN_TIME", "0", Accepts::seconds, "",
     "seconds that a process has to run after MPI_Init before it gets a profile"},
    {Setting::sample, "SAMPLE", "1", Accepts::share, "", "the share of jobs that are profiled, such as 0.05"},
    {Setting::exclude, "EXCLUDE", "", Accepts::anything, "",
     "programs that are not profiled: a list of file names such as hydra_*,gdb"},
    {Setting::max_files, "MAX_FILES", "0", Accepts::amount, "",
     "at most so many profiles a job, of every second, third ... rank; 0: no bound"},
    {Setting::max_bytes, "MAX_BYTES", "0", Accepts::amount, "",
     "at most so many bytes of profiles a job, such as 500M; 0: no bound"},
    {Setting::fallback, "FALLBACK", "auto", Accepts::choice, "auto none",
     "none: where the directory refuses, no other one is tried"},
    {Setting::group, "GROUP", "0", Accepts::choice, "0 1 no yes off on",
     "1: the group of a directory that root made may read the profiles below it"},
    {Setting::personal, "PRIVATE", "0", Accepts::choice, "0 1 no yes off on",
     "1: neither arguments, working directory nor environment in the profile"},
    {Setting::quiet, "QUIET", "0", Accepts::choice, "0 1 no yes off on",
     "1: nothing on stderr, whatever goes wrong; the profile says it"},
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

// "100000", "100k", "1M", "2G".
bool read_amount(const char* text, std::uint64_t& number) {
    const char* end = read_number(text, number);
    const char letter = lower(*end);
    const std::uint64_t unit = letter == 'k' ? 1000 : letter == 'm' ? 1'000'000 : letter == 'g' ? 1'000'000'000 : 1;
    return end != text && end[unit != 1] == 0 && !__builtin_mul_overflow(number, unit, &number);
}

// A share is kept as seconds are: in billionths.
bool read_share(const char* text, std::uint64_t& billionths) {
    return read_seconds(text, billionths) && billionths <= 1'000'000'000;
}

bool read_events(const char* text, std::uint32_t& events) {
    events = is_one_of(text, "on yes") ? default_trace_events : 0;
    if (events != 0 || is_one_of(text, "off no 0")) return true;
    std::uint64_t number;
    if (!read_amount(text, number) || number > ~std::uint32_t{0}) return false;
    events = number < Trace::fewest_events ? Trace::fewest_events
             : number < Trace::most_events ? static_cast<std::uint32_t>(number)
                                           : Trace::most_events;
    return true;
}

bool is_function_list(const char* list) {
    for (const char* c = list; *c; ++c)
        if (!((*c | 32) >= 'a' && (*c | 32) <= 'z') && !(*c >= '0' && *c <= '9') && !strchr("_,*-", *c)) return false;
    return true;
}

struct Name {
    char text[sizeof prefix + sizeof(SettingRow::name)] = "MPIPROF_";
    explicit Name(const SettingRow& row) { append(text, row.name); }
};

const char* from_environment(const SettingRow& row) {
    const char* value = getenv(Name(row).text);
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
        case Accepts::amount:
            return read_amount(value, ns);
        case Accepts::share:
            return read_share(value, ns);
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
        case Accepts::amount:
            return "a number such as 500, 10k or 2G";
        case Accepts::share:
            return "a share such as 0.05, at most 1";
        default:
            return "seconds such as 5 or 0.5";
    }
}

// As format::Setting keeps it.
enum class From : std::uint32_t { fallback = 0, environment = 1, other_tool = 2, named_file = 3, systems_file = 4 };

struct InForce {
    const char* value;
    From from;
};

InForce in_force(Setting setting) {
    const SettingRow& row = row_of(setting);
    const auto is_good = [&](const char* value) { return value && is_valid(setting, value); };
    if (const char* value = from_environment(row); is_good(value)) return {value, From::environment};
    if (const char* value = compat_value(setting); is_good(value)) return {value, From::other_tool};
    if (row.is_environments) return {row.fallback, From::fallback};
    const Name name(row);
    const ConfigFiles& files = config_files();
    if (const char* value = files.named.value_of(name.text); is_good(value)) return {value, From::named_file};
    if (const char* value = files.systems.value_of(name.text); is_good(value)) return {value, From::systems_file};
    return {row.fallback, From::fallback};
}

}  // namespace

const SettingRow& row_of(Setting setting) { return rows[static_cast<unsigned>(setting)]; }

const char* value_of(Setting setting) { return in_force(setting).value; }

std::uint64_t seconds_of(Setting setting, std::uint64_t fallback) {
    std::uint64_t ns;
    return read_seconds(value_of(setting), ns) ? ns : fallback;
}

std::uint64_t amount_of(Setting setting) {
    std::uint64_t amount;
    return read_amount(value_of(setting), amount) ? amount : 0;
}

std::uint32_t share_of(Setting setting) {
    std::uint64_t billionths;
    return read_share(value_of(setting), billionths) ? static_cast<std::uint32_t>(billionths) : 1'000'000'000;
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

// "MPIPROF_CLOCK=mono", in the environment or in `file`.
static void report_if_wrong(const char* assignment, const ConfigFile* file) {
    const char* equals = strchr(assignment, '=');
    const auto length = static_cast<std::size_t>((equals ? equals : assignment + strlen(assignment)) - assignment);
    const bool is_ours = length > prefix_length && strncmp(assignment, prefix, prefix_length) == 0;
    if (!file && (!is_ours || !equals)) return;
    const char* where = file ? file->path : "";
    const char* colon = file ? ": " : "";
    const SettingRow* row = rows;
    while (row != rows + settings && !(is_ours && length_of(row->name) == length - prefix_length &&
                                       memcmp(row->name, assignment + prefix_length, length - prefix_length) == 0))
        ++row;
    if (row == rows + settings || !equals)
        say("%s%sunknown setting %.*s is ignored; docs/settings.md lists them", where, colon, static_cast<int>(length),
            assignment);
    else if (file && row->is_environments)
        say("%s: MPIPROF_%s counts in the environment alone and is ignored here", where, row->name);
    else if (equals[1] && !is_valid(row->setting, equals + 1))
        say("%s%sMPIPROF_%s=%s is not understood (%s); using %s", where, colon, row->name, equals + 1, expected(*row),
            value_of(row->setting));
}

// What is wrong with the file for everyone is not each user's business, unless one asks.
static void report_wrong_file(const ConfigFile& file, bool is_users) {
    if (!file.path || (!is_users && (file.is_missing || !is_on(Setting::verbose)))) return;
    if (file.why_not) say("%s %s: its settings are ignored", file.path, file.why_not);
    if (file.lines)
        any_of(file.lines, [&](const char* line) {
            report_if_wrong(line, &file);
            return false;
        });
}

void report_wrong_settings() {
    report_wrong_labels(value_of(Setting::labels));
    report_wrong_file(config_files().named, true);
    report_wrong_file(config_files().systems, false);
    for (char** variable = environ; variable && *variable; ++variable) report_if_wrong(*variable, nullptr);
}

void record_settings(Image& image) {
    Rows<format::Setting, settings> recorded;
    for (unsigned i = 0; i < settings; ++i) {
        format::Setting* record = recorded.next(image);
        if (!record) return;
        const InForce found = in_force(rows[i].setting);
        copy(record->name, rows[i].name);
        copy(record->value, found.value);
        if (length_of(found.value) >= sizeof record->value)
            memcpy(record->value + sizeof record->value - 4, "...", 4);  // it was cut
        record->source = static_cast<std::uint32_t>(found.from);
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
