// Text from outside (host names, command lines, file names) made harmless to show: control characters, escape
// sequences, direction overrides and broken UTF-8 become visible. Views, exports and messages use it.
#pragma once

#include <string>
#include <string_view>

namespace mpiprof::report {

// ESC becomes \x1b, a newline \n. With `utf8` false everything beyond ASCII is escaped as well.
std::string visible(std::string_view text, bool utf8);

// Columns a terminal needs for text that is visible().
std::size_t display_width(std::string_view text);
// The longest beginning that fits into `width` columns.
std::string_view fitting(std::string_view text, std::size_t width);

std::string json_string(std::string_view text);  // quoted; broken UTF-8 becomes U+FFFD
std::string csv_field(std::string_view text);    // quoted where needed
std::string in_markup(std::string_view text);    // of SVG and HTML: it begins no tag and ends no attribute
// "key=value" to stand among others of its kind with commas between them: what would part them is %2C or %3D in it.
std::string pair_field(std::string_view key, std::string_view value);

}  // namespace mpiprof::report
