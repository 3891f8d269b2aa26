// How a command says which options it takes: names as "-o,--output", where the value goes, a line for --help. The one
// door to CLI11, whose headers only command_line.cpp reads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/commands/options.h"
#include "report/compare/run.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mpiprof::report {

// Of options that take one of these words.
using Choices = std::map<const CLI::Option*, std::vector<std::string>>;

class Arguments {
  public:
    // `options`: where the values of those go that several commands take.
    Arguments(CLI::App& app, Options& options, Choices& choices) : app_(app), options_(options), choices_(choices) {}

    void flag(const char* names, bool& to, const std::string& about);
    void text(const char* names, std::string& to, const std::string& about, const char* type);
    void texts(const char* names, std::vector<std::string>& to, const std::string& about, const char* type);
    // One of these words.
    void choice(const char* names, std::string& to, const std::string& about, const std::vector<std::string>& words,
                const char* type);
    void number(const char* names, std::optional<double>& to, const std::string& about, double least, double most,
                const char* type);
    // In seconds; 10m, 1h.
    void duration(const char* names, std::optional<double>& to, const std::string& about);
    // Whatever `read` makes of the word; it answers what is wrong with it, or nothing.
    void value(const char* names, const std::string& about, const char* type,
               std::function<std::string(const std::string& word)> read);
    // Of the option that was added last.
    void is_required();
    void needs(const char* name);

    // Those that several commands take.
    void view(const char* more = nullptr);  // `more`: another --format; --format and --top, of whoever shows tables
    void ranks(std::vector<std::uint32_t>& to, const std::string& about, bool* all = nullptr);
    void all_launches(const std::string& about);
    void interval(std::optional<double>& to);
    void compared(std::optional<TimeChoice>& time);  // of those that compare jobs

    void footer(const char* text);
    // A command within this one, as `plot ranks`; one of them has to be there.
    Arguments kind(const char* name, const char* about, std::function<void()> chosen);

  private:
    CLI::App& app_;
    Options& options_;
    Choices& choices_;
    CLI::Option* last_ = nullptr;
};

}  // namespace mpiprof::report
