// Text that has to fit into so many columns of a screen: cut, or broken into lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mpiprof::report {

// At most `width` columns, with an ellipsis where the rest was.
std::string cut(std::string_view text, std::size_t width, bool utf8);

// The same for "file:line scope::function": its scopes go first, from the outermost on, since it ends in what tells it
// apart.
std::string cut_place(std::string_view text, std::size_t width, bool utf8);

// Words of `text` in lines of at most `width` columns; a word that is longer is broken.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace mpiprof::report
