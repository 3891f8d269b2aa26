// The causes, most frequent first; and where profiles do lie, if a directory further down has some.
#include "report/commands/no_profile.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "report/model/joined.h"
#include "report/read/settings_file.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_entries = 2000;  // looked at below a directory
constexpr std::size_t most_shown = 3;
constexpr std::size_t most_problems = 10;

constexpr std::string_view causes =
    "Likely causes:\n"
    "- The job ran elsewhere, or MPIPROF_DIR was set: mpiprof-report DIR\n"
    "- LD_PRELOAD was not passed on to the ranks, above all on other nodes:\n"
    "    Open MPI             mpirun -x LD_PRELOAD=/path/libmpiprof.so ...\n"
    "    MPICH, Intel MPI     mpirun -genv LD_PRELOAD /path/libmpiprof.so ...\n"
    "    Slurm                srun --export=ALL,LD_PRELOAD=/path/libmpiprof.so ...\n"
    "- The path of libmpiprof.so is wrong, or not visible on the compute nodes: ld.so\n"
    "  then says \"object '...' from LD_PRELOAD cannot be preloaded\" in the job's output.\n"
    "- MPI is linked statically: ldd PROGRAM must list libmpi.\n"
    "- Its Fortran calls have no underscore (nm -D PROGRAM: mpi_init, not mpi_init_):\n"
    "  xlf without -qextname, gfortran -fno-underscoring. mpiprof does not intercept these.\n"
    "- The program did not reach MPI_Init, or the launcher did not start it (mpirun as root,\n"
    "  too few slots): check the job's own output.\n"
    "- The program fetches MPI's functions by dlsym (MPI.jl, ctypes), or those of an NCCL before\n"
    "  2.23: LD_PRELOAD=/path/libmpiprof.so:/path/libmpiprof-dlsym.so\n"
    "- The program never called MPI or NCCL, or ran as one rank that sent nothing.\n"
    "- MPIPROF_RANKS, MPIPROF_DISABLE or a file of settings for everyone left it out:\n"
    "  mpiprof-report doctor says which; MPIPROF_CONFIG=none ignores such files.\n"
    "mpiprof-report doctor, where the job ran, looks for its profiles and into its output;\n"
    "mpiprof-report doctor -- mpirun -n 4 ./app looks at what was started.\n"
    "To see what happens, run with MPIPROF_VERBOSE=1: rank 0 then says where it writes.\n";

}  // namespace

std::vector<std::string> directories_with_profiles(const std::string& directory) {
    namespace fs = std::filesystem;
    std::vector<std::string> found;
    std::error_code error;
    std::size_t seen = 0;
    for (fs::directory_iterator at(directory, error), end; !error && at != end && ++seen < most_entries;
         at.increment(error)) {
        std::error_code ignored;
        if (!at->is_directory(ignored)) continue;
        for (fs::directory_iterator file(at->path(), ignored), last; !ignored && file != last && ++seen < most_entries;
             file.increment(ignored)) {
            if (!file->path().filename().string().starts_with("mpi_profile.")) continue;
            found.push_back(at->path().lexically_normal().string());
            break;
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

// Of the directories that settings name the one with profiles that was last written to; empty: there is none.
static std::string newest_in_force() {
    std::string newest;
    std::int64_t latest = 0;
    struct stat status {};
    for (const std::string& directory : directories_in_force())
        if (stat(directory.c_str(), &status) == 0 && status.st_mtim.tv_sec > latest && has_profiles(directory)) {
            newest = directory;
            latest = status.st_mtim.tv_sec;
        }
    return newest;
}

std::string explain_no_profile(const Found& found) {
    fmt::memory_buffer out;
    const auto add = [&](std::string_view text) { out.append(text); };
    const std::string where = found.directories.empty() ? "" : fmt::format(" in {}", joined(found.directories, ", "));
    const bool is_unreadable = !found.problems.empty();
    add(fmt::format("{}{}\n", is_unreadable ? "no readable profile" : "no profile (mpi_profile.<job>.<rank>)", where));
    for (std::size_t i = 0; i < std::min(found.problems.size(), most_problems); ++i)
        add("  " + found.problems[i] + "\n");
    if (found.problems.size() > most_problems)
        add(fmt::format("  and {} more\n", found.problems.size() - most_problems));
    if (found.has_unknown_word) add("It is not a command either: mpiprof-report --help\n");
    if (is_unreadable) return fmt::to_string(out);

    for (const std::string& directory : found.directories) {
        const auto below = directories_with_profiles(directory);
        for (std::size_t i = 0; i < std::min(below.size(), most_shown); ++i)
            add(fmt::format("{} has some: mpiprof-report {}\n", below[i], below[i]));
    }
    if (const std::string newest = newest_in_force(); !newest.empty())
        add(fmt::format("MPIPROF_DIR, or a file of settings, sends profiles to {}: mpiprof-report {}\n", newest,
                        newest));
    add(causes);
    return fmt::to_string(out);
}

std::string no_profile_in_short(const Found& found) {
    if (!found.problems.empty()) return "no readable profile: " + found.problems.front();
    for (const std::string& directory : found.directories)
        if (const auto below = directories_with_profiles(directory); !below.empty())
            return fmt::format("no profile here, but in {}: mpiprof-report {}", below.front(), below.front());
    if (const std::string newest = newest_in_force(); !newest.empty())
        return fmt::format("no profile here, but in {}: mpiprof-report {}", newest, newest);
    return "no profile here; was LD_PRELOAD lost? mpiprof-report doctor";
}

}  // namespace mpiprof::report
