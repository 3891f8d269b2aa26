// The launch that a page of `mpiprof-report html` carries, and what places in its programs are called. A page may come
// from anybody: what it holds is bounded, and no path in it is opened. For merged_file; commands have the data made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "report/model/given_names.h"
#include "report/model/result.h"
#include "report/read/bytes.h"

namespace mpiprof::report {

inline constexpr std::size_t page_head_bytes = 4096;
bool looks_like_page(ByteSpan beginning);

struct PageData {
    std::vector<std::byte> launch;  // a merged file
    std::shared_ptr<const GivenNames> names;
};
// A Problem where it has none, or is damaged.
Result<PageData> data_in_page(ByteSpan page, const std::string& path);

// The same as texts for page::Page.
std::string launch_text(ByteSpan merged_file);
std::string names_text(const GivenNames& names);

}  // namespace mpiprof::report
