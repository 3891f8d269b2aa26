// "exchange (halo.c:12)"
#include "report/symbols/stacks.h"

#include <fmt/format.h>

#include "report/model/base_name.h"

namespace mpiprof::report {
namespace {

constexpr std::string_view not_told_apart = "(other call sites)";

std::string line_text(const SourceLine& line) {
    if (line.file.empty()) return line.function;
    const std::string at = fmt::format("{}:{}", base_name(line.file), line.line);
    return line.function.empty() ? at : fmt::format("{} ({})", line.function, at);
}

void add_frames(std::vector<std::string>& stack, const Symbol& symbol, const Module& module, std::uint64_t offset) {
    bool is_known = false;
    for (auto line = symbol.lines.rbegin(); line != symbol.lines.rend(); ++line) {
        std::string text = line_text(*line);
        if (text.empty()) continue;
        stack.push_back(std::move(text));
        is_known = true;
    }
    if (is_known) return;
    std::string text = place_text(symbol, module, offset);
    stack.push_back(text.empty() ? "(unknown)" : std::move(text));
}

}  // namespace

std::vector<std::string> stack_of(const CallSite& site, const Job& job, Symbols& symbols) {
    std::vector<std::string> stack;
    for (auto frame = site.frames.rbegin(); frame != site.frames.rend(); ++frame) {
        const Module& module = job.sites.modules[frame->module];
        add_frames(stack, symbols.at(module, frame->offset), module, frame->offset);
    }
    if (site.frames.empty()) stack.emplace_back(not_told_apart);
    stack.push_back(job.calls[site.call].name);
    return stack;
}

}  // namespace mpiprof::report
