// A setting of libmpiprof, and which rank had which value. merge/settings makes it; sections ask.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/words.h"

namespace mpiprof::report {

struct SettingValue {
    std::string value;
    SettingSource source = SettingSource::fallback;
    std::uint32_t count = 0;           // ranks
    std::vector<std::uint32_t> ranks;  // sorted; of the first value none: they are all that no other names
};

struct SettingRow {
    std::string name;
    std::vector<SettingValue> values{};  // the one of most ranks first
};

}  // namespace mpiprof::report
