// The usual kinds of calls, and where tables lie in what was built.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "tests/report/profile_builder.h"

namespace mpiprof::test {
namespace {

using format::TableType;

CallSpec timed(std::string name, format::Traffic traffic, format::SizeRule rule, std::vector<CellSpec> cells) {
    return {.name = std::move(name), .traffic = traffic, .size_rule = rule, .cells = std::move(cells)};
}

}  // namespace

CallSpec collective(std::string name, std::vector<CellSpec> cells) {
    return timed(std::move(name), format::Traffic::collective, format::SizeRule::count_type, std::move(cells));
}
CallSpec setup(std::string name, std::vector<CellSpec> cells) {
    return timed(std::move(name), format::Traffic::setup, format::SizeRule::none, std::move(cells));
}
// MPI_Isend, MPI_Irecv and their like leave a request behind.
static CallSpec message(std::string name, format::Traffic traffic, format::SizeRule rule, std::vector<CellSpec> cells) {
    const bool is_posted = name.starts_with("MPI_I");
    CallSpec call = timed(std::move(name), traffic, rule, std::move(cells));
    if (is_posted) call.arguments |= static_cast<std::uint8_t>(format::is_posted);
    return call;
}
CallSpec sends(std::string name, std::vector<CellSpec> cells) {
    return message(std::move(name), format::Traffic::send, format::SizeRule::count_type, std::move(cells));
}
CallSpec receives(std::string name, std::vector<CellSpec> cells) {
    return message(std::move(name), format::Traffic::receive, format::SizeRule::received, std::move(cells));
}
CallSpec sync(std::string name, std::vector<CellSpec> cells) {
    return timed(std::move(name), format::Traffic::sync, format::SizeRule::none, std::move(cells));
}
CallSpec completion(std::string name, std::vector<CellSpec> cells) {
    return timed(std::move(name), format::Traffic::completion, format::SizeRule::none, std::move(cells));
}
CallSpec file_access(std::string name, std::vector<CellSpec> cells) {
    return timed(std::move(name), format::Traffic::file, format::SizeRule::count_type, std::move(cells));
}
CallSpec counted(std::string name, std::uint64_t calls) {
    return {.name = std::move(name), .treatment = format::Treatment::counted, .calls = calls};
}

void run_here_and_now(ProfileSpec& spec) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    spec.host = host;
    spec.node = "a-boot/" + spec.host;
    spec.start_realtime_ns =
        static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1)) +
        spec.init_ns + spec.before_init_ns;
}

std::optional<TablePlace> table_of(const Bytes& bytes, TableType type, std::uint32_t thread) {
    format::Header header{};
    std::memcpy(&header, bytes.data(), std::min(sizeof header, bytes.size()));
    for (std::uint64_t at = header.directory_offset; at != 0;) {
        format::Directory directory{};
        std::memcpy(&directory, bytes.data() + at, sizeof directory);
        for (std::uint32_t i = 0; i < directory.used; ++i) {
            const std::size_t entry = at + sizeof directory + i * sizeof(format::Table);
            format::Table table{};
            std::memcpy(&table, bytes.data() + entry, sizeof table);
            if (table.type == type && table.thread == thread) return TablePlace{entry, table};
        }
        at = directory.next;
    }
    return std::nullopt;
}

}  // namespace mpiprof::test
