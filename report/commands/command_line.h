// The command line: the commands, and the options of all of them bound to plain values. parse.cpp reads one with it,
// manual.cpp describes it. How CLI11 is told of them is command_line.cpp's alone, as is what arguments.h promises: its
// headers take the compiler longer than any file of ours.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/commands/command.h"

namespace mpiprof::report {

inline constexpr std::string_view completed_shells[] = {"bash", "fish", "zsh"};

// What --help and the manual say of an option and of a command.
struct OptionText {
    std::vector<std::string> names;  // with their dashes, short ones first
    std::string type, about;         // of its value, where it takes one
    bool takes_value = false;
    bool is_help = false;
    std::vector<std::string> choices;
};
struct CommandText {
    std::string name, about, footer;
    std::vector<OptionText> options;
    std::vector<CommandText> commands;
};

// What CLI11 did not take: in its words.
struct Misread {
    enum class Kind { answered, unexpected_word, missing_word, wrong } kind;  // answered: --help and --version
    std::string what;
};

struct CommandLine {
    CommandLine();
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;  // the app is bound to the others

    std::optional<Misread> read(std::vector<std::string> words);
    CommandText text() const;
    // After read(): the command and its kind, as far as they are named; and what nobody expected.
    std::vector<std::string> named() const;
    std::vector<std::string> unexpected_words() const;

    Options options;
    std::string color = "auto";
    bool is_brief = false;
    bool is_manual = false;  // the manual page is printed, and nothing else done
    std::string completion;  // the same of this shell's
    struct Known {
        std::string name;
        Operands operands;
        std::unique_ptr<Command> command;
    };
    std::vector<Known> commands;  // the first one is run where none is named
    Choices choices;
    const std::unique_ptr<CLI::App> app;
};

}  // namespace mpiprof::report
