// Any bytes as a name: of a host, a file, a function. The demangler, what makes text safe for terminals, and the
// writer of JSON (the reporter writes JSON and reads none).
#include <cstddef>
#include <cstdint>
#include <string>

#include "report/model/json_writer.h"
#include "report/model/visible.h"
#include "report/symbols/demangle.h"
#include "tests/fuzz/fuzzers/pipeline.h"

namespace {

using namespace mpiprof;

void as_json(std::string_view name) {
    std::string text;
    const report::Sink sink = [&](std::string_view piece) { text += piece; };
    {
        report::JsonWriter json(sink);
        json.object([&] {
            json.field(name, name);
            json.array("list", std::string_view("ab"), [&](char) { json.item([&] { json.field("name", name); }); });
            json.object("more", [&] { json.field("number", name.size()); });
        });
    }
    fuzz::expect_json(text);
    fuzz::expect_json(report::json_string(name));
}

void on_screen(std::string_view name) {
    for (const bool utf8 : {true, false}) {
        const std::string text = report::visible(name, utf8);
        fuzz::expect_safe_on_a_terminal(text);
        if (text.find('\n') != std::string::npos) fuzz::broken("a name begins a line", text);
        const std::size_t width = report::display_width(text);
        for (const std::size_t columns : {std::size_t{0}, std::size_t{7}, width}) {
            const std::string_view part = report::fitting(text, columns);
            if (report::display_width(part) > columns) fuzz::broken("too wide", part);
        }
        if (report::fitting(text, width) != text) fuzz::broken("cut without need", text);
    }
    report::csv_field(name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string name(reinterpret_cast<const char*>(data), size);
    as_json(name);
    on_screen(name);
    on_screen(report::demangled(name));
    on_screen(report::demangled("_Z" + name));
    return 0;
}
