// What became of the preload below a command, as /proc shows it while the command runs: which processes were started
// with it, which loaded it, which use MPI or NCCL. Asked by main.cpp when a run has left no profile. It only reads: no
// process is traced, none gets a variable. What daemons and other nodes start is not seen.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "launcher/process.h"

namespace mpiprof::launcher {

class Descent {
  public:
    // `library` is the path that is preloaded, `launcher` the word of the command that starts ranks, empty if there is
    // none.
    Descent(std::string library, std::string launcher);

    // Looks at the command's process and at all below it. Returns the time until the next look; 0: no more is to be
    // learned.
    std::chrono::milliseconds look(pid_t command);

    // Where the preload was lost: a clause for a person. Empty: it was not seen. `words` are the command's; the scripts
    // among them are read for the line that loses it.
    std::string where_lost(const Words& words) const;
    // "job.sh may have lost it (line 7: unset LD_PRELOAD)": a script among the words, one that was seen to run, or one
    // that such a one names, since a script that does little before its exec is not seen. Empty: none has such a line.
    std::string script_that_may_lose_it(const Words& words) const;

  private:
    // What a process runs until its next exec.
    struct Program {
        std::string identity;    // executable and arguments
        std::string executable;  // a path
        std::string script;      // the path of the script that an interpreter runs
        bool was_given = false;  // LD_PRELOAD of what it was started with names the library
        bool is_loaded = false;  // the library is in its memory
        bool uses_mpi_or_nccl = false;
        bool is_past_its_loader = false;  // what it was to load is loaded
        std::string name() const;
    };
    struct Process {
        pid_t parent = 0;
        std::vector<Program> programs;
    };
    struct Place {
        pid_t process = 0;
        std::size_t program = 0;
    };

    void look_at(pid_t process, pid_t parent);
    template <class Is>
    const Program* first_that(Is is, Place& place) const;
    template <class Is>
    const Program* nearest_above(Is is, Place place) const;
    std::string who_lost_it(Place place, const Words& words) const;

    std::string library_, launcher_;
    std::chrono::steady_clock::time_point began_;
    std::map<pid_t, Process> processes_;
    bool has_reached_a_rank_ = false;
};

}  // namespace mpiprof::launcher
