// An export hands over a whole Job to other programs. One file each, with a function export_NAME, and one line in
// exports.def. It streams: one rank is in memory at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/job.h"
#include "report/model/json_writer.h"
#include "report/model/profile.h"
#include "report/model/result.h"

namespace mpiprof::report {

class Analysed;

using ProfileSource = std::function<Result<Profile>(std::uint32_t rank)>;
using Complaint = std::function<void(const Problem& problem)>;  // a rank that cannot be read any more

struct Export {
    std::string_view name;  // what -f takes
    std::string_view about;
    // Returns what is to be said besides, one line each.
    std::vector<std::string> (*write)(const Analysed& all, const ProfileSource& profile_of, const Sink& sink,
                                      const Complaint& complain);
    bool wants_events = false;    // profiles with their traces
    bool is_of_launches = false;  // each launch that is found, one after the other
};

std::span<const Export> exports();
const Export* find_export(std::string_view name);

}  // namespace mpiprof::report
