// A command of mpiprof-report, such as `scaling`: a file with its options, which are members of its own, and what it
// does; and a row of commands.def. command_line.cpp makes them all and runs the one that was asked for.
#pragma once

#include <memory>

#include "report/commands/arguments.h"
#include "report/commands/options.h"

namespace mpiprof::report {

class Command {
  public:
    virtual ~Command() = default;
    // Says which options it takes, and where their values go.
    virtual void take(Arguments&) {}
    // The exit code: say.h has them.
    virtual int run(const Options& options) = 0;
};

// What the words are that are no options: a job's directories and files, several jobs', anything, or,
// behind --, another program's command line.
enum class Operands { one_job, several_jobs, anything, command_line };

#define COMMAND(name, operands, about, examples) std::unique_ptr<Command> make_##name();
#include "report/commands/commands.def"
#undef COMMAND

struct Section;
std::unique_ptr<Command> make_section(const Section& section);
std::unique_ptr<Command> make_hang(const Section& section);

}  // namespace mpiprof::report
