// Texts of mpitrace as tests read them: from a string, or through a directory to a text again.
#pragma once

#include <map>
#include <span>
#include <stdexcept>
#include <string>

#include "report/layouts/layout.h"
#include "report/read/mpitrace_text.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {

using report::Job;
using report::Profile;

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

inline Profile parse(const std::string& text, const std::string& path = "mpi_profile.4711.0") {
    auto profile = report::read_mpitrace(bytes_of(text), path);
    if (!profile) throw std::runtime_error(profile.error().line());
    return std::move(*profile);
}

inline std::string render(const Job& job, std::uint32_t rank, const char* layout) {
    const auto text = report::Listing(job, *report::find_layout(layout)).text(rank);
    return text ? *text : "problem: " + text.error().line();
}

// Text in a directory -> Job -> text.
inline std::string read_and_render(const std::string& text, const char* layout = "mpitrace") {
    const TemporaryDirectory directory;
    write_file(directory.path() / "mpi_profile.4711.0", text);
    return render(job_of(directory.path()), 0, layout);
}

struct Sums {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;
};

inline std::map<std::pair<std::string, unsigned>, Sums> sums_of(const Profile& profile) {
    std::map<std::pair<std::string, unsigned>, Sums> sums;
    for (const auto& cell : profile.cells) {
        Sums& sum = sums[{profile.calls.at(cell.call).name, cell.bin}];
        sum.calls += cell.calls;
        sum.bytes += cell.bytes;
        sum.time_ns += cell.time_ns;
    }
    return sums;
}

}  // namespace mpiprof::test
