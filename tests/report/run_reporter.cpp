#include "tests/report/run_reporter.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/report/profile_builder.h"

namespace mpiprof::test {

Ran run_reporter(const std::filesystem::path& directory, std::vector<std::string> words,
                 std::vector<std::string> environment) {
    const TemporaryDirectory scratch;
    const std::filesystem::path out = scratch.path() / "out", err = scratch.path() / "err";
    const pid_t child = fork();
    if (child == 0) {
        if (chdir(directory.c_str()) != 0) _exit(99);
        dup2(open(out.c_str(), O_CREAT | O_WRONLY, 0600), 1);
        dup2(open(err.c_str(), O_CREAT | O_WRONLY, 0600), 2);
        clearenv();
        for (std::string& variable : environment) putenv(variable.data());
        std::string program = MPIPROF_REPORT;
        std::vector<char*> arguments{program.data()};
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        execv(program.c_str(), arguments.data());
        _exit(98);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), read_file(out), read_file(err)};
}

std::string answer_of(const Ran& ran) {
    const auto at = ran.out.find("\n  for this job: mpiprof-report COMMAND ");
    return at == std::string::npos ? ran.out : ran.out.substr(0, at);
}

}  // namespace mpiprof::test
