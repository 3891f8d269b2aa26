// The commands and options as CLI11 is told of them, bound to the plain values that options.h has for main, and to
// those that parse_options.cpp looks at together first.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/options.h"

namespace mpiprof::report {

// What the options are bound to before they are looked at together.
struct RawOptions {
    std::optional<std::string> ranks;
    std::string color = "auto";
    std::string job_part = "rank0";
    std::optional<unsigned> width;
    std::optional<std::size_t> top;
    std::string time;
    std::string fail_on, fail_on_point;
    bool is_brief = false;
    std::string completion;  // of this shell is printed, and nothing else done
    bool is_manual = false;  // the same of the manual page
};

inline constexpr std::string_view completed_shells[] = {"bash", "fish", "zsh"};

struct CommandLine {
    CommandLine();
    CommandLine(const CommandLine&) = delete;  // the app is bound to the others

    CLI::App app{"Reads the profiles of an MPI job (mpi_profile.<job>.<rank>) and says where its time went.",
                 "mpiprof-report"};
    Options options;
    RawOptions raw;
    std::map<const CLI::Option*, std::vector<std::string>> choices;  // of options that take one of these words
};

}  // namespace mpiprof::report
