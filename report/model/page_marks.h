// How a page of `mpiprof-report html` is known, and where in it its data are. page/ writes them, read/ finds them.
#pragma once

#include <string_view>

namespace mpiprof::report {

inline constexpr std::string_view page_beginning = "<!DOCTYPE html>";
inline constexpr std::string_view page_maker = "<meta name=\"generator\" content=\"mpiprof-report ";

// Each is base64 up to the end of its element: a merged file, and what places in its programs are called, deflated.
// Browsers take scripts of unknown types for data.
inline constexpr std::string_view launch_begins = "<script type=\"application/x-mpiprof-launch\">\n";
inline constexpr std::string_view names_begin = "<script type=\"application/x-mpiprof-names\">\n";
inline constexpr std::string_view data_end = "</script>";

}  // namespace mpiprof::report
