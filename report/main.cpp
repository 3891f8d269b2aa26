// mpiprof-report: reads the files that a job has left and answers one question, a command of commands/: find the
// profiles, choose a launch, read and merge its ranks, ask, show. Never changes a profile. Exit code: 0 fine, 1 a check
// failed, 2 usage, 3 no readable profile, 4 cannot tell, 5 stuck.
#include <malloc.h>

#include "report/commands/parse.h"
#include "report/views/terminal.h"

int main(int argc, char** argv) {
    // What is larger goes back to the system when it is freed: of very many ranks the reporter holds such pieces for a
    // while. By itself malloc keeps ever larger ones.
    mallopt(M_MMAP_THRESHOLD, 512 << 10);
    mpiprof::report::take_locale();
    return mpiprof::report::run_command(argc, argv);
}
