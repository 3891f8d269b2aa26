// From SVG to the format that a file's name asks for. SVG is ours; PNG and PDF are made by librsvg where it was there
// when the reporter was built. For report/plot.cpp.
#pragma once

#include <string>

#include "report/model/result.h"

namespace mpiprof::report {

enum class PictureFormat : std::uint8_t { svg, png, pdf };

// By the end of the name; a problem where it is none of them, or cannot be written by this build.
Result<PictureFormat> picture_format(const std::string& path);

Result<std::string> picture_of(const std::string& svg, PictureFormat format);

}  // namespace mpiprof::report
