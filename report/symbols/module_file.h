// One program or library, opened with elfutils' libdwfl. libdwfl trusts what it reads, so only the process that
// symbols.cpp makes for it uses this. A file is believed only if it is proven to be the one that ran: by the build-id
// that both have; else by its own times, where it lies where the run saw it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "report/model/profile.h"
#include "report/model/symbol.h"

namespace mpiprof::report {

class ModuleFile {
  public:
    // Opens what the profile names, if it is a regular file: a FIFO or a device is never waited for.
    explicit ModuleFile(const Module& module);
    ~ModuleFile();
    ModuleFile(const ModuleFile&) = delete;
    ModuleFile& operator=(const ModuleFile&) = delete;

    // The call that returns to `offset`.
    Symbol at(std::uint64_t offset) const;

  private:
    struct Session;
    std::string open(const Module& module);

    std::unique_ptr<Session> session_;
    std::string problem_;
};

}  // namespace mpiprof::report
