// Ten digits of a number: more would be noise of the arithmetic.
#include "report/model/json_value.h"

#include <cmath>
#include <string>

namespace mpiprof::report {
namespace {

std::string number(double value) { return std::isnan(value) ? "null" : fmt::format("{:.10g}", value); }

std::string list(const Series& series) {
    std::string out = "[";
    for (const double value : series) out += (out.size() > 1 ? ", " : "") + number(value);
    return out + "]";
}

struct Write {
    JsonWriter& json;
    std::string_view key;

    void operator()(std::monostate) const { json.raw_field(key, "null"); }
    void operator()(std::uint64_t count) const { json.field(key, count); }
    void operator()(double value) const { json.raw_field(key, number(value)); }
    void operator()(const std::string& text) const { json.field(key, text); }
    void operator()(const Series& series) const { json.raw_field(key, list(series)); }
    void operator()(Yes yes) const { json.field(key, yes.is); }
    void operator()(const Named& named) const { json.field(key, named.id); }
};

}  // namespace

void write_value(JsonWriter& json, std::string_view key, const Value& value) { std::visit(Write{json, key}, value); }

}  // namespace mpiprof::report
