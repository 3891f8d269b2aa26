// From tables to the screen, or to a pipe.
#include "report/commands/present.h"

#include "report/commands/say.h"

namespace mpiprof::report {

const View& view_of(const Options& options) {
    return options.format.empty() ? views().front() : *find_view(options.format);
}

int present(const Options& options, std::string_view name, const std::vector<Table>& tables) {
    auto output = Output::open("");
    output->write(view_of(options).show({name, tables}, screen_for(stdout, options.screen)));
    return finish(*output);
}

}  // namespace mpiprof::report
