// Those of call sites, of where ranks stand and of what is left over. Lines of scripts are in the profiles.
#include "report/commands/page_names.h"

#include "report/symbols/symbols.h"

namespace mpiprof::report {

void for_each_place(const Job& job, const std::function<void(const Module& module, std::uint64_t offset)>& take) {
    const auto add = [&](const Place& at, const std::vector<Module>& modules) {
        const Module& module = modules[at.module];
        if (!module.is_script && !module.path.empty()) take(module, at.offset);
    };
    for (const CallSite& site : job.sites.sites)
        for (const Place& frame : site.frames) add(frame, job.sites.modules);
    for (const Place& place : job.places) add(place, job.modules);
}

GivenNames names_of(const Job& job) {
    GivenNames names;
    Symbols symbols;
    for_each_place(job, [&](const Module& module, std::uint64_t offset) {
        names.add(module.path, module.build_id, offset, symbols.at(module, offset));
    });
    return names;
}

}  // namespace mpiprof::report
