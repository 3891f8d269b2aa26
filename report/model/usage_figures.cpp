// The table of usage figures: how each is taken from a Usage, its key in json and its column in `ranks`.
#include "report/model/usage_figures.h"

#include <array>

namespace mpiprof::report {
namespace {

template <std::uint64_t Usage::*Figure>
std::optional<std::uint64_t> always(const Usage& usage) {
    return usage.*Figure;
}

// Of what older kernels and profiles do not tell.
template <std::uint64_t Usage::*Figure>
std::optional<std::uint64_t> with_processor_times(const Usage& usage) {
    return usage.ran_ns != 0 ? std::optional(usage.*Figure) : std::nullopt;
}

std::optional<std::uint64_t> switches(const Usage& usage) { return usage.switches(); }

constexpr std::uint64_t block = 512;

}  // namespace

std::span<const UsageFigure> usage_figures() {
    static const std::array figures{
        UsageFigure{always<&Usage::max_resident_bytes>,
                    "max_resident_bytes",
                    {.id = "max_resident_bytes", .title = "MAX RSS", .unit = Unit::bytes, .drop = 1}},
        UsageFigure{
            always<&Usage::user_ns>, "user_ns", {.id = "user_ns", .title = "USER", .unit = Unit::time, .drop = 7}},
        UsageFigure{always<&Usage::system_ns>,
                    "system_ns",
                    {.id = "system_ns", .title = "SYSTEM", .unit = Unit::time, .drop = 8}},
        UsageFigure{switches, "", {.id = "switches", .title = "SWITCHES", .unit = Unit::count, .drop = 9}},
        UsageFigure{always<&Usage::major_faults>,
                    "major_faults",
                    {.id = "major_faults", .title = "FAULTS", .unit = Unit::count, .drop = 10}},
        UsageFigure{always<&Usage::blocks_in>,
                    "blocks_in",
                    {.id = "read_bytes", .title = "READ", .unit = Unit::bytes, .drop = 11},
                    block},
        UsageFigure{always<&Usage::blocks_out>,
                    "blocks_out",
                    {.id = "written_bytes", .title = "WRITTEN", .unit = Unit::bytes, .drop = 11},
                    block},
        UsageFigure{.of = always<&Usage::minor_faults>,
                    .key = "minor_faults",
                    .column = {.id = "minor_faults", .title = {}, .unit = Unit::count, .only_data = true},
                    .is_at_end = true},
        UsageFigure{.of = always<&Usage::voluntary_switches>,
                    .key = "voluntary_switches",
                    .column = {.id = "voluntary_switches", .title = {}, .unit = Unit::count, .only_data = true},
                    .is_at_end = true},
        UsageFigure{.of = always<&Usage::involuntary_switches>,
                    .key = "involuntary_switches",
                    .column = {.id = "involuntary_switches", .title = {}, .unit = Unit::count, .only_data = true},
                    .is_at_end = true},
        UsageFigure{.of = with_processor_times<&Usage::ran_ns>, .key = "ran_ns", .column = {}},
        UsageFigure{.of = with_processor_times<&Usage::waited_ns>,
                    .key = "processor_wait_ns",
                    .column = {.id = "processor_wait_ns", .title = "CPU WAIT", .unit = Unit::time, .drop = 8},
                    .is_at_end = true},
        UsageFigure{.of = with_processor_times<&Usage::others_waited_ns>,
                    .key = "others_processor_wait_ns",
                    .column = {.id = "others_processor_wait_ns", .title = {}, .unit = Unit::time, .only_data = true},
                    .is_at_end = true},
    };
    return figures;
}

}  // namespace mpiprof::report
