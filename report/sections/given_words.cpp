// Numbers that are not known here belong to a newer NCCL.
#include "report/sections/given_words.h"

#include <fmt/format.h>

#include <iterator>

namespace mpiprof::report {
namespace {

constexpr const char* types[] = {"int8",    "uint8",   "int32",   "uint32",   "int64",      "uint64",
                                 "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};
constexpr const char* reductions[] = {"", " (sum)", " (product)", " (max)", " (min)", " (average)", " (own reduction)"};

}  // namespace

std::string given_text(const Given& given) {
    const std::string type =
        given.type < std::size(types) ? types[given.type] : fmt::format("of type {}", unsigned{given.type});
    return fmt::format("{} {}{}", given.count, type,
                       given.reduction < std::size(reductions) ? reductions[given.reduction] : " (new reduction)");
}

}  // namespace mpiprof::report
