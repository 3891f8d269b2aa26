// One function for each thing that can be wrong; what they say comes in the order of what decides most.
#include "report/commands/command.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/commands/say.h"
#include "report/read/settings_file.h"
#include "report/symbols/program_file.h"
#include "report/views/fitting.h"
#include "report/views/terminal.h"

namespace mpiprof::report {
namespace {

enum class Weight : char { fatal = 'x', remark = '!', fine = '.' };
struct Symptom {
    Weight weight;
    std::string text;
    bool is_seen = false;  // it speaks of an MPI or an NCCL that will be recorded
};
using Symptoms = std::vector<Symptom>;

std::string base(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Libraries by how their names begin.
struct Known {
    std::string_view file, name;
};
constexpr std::array mpis{Known{"libmpi.so.40", "Open MPI"},
                          Known{"libmpi.so.80", "Open MPI 6"},
                          Known{"libmpi.so.12", "MPICH, or one with its ABI (Intel MPI, MVAPICH, Cray MPICH)"},
                          Known{"libmpich.so", "MPICH"},
                          Known{"libmpi_intel.so", "Cray MPICH"},
                          Known{"libmpi_gnu", "Cray MPICH"},
                          Known{"libmpi_cray.so", "Cray MPICH"},
                          Known{"libmpi_abi.so", "an MPI with the standard ABI"},
                          Known{"libmpi", "an MPI"}};
constexpr std::array tools{Known{"libmpiP", "mpiP"},
                           Known{"libipm", "IPM"},
                           Known{"libscorep", "Score-P"},
                           Known{"libTAU", "TAU"},
                           Known{"libmpitrace", "mpitrace"},
                           Known{"libextrae", "Extrae"},
                           Known{"libdarshan", "Darshan"},
                           Known{"libdlb_mpi", "DLB (TALP)"},
                           Known{"libVT", "Intel's trace collector"}};

template <class Table>
std::string which_of(const Table& table, const std::string& file) {
    for (const Known& known : table)
        if (file.starts_with(known.file)) return std::string(known.name);
    return "";
}

bool has(const std::set<std::string>& names, const char* name) { return names.contains(name); }

// What keeps any preload away.
Symptoms loading(const ProgramFile& file) {
    Symptoms symptoms;
    if (!file.is_of_this_processor)
        symptoms.push_back({Weight::fatal, "it is for another processor than this reporter and its library"});
    if (file.is_elf && file.interpreter.empty())
        symptoms.push_back(
            {Weight::fatal, "it is linked statically as a whole: nothing can be preloaded. Link it dynamically"});
    if (file.has_rights)
        symptoms.push_back(
            {Weight::fatal, "it is setuid or setgid, or has capabilities: the loader ignores LD_PRELOAD for it"});
    if (file.interpreter.find("musl") != std::string::npos)
        symptoms.push_back({Weight::remark, "its C library is musl: the library is made for glibc 2.28 or newer"});
    for (const std::string& library : file.missing)
        symptoms.push_back(
            {Weight::remark, library + " is not found: load the modules that the job loads, and ask again"});
    return symptoms;
}

Symptoms mpi(const ProgramFile& file) {
    Symptoms symptoms;
    std::string found;
    for (const std::string& library : file.libraries)
        if (found.empty())
            if (const std::string name = which_of(mpis, base(library)); !name.empty())
                found = fmt::format("{} ({})", name, library);
    const bool has_static_mpi = has(file.own, "MPI_Init") && has(file.own, "PMPI_Init");
    if (has_static_mpi)
        symptoms.push_back(
            {Weight::fatal, "it contains MPI statically: its calls never leave it. Link it with the shared library"});
    else if (has(file.own, "MPI_Init"))
        symptoms.push_back(
            {Weight::remark,
             "it has an MPI_Init of its own: another tool is linked into it, and what that keeps for itself is not seen"});
    else if (!found.empty())
        symptoms.push_back({Weight::fine, "MPI: " + found, true});
    for (const char* name : {"mpi_init", "MPI_INIT"})
        if (has(file.asked, name))
            symptoms.push_back(
                {Weight::fatal,
                 fmt::format(
                     "its Fortran asks for {} (no underscore): compile with -qextname (xlf) or -funderscoring (gfortran)",
                     name)});
    if (has(file.asked, "mpi_init_")) symptoms.push_back({Weight::fine, "Fortran: mpi_init_"});
    return symptoms;
}

Symptoms nccl(const ProgramFile& file) {
    for (const std::string& library : file.libraries)
        if (base(library).starts_with("libnccl.so") || base(library).starts_with("librccl.so"))
            return {{Weight::fine, "NCCL: " + library, true}};
    if (has(file.own, "ncclAllReduce"))
        return {
            {Weight::fine,
             "NCCL, linked statically: what NCCL 2.23 and later reports is recorded, without host times and call sites",
             true}};
    return {};
}

Symptoms others(const ProgramFile& file) {
    Symptoms symptoms;
    for (const std::string& library : file.libraries) {
        if (const std::string tool = which_of(tools, base(library)); !tool.empty())
            symptoms.push_back(
                {Weight::remark,
                 fmt::format("{} ({}) is linked with it: preloaded, libmpiprof.so comes first and both count", tool,
                             library)});
        if (base(library).starts_with("libasan.so"))
            symptoms.push_back(
                {Weight::remark,
                 fmt::format("the address sanitizer has to come first: LD_PRELOAD={}:.../libmpiprof.so", library)});
    }
    const char* preload = std::getenv("LD_PRELOAD");
    if (preload && *preload) symptoms.push_back({Weight::fine, fmt::format("LD_PRELOAD is {}", preload)});
    return symptoms;
}

// Where the profiles go.
Symptoms directory() {
    const char* set = std::getenv("MPIPROF_DIR");
    const std::string where = set && *set ? set : ".";
    if (where.find('%') != std::string::npos) return {};
    struct statvfs status {};
    if (access(where.c_str(), W_OK | X_OK) != 0)
        return {{Weight::remark,
                 fmt::format(
                     "{} cannot be written to: profiles go to TMPDIR or /tmp then; MPIPROF_DIR names another directory",
                     where)}};
    if (statvfs(where.c_str(), &status) == 0 && status.f_bavail * status.f_frsize < 64ull << 20)
        return {{Weight::remark, fmt::format("{} has less than 64 MiB left", where)}};
    return {};
}

// What keeps processes from being profiled where nobody in the job said so.
constexpr std::array left_out{
    Known{"MPIPROF_MIN_TIME", "processes that run for less than {} s leave no profile"},
    Known{"MPIPROF_SAMPLE", "of all jobs a share of {} is profiled"},
    Known{"MPIPROF_EXCLUDE", "programs named {} are not profiled"},
    Known{"MPIPROF_MAX_FILES", "a job leaves {} profiles at most"},
    Known{"MPIPROF_MAX_BYTES", "a job leaves {} bytes of profiles at most"},
    Known{"MPIPROF_RANKS", "ranks that are profiled: {}"},
    Known{"MPIPROF_DISABLE", "profiling is switched off ({})"},
};

Symptoms settings_files() {
    Symptoms symptoms;
    const char* named = std::getenv("MPIPROF_CONFIG");
    const std::string name = named ? named : "";
    if (name == no_settings_file) return {{Weight::fine, "MPIPROF_CONFIG=none: no file of settings counts"}};
    for (const std::string& path : {name, std::string(settings_file_for_everyone)}) {
        if (path.empty()) continue;
        const SettingsFile file = SettingsFile::read(path);
        if (!file.is_there && path == name)
            symptoms.push_back({Weight::remark, path + " does not exist (MPIPROF_CONFIG)"});
        if (!file.why_not.empty())
            symptoms.push_back({Weight::remark, fmt::format("{} {}: its settings are ignored", path, file.why_not)});
        if (file.lines.empty()) continue;
        std::string text = fmt::format("{} counts where the environment says nothing", path);
        for (const Known& setting : left_out)
            if (const std::string value = file.value_of(std::string(setting.file));
                !value.empty() && !std::getenv(std::string(setting.file).c_str()))
                text += fmt::format("; {} ({})", fmt::format(fmt::runtime(setting.name), value), setting.file);
        symptoms.push_back({Weight::fine, text});
    }
    return symptoms;
}

// A script, or a program that opens MPI by itself.
Symptoms if_nothing(const ProgramFile& file, const Symptoms& found) {
    if (std::ranges::any_of(found, [](const Symptom& s) { return s.is_seen || s.weight == Weight::fatal; })) return {};
    if (!file.is_elf && !file.interpreter.empty())
        return {{Weight::remark,
                 fmt::format("it is a script for {}, whose children are profiled where the preload reaches them",
                             file.interpreter)}};
    if (!file.is_elf) return {{Weight::fatal, "it is no program"}};
    return {
        {Weight::remark,
         "it needs neither MPI nor NCCL: it is profiled if it opens one of them later (as Python does with mpi4py, and with plugins)"}};
}

// As a shell finds it.
std::string found_in_path(const std::string& name) {
    namespace fs = std::filesystem;
    if (name.find('/') != std::string::npos) return name;
    const char* variable = std::getenv("PATH");
    std::string_view path = variable ? variable : "";
    while (!path.empty()) {
        const auto end = std::min(path.find(':'), path.size());
        const std::string candidate = fmt::format("{}/{}", path.substr(0, end), name);
        if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return name;
}

int examine(const Options& options) {
    if (options.paths.size() != 1)
        return fail({"doctor", "names one program", "mpiprof-report doctor ./app"}, usage_error);
    const std::string path = found_in_path(options.paths.front());
    const auto file = read_program(path);
    if (!file) return fail({path, "cannot be read", "name the program that mpirun starts"}, usage_error);
    Symptoms symptoms = loading(*file);
    for (const auto& more : {mpi(*file), nccl(*file), others(*file), settings_files(), directory()})
        symptoms.insert(symptoms.end(), more.begin(), more.end());
    const Symptoms rest = if_nothing(*file, symptoms);
    symptoms.insert(symptoms.end(), rest.begin(), rest.end());
    const bool is_hopeless = std::ranges::any_of(symptoms, [](const Symptom& s) { return s.weight == Weight::fatal; });
    const std::size_t width = screen_for(stdout, options.screen).width;
    auto output = Output::open("");
    output->write(
        fmt::format("{}: {}\n", path,
                    is_hopeless ? "cannot be profiled as it is" : "can be profiled by LD_PRELOAD=/path/libmpiprof.so"));
    for (const Symptom& symptom : symptoms) {
        std::string margin = fmt::format("  {} ", static_cast<char>(symptom.weight));
        for (const std::string& line : wrapped(symptom.text, width - margin.size())) {
            output->write(margin + line + "\n");
            margin.assign(margin.size(), ' ');
        }
    }
    const int code = finish(*output);
    return code == fine && is_hopeless ? check_failed : code;
}

class Doctor : public Command {
  public:
    int run(const Options& options) override { return examine(options); }
};

}  // namespace

std::unique_ptr<Command> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace mpiprof::report
