// From the numbers of an mpitrace text to a Profile: names, bins, kinds of traffic.
#include "report/read/mpitrace_text.h"

#include <array>
#include <limits>
#include <utility>

#include "report/model/visible.h"
#include "report/read/mpitrace_lines.h"

namespace mpiprof::report {

namespace {

constexpr std::string_view first_words = "Data for MPI rank ";

// What kind of traffic a routine is, by its name without "MPI_" and without the I of nonblocking and the Neighbor_
// of neighbourhood collectives. The first prefix that fits counts. The text knows no more than the name.
struct Kind {
    std::string_view prefix;
    Traffic traffic;
};
constexpr std::array kinds{
    Kind{"File_", Traffic::file},
    Kind{"Send_init", Traffic::local},
    Kind{"Ssend_init", Traffic::local},
    Kind{"Rsend_init", Traffic::local},
    Kind{"Bsend_init", Traffic::local},
    Kind{"Recv_init", Traffic::local},
    Kind{"Sendrecv", Traffic::exchange},
    Kind{"Send", Traffic::send},
    Kind{"Ssend", Traffic::send},
    Kind{"Rsend", Traffic::send},
    Kind{"Bsend", Traffic::send},
    Kind{"Recv", Traffic::receive},
    Kind{"Mrecv", Traffic::receive},
    Kind{"Buffer_attach", Traffic::none},
    Kind{"Buffer_", Traffic::completion},
    Kind{"Probe", Traffic::probe},
    Kind{"Mprobe", Traffic::probe},
    Kind{"Test", Traffic::completion},
    Kind{"Wait", Traffic::completion},
    Kind{"Start", Traffic::start},
    Kind{"Barrier", Traffic::sync},
    Kind{"Bcast", Traffic::collective},
    Kind{"Reduce_local", Traffic::local},
    Kind{"Reduce", Traffic::collective},
    Kind{"Allreduce", Traffic::collective},
    Kind{"Gather", Traffic::collective},
    Kind{"Allgather", Traffic::collective},
    Kind{"Scatter", Traffic::collective},
    Kind{"Alltoall", Traffic::collective},
    Kind{"Scan", Traffic::collective},
    Kind{"Exscan", Traffic::collective},
    Kind{"Accumulate", Traffic::one_sided},
    Kind{"Fetch_and_op", Traffic::one_sided},
    Kind{"Compare_and_swap", Traffic::one_sided},
    Kind{"Get_accumulate", Traffic::one_sided},
    Kind{"Raccumulate", Traffic::one_sided},
    Kind{"Rget", Traffic::one_sided},
    Kind{"Rput", Traffic::one_sided},
    Kind{"Put", Traffic::one_sided},
    Kind{"Win_allocate", Traffic::setup},
    Kind{"Win_create", Traffic::setup},
    Kind{"Win_free", Traffic::setup},
    Kind{"Win_attach", Traffic::none},
    Kind{"Win_detach", Traffic::none},
    Kind{"Win_", Traffic::sync},
    Kind{"Comm_rank", Traffic::none},
    Kind{"Comm_size", Traffic::none},
    Kind{"Comm_", Traffic::setup},
    Kind{"Pack", Traffic::local},
    Kind{"Unpack", Traffic::local},
};

Traffic traffic_of(std::string_view name) {
    if (name == "MPI_Get") return Traffic::one_sided;  // many local queries begin with it
    name.remove_prefix(std::min(name.size(), std::string_view("MPI_").size()));
    std::string blocking;
    for (const std::string_view prefix : {"Ineighbor_", "Neighbor_", "I"}) {
        if (!name.starts_with(prefix)) continue;
        blocking = name.substr(prefix.size());
        if (!blocking.empty() && blocking[0] >= 'a') blocking[0] = static_cast<char>(blocking[0] - 'a' + 'A');
        name = blocking;
        break;
    }
    for (const Kind& kind : kinds)
        if (name.starts_with(kind.prefix)) return kind.traffic;
    return Traffic::unknown;
}

std::uint64_t narrow(Wide value) {
    constexpr Wide most = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::uint64_t>(std::clamp<Wide>(value, 0, most));
}
std::uint64_t narrow(const std::optional<PrintedRange>& range) { return range ? narrow(range->value) : 0; }

// All messages of a bin have sizes of that bin, and so has their mean.
std::uint8_t bin_of(std::uint64_t bytes, std::uint64_t calls) {
    const std::uint64_t mean = bytes / calls + (bytes % calls != 0);
    return static_cast<std::uint8_t>(std::min(size_bin(mean), size_bins - 1));
}

// False if the sizes of some of its calls are listed nowhere. Their bytes are known, by the routine's row; how large
// each was, nobody has said: they stand at their mean.
bool add_routine(Profile& profile, const TextRoutine& routine) {
    const auto call = static_cast<std::uint16_t>(profile.calls.size());
    // mpitrace times every call, MPI_Comm_rank as well.
    profile.calls.push_back({.name = routine.name, .treatment = Treatment::timed, .traffic = traffic_of(routine.name)});
    std::uint64_t calls = routine.calls;
    std::uint64_t time_ns = narrow(routine.time.value);
    std::uint64_t bytes = narrow(routine.bytes.value);
    const std::uint64_t rounded = narrow(routine.bytes.high - routine.bytes.low);  // so much is no evidence of anything
    for (const TextBin& bin : routine.bins) {
        profile.cells.push_back({.call = call,
                                 .bin = bin_of(narrow(bin.bytes.value), bin.calls),
                                 .calls = bin.calls,
                                 .bytes = narrow(bin.bytes.value),
                                 .time_ns = narrow(bin.time.value)});
        calls -= std::min(calls, bin.calls);
        bytes -= std::min(bytes, narrow(bin.bytes.value));
        time_ns -= std::min(time_ns, narrow(bin.time.value));
    }
    if (calls == 0) return true;
    if (!routine.bins.empty() && bytes <= rounded) bytes = 0;
    const std::uint8_t bin = bytes == 0 ? std::uint8_t{0} : bin_of(bytes, calls);
    profile.cells.push_back({.call = call, .bin = bin, .calls = calls, .bytes = bytes, .time_ns = time_ns});
    return bytes == 0 || calls == 1;
}

void add_rank_table(Profile& profile, const MpitraceText& text) {
    for (const TextRank& line : text.ranks) {
        Usage usage;
        usage.user_ns = narrow(line.user.value);
        usage.system_ns = narrow(line.system.value);
        usage.max_resident_bytes = narrow(line.resident.value);
        usage.involuntary_switches = line.switches;  // the older layout counts both kinds, the newest only these
        profile.rank_table.push_back({.rank = line.rank,
                                      .host = line.host,
                                      .mpi_ns = narrow(line.communication.value),
                                      .elapsed_ns = narrow(line.elapsed.value),
                                      .usage = usage,
                                      .cpu = line.cpu,
                                      .place = line.place});
        if (line.rank != profile.rank) continue;
        profile.host = line.host;
        profile.node = line.host;
        profile.usage.involuntary_switches = line.switches;
    }
}

// mpi_profile.4711.0; with ADD_TIMESTAMP mpi_profile.4711.0619120102.0; long ago mpi_profile.0
struct NameParts {
    std::string job;
    std::string launch;
};
NameParts parts_of(std::string_view path) {
    std::string_view name = path.substr(path.find_last_of('/') + 1);
    if (name.ends_with(".txt")) name.remove_suffix(4);
    constexpr std::string_view stem = "mpi_profile.";
    if (!name.starts_with(stem)) return {.job = "", .launch = "mpitrace"};
    name.remove_prefix(stem.size());
    const auto last = name.find_last_of('.');
    if (last == std::string_view::npos) return {.job = "", .launch = "mpitrace"};
    const std::string launch(name.substr(0, last));
    return {.job = launch.substr(0, launch.find('.')), .launch = "mpitrace " + launch};
}

Profile profile_of(const MpitraceText& text, std::string_view path) {
    Profile profile;
    profile.path = path;
    profile.is_text = true;
    profile.rank = text.rank;
    profile.size = text.size;
    const NameParts name = parts_of(path);
    profile.job = name.job;
    profile.launch = name.launch;
    profile.elapsed_ns = narrow(text.elapsed);
    if (text.exclusive && text.elapsed)
        profile.paused_ns = narrow(std::max<Wide>(0, text.elapsed->value - text.exclusive->value));
    profile.usage.user_ns = narrow(text.user);
    profile.usage.system_ns = narrow(text.system);
    profile.usage.max_resident_bytes = narrow(text.resident);
    profile.threads.push_back({.kind = ThreadKind::main, .in_call = {}, .last_call = {}, .called_from = {}});
    profile.notes = text.notes;
    std::string not_listed;
    for (const TextRoutine& routine : text.routines) {
        if (profile.calls.size() > std::numeric_limits<std::uint16_t>::max()) break;
        if (add_routine(profile, routine) || not_listed.size() > 200) continue;
        not_listed += (not_listed.empty() ? "" : ", ") + visible(routine.name, false);
    }
    if (!not_listed.empty())
        profile.notes.push_back(
            fmt::format("{}: its lists of sizes lack calls of {}: these stand at their mean size", path, not_listed));
    add_rank_table(profile, text);
    return profile;
}

}  // namespace

bool looks_like_mpitrace(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 512));
    const auto at = text.find(first_words);
    if (at == std::string_view::npos || text.substr(0, at).find('\0') != std::string_view::npos) return false;
    return at == 0 || text[at - 1] == '\n';
}

Result<Profile> read_mpitrace(std::span<const std::byte> bytes, std::string_view path) {
    auto text = parse_mpitrace({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
    if (!text) return tl::make_unexpected(text.error());
    settle(*text);
    return profile_of(*text, path);
}

}  // namespace mpiprof::report
