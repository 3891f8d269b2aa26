// From tables to the screen, or to a pipe.
#include "report/commands/present.h"

#include "report/commands/pager.h"
#include "report/commands/say.h"

namespace mpiprof::report {

const View& view_of(const Options& options) {
    return options.format.empty() ? views().front() : *find_view(options.format);
}

int present(const Options& options, std::string_view name, const std::vector<Table>& tables) {
    const View& view = view_of(options);
    const std::string text = view.show({name, tables}, screen_for(stdout, options.screen));
    if (view.is_for_screen && show_in_pager(text, options.screen)) return fine;
    auto output = Output::open("");
    output->write(text);
    return finish(*output);
}

}  // namespace mpiprof::report
