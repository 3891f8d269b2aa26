// Any bytes as a text file of mpitrace, all the way to the screen.
#include <cstddef>
#include <cstdint>

#include "report/read/mpitrace_text.h"
#include "tests/fuzz/fuzzers/pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mpiprof;
    const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
    report::looks_like_mpitrace(bytes);
    const auto read = [&] { return report::read_mpitrace(bytes, "mpi_profile.4711.0"); };
    if (read()) fuzz::report_on([&] { return std::move(*read()); });
    return 0;
}
