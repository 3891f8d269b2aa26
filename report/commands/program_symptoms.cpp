// One function for each kind of thing in a program's file; what they say comes in the order of what decides most.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "report/commands/symptoms.h"
#include "report/model/base_name.h"
#include "report/read/losing_line.h"

namespace mpiprof::report {
namespace {

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
            if (const std::string name = which_of(mpis, base_name(library)); !name.empty())
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
        if (base_name(library).starts_with("libnccl.so") || base_name(library).starts_with("librccl.so"))
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
        if (const std::string tool = which_of(tools, base_name(library)); !tool.empty())
            symptoms.push_back(
                {Weight::remark,
                 fmt::format("{} ({}) is linked with it: preloaded, libmpiprof.so comes first and both count", tool,
                             library)});
        if (base_name(library).starts_with("libasan.so"))
            symptoms.push_back(
                {Weight::remark,
                 fmt::format("the address sanitizer has to come first: LD_PRELOAD={}:.../libmpiprof.so", library)});
    }
    return symptoms;
}

// A script, or a program that opens MPI by itself.
Symptoms if_nothing(const std::string& path, const ProgramFile& file, const Symptoms& found) {
    if (std::ranges::any_of(found, [](const Symptom& s) { return s.is_seen || s.weight == Weight::fatal; })) return {};
    if (const std::string line = losing_line(path); !line.empty())
        return {{Weight::fatal, fmt::format("{}: what it starts behind that line is not profiled", line)}};
    for (const std::string& inner : scripts_named_in(path, "."))
        if (const std::string line = losing_line(inner); !line.empty())
            return {{Weight::fatal,
                     fmt::format("it runs {}, {}: what that starts behind that line is not profiled", inner, line)}};
    if (!file.is_elf && !file.interpreter.empty())
        return {{Weight::remark,
                 fmt::format("it is a script for {}, whose children are profiled where the preload reaches them",
                             file.interpreter)}};
    if (!file.is_elf) return {{Weight::fatal, "it is no program"}};
    return {
        {Weight::remark,
         "it needs neither MPI nor NCCL: it is profiled if it opens one of them later (as Python does with mpi4py, and with plugins)"}};
}

}  // namespace

Symptoms symptoms_of_program(const std::string& path, const ProgramFile& file) {
    Symptoms symptoms = loading(file);
    add(symptoms, mpi(file));
    add(symptoms, nccl(file));
    add(symptoms, others(file));
    add(symptoms, if_nothing(path, file, symptoms));
    return symptoms;
}

}  // namespace mpiprof::report
