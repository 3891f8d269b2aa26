// One program or library, opened with elfutils' libdwfl. libdwfl trusts what it reads, so only the process that
// symbols.cpp makes for it uses this.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "report/symbols/symbol.h"

namespace mpiprof::report {

class ModuleFile {
  public:
    // Opens what the profile names, if it is a regular file: a FIFO or a device is never waited for.
    ModuleFile(const std::string& path, std::string_view build_id);
    ~ModuleFile();
    ModuleFile(const ModuleFile&) = delete;
    ModuleFile& operator=(const ModuleFile&) = delete;

    // The call that returns to `offset`.
    Symbol at(std::uint64_t offset) const;

  private:
    struct Session;
    std::string open(const std::string& path, std::string_view build_id);

    std::unique_ptr<Session> session_;
    std::string problem_;
};

}  // namespace mpiprof::report
