// Records that refer to each other are read as far as they can be; what leads nowhere is "not known".
#include "report/read/reading.h"

#include <algorithm>
#include <utility>

#include "report/read/this_machine.h"

namespace mpiprof::report {
namespace {

constexpr const char* package_folders[] = {"/site-packages/", "/dist-packages/", "/lib/python3"};

struct Range {
    std::uint64_t base;
    std::uint64_t end;
    std::uint32_t module;
};

// The calls that threads are in are known by their return addresses in the process.
void find_modules_of_calls(std::vector<Range> ranges, Profile& profile) {
    std::erase_if(ranges, [](const Range& range) { return range.module == 0 || range.base >= range.end; });
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.base < b.base; });
    const auto find = [&](Frame& frame) {
        const std::uint64_t address = frame.offset;
        auto range = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](std::uint64_t wanted, const Range& r) { return wanted < r.base; });
        if (range == ranges.begin() || (--range)->end <= address) return;
        frame = {.offset = address - range->base, .module = range->module};
    };
    for (Thread& thread : profile.threads) {
        find(thread.called_from);
        for (OpenRequest& request : thread.open_requests) find(request.called_from);
    }
    for (ProfileLeftOver& left : profile.left_over) find(left.made_at);
}

// By where Python's packages lie; "<frozen runpy>" lies nowhere.
bool is_of_a_package(const std::string& path) {
    if (path.starts_with('<')) return true;
    return std::any_of(std::begin(package_folders), std::end(package_folders),
                       [&](const char* folder) { return path.find(folder) != std::string::npos; });
}

// The process, or MPI_Init where that is not known.
std::uint64_t began_at(const Profile& profile) {
    const auto before = [](std::uint64_t moment, std::uint64_t ns) { return moment - std::min(moment, ns); };
    return profile.process_ns ? before(profile.updated_at_ns, profile.process_ns)
                              : before(profile.started_at_ns, profile.init_ns);
}

}  // namespace

void read_modules(Reading& r) {
    std::vector<Range> ranges;
    const bool ran_here = is_this_machine(r.profile.node);
    Texts texts(r.tables.bytes());
    r.profile.modules.reserve(r.tables.records(format::TableType::modules));
    r.tables.each<format::Module>(format::TableType::modules, [&](const format::Module& record, const format::Table&) {
        Module module;
        module.path = texts.at(record.path_offset, record.path_length);
        char hex[2 * sizeof record.build_id], *end = hex;
        for (std::uint32_t i = 0; i < std::min<std::uint32_t>(record.build_id_length, sizeof record.build_id); ++i)
            for (const unsigned half : {record.build_id[i] >> 4, record.build_id[i] & 0xf})
                *end++ = "0123456789abcdef"[half];
        module.build_id.assign(hex, end);
        if (record.language != format::Language::machine) {
            module.is_script = true;
            module.is_of_a_package = is_of_a_package(module.path);
            module.build_id = texts.at(record.function_offset, record.function_length);
        }
        module.run_began_ns = began_at(r.profile);
        module.ran_here = ran_here;
        ranges.push_back({record.base, record.end, static_cast<std::uint32_t>(r.profile.modules.size())});
        r.profile.modules.push_back(std::move(module));
    });
    find_modules_of_calls(std::move(ranges), r.profile);
}

void read_sites(Reading& r) {
    std::vector<Frame> frames;
    frames.reserve(r.tables.records(format::TableType::frames));
    r.tables.each<format::Frame>(format::TableType::frames, [&](const format::Frame& record, const format::Table&) {
        const bool is_known = record.module < r.profile.modules.size();
        frames.push_back({.offset = record.offset, .module = is_known ? record.module : 0});
    });
    std::size_t used = 0;
    r.profile.sites.reserve(r.tables.records(format::TableType::sites));
    r.tables.each<format::Site>(format::TableType::sites, [&](const format::Site& record, const format::Table&) {
        Site site;
        // Sites do not share frames, so hostile ones cannot make more of them than the file holds.
        if (lies_within(record.first_frame, record.frames, frames.size()) && (used += record.frames) <= frames.size())
            site.frames.assign(frames.begin() + record.first_frame,
                               frames.begin() + record.first_frame + record.frames);
        site.common = std::min<std::size_t>(std::max(record.flags & 15, 1), site.frames.size());
        r.profile.sites.push_back(std::move(site));
    });
    for (Cell& cell : r.profile.cells)
        if (cell.site >= r.profile.sites.size()) cell.site = 0;
    // Below the first code an index stands in place of an address.
    const auto look_into_scripts = [&](Frame& frame) {
        if (frame.module != 0 || frame.offset == 0 || frame.offset >= format::first_code) return;
        if (const Frame* line = r.profile.line_of(static_cast<std::uint32_t>(frame.offset))) frame = *line;
    };
    for (ProfileLeftOver& left : r.profile.left_over) look_into_scripts(left.made_at);
    for (Thread& thread : r.profile.threads) {
        if (thread.script_site >= r.profile.sites.size()) thread.script_site = 0;
        if (const Frame* line = thread.script_site ? r.profile.line_of(thread.script_site) : nullptr)
            thread.called_from = *line;
        for (OpenRequest& request : thread.open_requests) look_into_scripts(request.called_from);
    }
}

}  // namespace mpiprof::report
