// What is true here and now is tried, not read off: a file is written where the profiles go. What happened to a job
// that is over is in its outputs, since the loader says there what it could not load.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "report/commands/no_profile.h"
#include "report/commands/symptoms.h"
#include "report/model/joined.h"
#include "report/read/job_dir.h"
#include "report/read/settings_file.h"

namespace mpiprof::report {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

Symptoms preload() {
    const std::string value = variable("LD_PRELOAD");
    const auto name = value.find("libmpiprof.so");
    if (value.empty()) return {};
    if (name == std::string::npos)
        return {{Weight::fine, fmt::format("LD_PRELOAD is {}, without libmpiprof.so", value)}};
    const auto before = value.find_last_of(": ", name), behind = value.find_first_of(": ", name);
    const std::size_t first = before == std::string::npos ? 0 : before + 1;
    const std::string path = value.substr(first, behind == std::string::npos ? behind : behind - first);
    if (path.find('/') != std::string::npos && access(path.c_str(), R_OK) != 0)
        return {{Weight::fatal, fmt::format("LD_PRELOAD names {}: {}", path, std::strerror(errno))}};
    return {{Weight::fine, fmt::format("LD_PRELOAD is {}", value)}};
}

// ---- where the profiles go ----

constexpr std::size_t tried_bytes = 1 << 20;
constexpr std::int64_t tolerated_s = 2;

// Clocks of file servers decide which profile is the newest.
Symptoms clock_of(int file, const std::string& where) {
    struct stat status {};
    timespec now{};
    if (fstat(file, &status) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) return {};
    const std::int64_t ahead = status.st_mtim.tv_sec - now.tv_sec;
    if (std::abs(ahead) <= tolerated_s) return {};
    return {{Weight::remark,
             fmt::format("the clock of the file system of {} is {} s {} this node's: an older launch may be "
                         "taken for the newest (--job and --launch choose)",
                         where, std::abs(ahead), ahead > 0 ? "ahead of" : "behind")}};
}

Symptoms directory() {
    const std::string set = setting_in_force("MPIPROF_DIR");
    // What is made for each job or user is below that.
    const std::string fixed = set.substr(0, set.find('%')), above = fixed.substr(0, fixed.rfind('/') + 1);
    const std::string where = fixed.size() < set.size() ? (above.empty() ? "." : above) : set.empty() ? "." : set;
    const bool has_other = setting_in_force("MPIPROF_FALLBACK") != "none";
    const auto unusable = [&](int error) {
        return Symptom{Weight::remark,
                       fmt::format("{} cannot be written to ({}): {}; MPIPROF_DIR names another directory", where,
                                   std::strerror(error),
                                   has_other ? "profiles go to where the job was submitted, to TMPDIR or /tmp then"
                                             : "no profile is written, as MPIPROF_FALLBACK is none")};
    };
    if (!set.empty() && !fs::exists(where)) return {};  // ranks make it
    std::string name = where + "/.mpiprof-doctor.XXXXXX";
    const int file = mkstemp(name.data());
    if (file < 0) return {unusable(errno)};
    const std::vector<char> block(tried_bytes);
    Symptoms symptoms;
    const ssize_t written = write(file, block.data(), block.size());
    const int error = written < 0 ? errno : ENOSPC;
    const bool is_full = written < static_cast<ssize_t>(block.size());
    if (is_full || fsync(file) != 0) symptoms.push_back(unusable(is_full ? error : errno));
    add(symptoms, clock_of(file, where));
    close(file);
    unlink(name.c_str());
    return symptoms;
}

// Without a counter that all cores share, each call costs two system calls more.
Symptoms clock_source() {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string source;
    if (!(file >> source)) return {};
    constexpr std::array slow{"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};
    if (std::none_of(slow.begin(), slow.end(), [&](const char* name) { return source == name; })) return {};
    return {
        {Weight::remark,
         fmt::format(
             "the clock of this node is {}, which takes a system call: each MPI call costs about a microsecond more",
             source)}};
}

// What keeps processes from being profiled, whoever said so.
struct LeftOut {
    std::string_view variable, text, nothing;  // the value that leaves out nothing
};
constexpr std::array left_out{
    LeftOut{"MPIPROF_MIN_TIME", "processes that run for less than {} s leave no profile", "0"},
    LeftOut{"MPIPROF_SAMPLE", "of all jobs a share of {} is profiled", "1"},
    LeftOut{"MPIPROF_EXCLUDE", "programs named {} are not profiled", ""},
    LeftOut{"MPIPROF_MAX_FILES", "a job leaves {} profiles at most", ""},
    LeftOut{"MPIPROF_MAX_BYTES", "a job leaves {} bytes of profiles at most", ""},
    LeftOut{"MPIPROF_RANKS", "ranks that are profiled: {}", ""},
};

Symptoms what_is_left_out() {
    Symptoms symptoms;
    const std::string disabled = setting_in_force("MPIPROF_DISABLE");
    if (disabled == "1" || disabled == "yes" || disabled == "on")
        symptoms.push_back({Weight::fatal, "profiling is switched off (MPIPROF_DISABLE)"});
    for (const LeftOut& setting : left_out)
        if (const std::string value = setting_in_force(std::string(setting.variable));
            !value.empty() && value != setting.nothing)
            symptoms.push_back({Weight::fine, fmt::format("{} ({})", fmt::format(fmt::runtime(setting.text), value),
                                                          setting.variable)});
    return symptoms;
}

Symptoms settings_files() {
    Symptoms symptoms;
    const std::string name = variable("MPIPROF_CONFIG");
    if (name == no_settings_file) return {{Weight::fine, "MPIPROF_CONFIG=none: no file of settings counts"}};
    for (const std::string& path : {name, std::string(settings_file_for_everyone)}) {
        if (path.empty()) continue;
        const SettingsFile file = SettingsFile::read(path);
        if (!file.is_there && path == name)
            symptoms.push_back({Weight::remark, path + " does not exist (MPIPROF_CONFIG)"});
        if (!file.why_not.empty())
            symptoms.push_back({Weight::remark, fmt::format("{} {}: its settings are ignored", path, file.why_not)});
        if (!file.lines.empty())
            symptoms.push_back({Weight::fine, fmt::format("{} counts where the environment says nothing: {}", path,
                                                          joined(file.lines, ", "))});
    }
    return symptoms;
}

// ---- after a run ----

constexpr std::size_t most_places = 30;
// Where ranks write when their directory refuses.
constexpr std::array other_places{"PBS_O_WORKDIR", "SLURM_SUBMIT_DIR", "TMPDIR"};

Symptoms elsewhere() {
    std::vector<std::string> places = directories_with_profiles(".");
    const std::vector<std::string> set = directories_in_force();
    for (std::size_t i = set.size(); i-- > 0 && places.size() < most_places;) places.push_back(set[i]);
    for (const char* name : other_places)
        if (const std::string value = variable(name); !value.empty()) places.push_back(value);
    places.emplace_back("/tmp");
    Symptoms symptoms;
    if (has_profiles(".")) symptoms.push_back({Weight::fine, "here are profiles: mpiprof-report", true});
    std::error_code error;
    std::vector<std::string> known{"."};
    for (const std::string& place : places) {
        const auto is_same = [&](const std::string& other) { return fs::equivalent(place, other, error); };
        if (!has_profiles(place) || std::any_of(known.begin(), known.end(), is_same)) continue;
        known.push_back(place);
        symptoms.push_back({Weight::fine, fmt::format("{} has profiles: mpiprof-report {}", place, place), true});
    }
    return symptoms;
}

constexpr std::size_t most_outputs = 16, most_lines = 3;
constexpr off_t most_of_an_output = 64 << 20;

// slurm-4711.out, job.o4711, job.e4711, and what users call them.
bool is_an_output(const std::string& name) {
    for (const char* ending : {".out", ".err", ".log", ".txt"})
        if (name.ends_with(ending)) return true;
    const auto number = name.find_last_not_of("0123456789");
    return number != std::string::npos && number > 0 && number + 1 < name.size() && name[number - 1] == '.' &&
           (name[number] == 'o' || name[number] == 'e');
}

// The latest ones, in no order.
std::vector<std::string> latest_outputs() {
    struct File {
        std::string name;
        std::int64_t time_s;
    };
    std::vector<std::string> names;
    std::array<File, most_outputs> files{};
    std::error_code error;
    for (fs::directory_iterator at(".", error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        struct stat status {};
        if (!is_an_output(name) || stat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
            status.st_size > most_of_an_output)
            continue;
        File* oldest = &files[0];
        for (File& file : files)
            if (file.time_s < oldest->time_s) oldest = &file;
        if (status.st_mtim.tv_sec > oldest->time_s) *oldest = {name, status.st_mtim.tv_sec};
    }
    for (const File& file : files)
        if (!file.name.empty()) names.push_back(file.name);
    return names;
}

Symptoms said_by_jobs() {
    Symptoms symptoms;
    for (const std::string& path : latest_outputs()) {
        std::ifstream file(path);
        std::string line;
        for (std::size_t number = 1; std::getline(file, line) && symptoms.size() < most_lines; ++number) {
            const bool is_loaders =
                line.find("cannot be preloaded") != std::string::npos && line.find("mpiprof") != std::string::npos;
            const auto own = line.find("mpiprof: ");
            const bool is_absent = line.find("cannot open shared object file") != std::string::npos;
            if (is_loaders)
                symptoms.push_back(
                    {Weight::fatal, fmt::format("{}:{}: {}: {}", path, number,
                                                is_absent ? "the path is wrong on that node, or not mounted there"
                                                          : "the loader of that program refuses the library",
                                                line)});
            else if (own == 0)
                symptoms.push_back({Weight::remark, fmt::format("{}:{}: {}", path, number, line)});
        }
    }
    return symptoms;
}

}  // namespace

void add(Symptoms& all, const Symptoms& more) {
    for (const Symptom& symptom : more) all.push_back(symptom);
}

Symptoms symptoms_of_environment() {
    Symptoms symptoms = preload();
    add(symptoms, settings_files());
    add(symptoms, what_is_left_out());
    add(symptoms, directory());
    add(symptoms, clock_source());
    return symptoms;
}

Symptoms symptoms_after_a_run() {
    Symptoms symptoms = said_by_jobs();
    if (symptoms.empty() && !has_profiles("."))
        symptoms = {{Weight::remark,
                     "no profile is here, and no output of a job says why: mpiprof-report doctor -- COMMAND "
                     "looks at what was started"}};
    add(symptoms, elsewhere());
    return symptoms;
}

}  // namespace mpiprof::report
