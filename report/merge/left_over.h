// LeftOverPart: what the program's own code left over at MPI_Finalize, added up over some of a job's ranks. A part of a
// merge. What a library has made is the library's to free, and is left out; so is all of which it is not certain that
// every end was seen.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "report/merge/rank_profile.h"
#include "report/merge/spots.h"
#include "report/model/left_over.h"

namespace mpiprof::report {

class LeftOverPart {
  public:
    void add(const RankProfile& from);
    void absorb(LeftOverPart&& other);
    // Into Job::left_over, places and modules.
    void finish(Finishing& end);

  private:
    struct Key {
        LeftOverKind kind{};
        std::uint16_t call = 0;  // of the registry
        std::string path, build_id;
        std::uint64_t offset = 0;
        auto operator<=>(const Key&) const = default;
    };
    struct Entry {
        LeftOver left_over;  // without its numbers of the job
        Spot spot;
    };
    void take(const Key& key, const Entry& entry);

    std::map<Key, Entry> entries_;
};

}  // namespace mpiprof::report
