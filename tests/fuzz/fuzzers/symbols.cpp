// Any bytes as what the process that looks into programs says, and as what it is asked. (What it does with a damaged
// program is its own end: tests/report/symbols_test.cpp.)
#include "report/symbols/messages.h"

#include <cstddef>
#include <cstdint>

#include "report/model/visible.h"
#include "report/symbols/symbols.h"
#include "tests/fuzz/fuzzers/pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mpiprof;
    const std::string_view message(reinterpret_cast<const char*>(data), size);
    if (const auto question = report::decode_question(message))
        if (!report::decode_question(report::encode(*question))) fuzz::broken("a question is not understood", message);
    if (const auto symbol = report::decode_symbol(message)) {
        if (!report::decode_symbol(report::encode(*symbol))) fuzz::broken("an answer is not understood", message);
        const std::string text = report::place_text(*symbol, {.path = "/bin/a", .build_id = {}}, size);
        fuzz::expect_safe_on_a_terminal(report::visible(text, true));
    }
    return 0;
}
