// What a program has left over at MPI_Finalize: requests that nobody completed, and what it has made and never freed.
// The reader finds it in each profile, merge/left_over adds it up over ranks; analysis and exports ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mpiprof::report {

enum class LeftOverKind : std::uint8_t {
    request,     // posted or started, and not completed
    persistent,  // a request that is not in flight, and was not freed
    communicator,
    type,
};
// As exports spell it.
constexpr std::string_view name_of(LeftOverKind kind) {
    constexpr std::string_view names[] = {"request", "persistent", "communicator", "type"};
    return names[static_cast<std::size_t>(kind)];
}

// Of one kind, made by one call at one place.
struct LeftOver {
    LeftOverKind kind{};
    std::uint16_t call = 0;   // index into Job::calls
    std::uint32_t place = 0;  // index into Job::places
    std::uint64_t count = 0;  // over all ranks
    std::uint32_t ranks = 0;
    std::uint32_t first_rank = 0;
};

}  // namespace mpiprof::report
