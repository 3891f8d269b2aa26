// A value of a table as JSON: ids where it has one, null where it is not known. For views and exports.
#pragma once

#include <string_view>

#include "report/model/json_writer.h"
#include "report/model/table.h"

namespace mpiprof::report {

void write_value(JsonWriter& json, std::string_view key, const Value& value);

}  // namespace mpiprof::report
