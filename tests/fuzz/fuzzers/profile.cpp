// Any bytes as a profile file, all the way to the screen.
#include <cstddef>
#include <cstdint>

#include "report/read/profile_reader.h"
#include "tests/fuzz/fuzzers/pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mpiprof;
    const report::ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
    const auto head = report::read_head(bytes, size, "mpi_profile.1.0");
    if (!head) fuzz::expect_safe_on_a_terminal("");
    const auto read = [&] { return report::read_profile(bytes, "mpi_profile.1.0", report::Detail::events); };
    if (read()) fuzz::report_on([&] { return std::move(*read()); });
    return 0;
}
