// Asks a process that is started with the environment of a launcher or a scheduler who it is (print_who.cpp). For the
// tests of what a process finds out about itself.
#pragma once

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

namespace mpiprof {

using Texts = std::vector<std::string>;
using Answers = std::map<std::string, std::string>;

inline std::vector<char*> pointers(Texts& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

inline std::string output_of(Texts command, Texts environment) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    pid_t pid = 0;
    const auto argv = pointers(command), envp = pointers(environment);
    EXPECT_EQ(posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), envp.data()), 0) << command[0];
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
    close(ends[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0) << text;
    return text;
}

inline Answers parsed(const std::string& text) {
    Answers answers;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\0', at);
        const std::string line = text.substr(at, end - at);
        answers[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
        at = end + 1;
    }
    return answers;
}

inline Answers who(const Texts& environment, const Texts& arguments = {}) {
    Texts command{PRINT_WHO};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return parsed(output_of(command, environment));
}

}  // namespace mpiprof
