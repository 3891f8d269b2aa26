// A few lines at most, so that they are compared one by one.
#include "report/symbols/left_over_lines.h"

#include <algorithm>

#include "report/symbols/symbols.h"

namespace mpiprof::report {

std::vector<LeftOverLine> left_over_lines(const Job& job) {
    Symbols symbols;
    std::vector<LeftOverLine> lines;
    for (const LeftOver& left : job.left_over) {
        const Place& place = job.places[left.place];
        const Module& module = job.modules[place.module];
        const std::string text = short_place_text(symbols.at(module, place.offset), module, place.offset);
        const auto same = std::find_if(lines.begin(), lines.end(), [&](const LeftOverLine& line) {
            return line.sum.kind == left.kind && line.sum.call == left.call && line.place == text;
        });
        if (same == lines.end()) {
            lines.push_back({left, text});
            continue;
        }
        same->sum.count += left.count;
        same->sum.ranks = std::max(same->sum.ranks, left.ranks);
        same->sum.first_rank = std::min(same->sum.first_rank, left.first_rank);
    }
    return lines;
}

}  // namespace mpiprof::report
