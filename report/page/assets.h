// The style and the script of the page, report.css and report.js. For page.cpp.
#pragma once

#include <string_view>

namespace mpiprof::report::page {

extern const std::string_view style, script;
extern const std::string_view style_hash, script_hash;  // as a Content-Security-Policy names them

}  // namespace mpiprof::report::page
