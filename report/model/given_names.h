// What places in programs are called, where the file with the profiles brings it along: then no program is looked into
// on this machine, which may have none of them, and which a stranger's file may not send anywhere. read/ takes it from
// a page; symbols/ answers from it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "report/model/symbol.h"

namespace mpiprof::report {

class GivenNames {
  public:
    // The place `offset` in a module, as Module has it.
    void add(const std::string& path, const std::string& build_id, std::uint64_t offset, Symbol symbol);
    const Symbol* find(const std::string& path, const std::string& build_id, std::uint64_t offset) const;

    std::string packed() const;
    static std::optional<GivenNames> unpacked(std::string_view bytes);  // empty: they are damaged

  private:
    std::map<std::tuple<std::string, std::string, std::uint64_t>, Symbol> symbols_;
};

}  // namespace mpiprof::report
