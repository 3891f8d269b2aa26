// How --help is laid out: that of a command lists all that the command takes, its own options first and then those
// that every command takes. command_line.cpp uses it; it knows no option by its name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mpiprof::report {

class Help : public CLI::Formatter {
  public:
    std::string make_usage(const CLI::App* app, std::string name) const override {
        std::string usage = CLI::Formatter::make_usage(app, std::move(name));
        if (const CLI::App* parent = app->get_parent())
            for (const CLI::Option* paths :
                 parent->get_options([](const CLI::Option* o) { return o->get_positional(); }))
                usage.insert(usage.find_last_not_of('\n') + 1, " " + make_option_usage(paths));
        return usage;
    }

    std::string make_positionals(const CLI::App* app) const override {
        return CLI::Formatter::make_positionals(app->get_parent() ? app->get_parent() : app);
    }

    // What every command takes stands where a command has no commands of its own.
    std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
        const CLI::App* parent = app->get_parent();
        if (!parent) return CLI::Formatter::make_subcommands(app, mode);
        const auto is_taken_too = [&](const CLI::Option* option) {
            return option->nonpositional() && option != parent->get_help_ptr() && option != parent->get_version_ptr() &&
                   !app->get_option_no_throw(option->get_name());
        };
        return make_group("Options of every command", false, parent->get_options(is_taken_too));
    }
};

}  // namespace mpiprof::report
