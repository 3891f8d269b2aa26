// The command of a section: what it takes, and how the job is asked. hang.cpp adds to it.
#pragma once

#include <string>

#include "report/commands/command.h"
#include "report/merge/merge.h"
#include "report/sections/section.h"

namespace mpiprof::report {

class SectionCommand : public Command {
  public:
    explicit SectionCommand(const Section& section) : section_(section) {}
    void take(Arguments& arguments) override;
    int run(const Options& options) override;

  private:
    int show(Job& job, RankReader& reader, const Options& options);

    const Section& section_;
    Question question_;
    std::string topology_;  // a file; empty: none
};

}  // namespace mpiprof::report
