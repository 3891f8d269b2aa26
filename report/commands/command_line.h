// The commands, and the options of all of them, as CLI11 is told of them and bound to plain values. parse.cpp reads a
// command line with it, manual.cpp describes it.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/commands/command.h"

namespace mpiprof::report {

inline constexpr std::string_view completed_shells[] = {"bash", "fish", "zsh"};

struct CommandLine {
    CommandLine();
    CommandLine(const CommandLine&) = delete;  // the app is bound to the others

    CLI::App app{"Reads the profiles of an MPI job (mpi_profile.<job>.<rank>) and says where its time went.",
                 "mpiprof-report"};
    Options options;
    std::string color = "auto";
    bool is_brief = false;
    bool is_manual = false;  // the manual page is printed, and nothing else done
    std::string completion;  // the same of this shell's
    struct Known {
        const CLI::App* app;
        Operands operands;
        std::unique_ptr<Command> command;
    };
    std::vector<Known> commands;  // the first one is run where none is named
    Choices choices;
};

}  // namespace mpiprof::report
