// Call sites -> function, file and line, inlined functions included, from a program's symbols and debug information on
// this machine. Sections ask it. It reads the files that the profile names, never the network, and says so where a
// file is another build than the one that ran: an offset into it would be a lie. The files are looked into by a process
// of its own, since a damaged one may be the end of whoever does. Of modules that bring their names along no file is
// looked for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "report/model/profile.h"
#include "report/model/symbol.h"

namespace mpiprof::report {

class Symbols {
  public:
    Symbols() = default;
    ~Symbols() { end_process(); }
    Symbols(const Symbols&) = delete;
    Symbols& operator=(const Symbols&) = delete;

    // The call that returns to `offset` in the module's file. The answer lives as long as this object.
    const Symbol& at(const Module& module, std::uint64_t offset);

    using ModuleKey = std::tuple<std::string, std::string, std::uint64_t, bool, const GivenNames*>;

  private:
    Symbol ask(const Module& module, std::uint64_t offset);
    bool start_process();
    void end_process();

    pid_t process_ = -1;
    int socket_ = -1;
    std::map<std::pair<ModuleKey, std::uint64_t>, Symbol> known_;  // by module and offset
    std::map<std::string, std::string> hopeless_;                  // path -> why
};

// "halo.f90:123 exchange", or what is known of it; parameters of the function are for data.
std::string source_text(const SourceLine& source, bool is_for_screen = true);

// On one line: "halo.f90:123 exchange", an inlined function with those it is in ("a.c:5 wait < a.c:90 main"), or
// what is known of it; "app+0x1234" if nothing is.
std::string place_text(const Symbol& symbol, const Module& module, std::uint64_t offset);

// The line alone, the innermost: "halo.f90:123", or what place_text() says where that is not known; no bare
// address.
std::string short_place_text(const Symbol& symbol, const Module& module, std::uint64_t offset);

}  // namespace mpiprof::report
