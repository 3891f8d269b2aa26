// What communicators and call sites are known by over all ranks. Of a site it is a hash of the call's name and of the
// frames that hold for all its calls, each by its file and the offset in it, so that it is the same wherever the file
// was loaded. For the parts of a merge that add up by these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "report/model/profile.h"

namespace mpiprof::report {

// How ranks know it of each other.
CommKind kind_of(const Communicator& communicator);

// Of one profile.
class SiteKeys {
  public:
    explicit SiteKeys(const Profile& profile);

    // Of calls at a site; 0: calls whose places are not told apart.
    static bool is_known(const Profile& profile, std::uint32_t site) {
        return site != 0 && site < profile.sites.size() && !profile.sites[site].frames.empty();
    }
    // One key of each call for those of all sites that are not known.
    std::uint64_t of(std::uint16_t call, std::uint32_t site);
    // 0: not known.
    std::uint64_t of_module(const Frame& frame) const {
        return frame.module != 0 && frame.module < modules_.size() ? modules_[frame.module] : 0;
    }
    static std::span<const Frame> common(const Site& site) { return {site.frames.data(), site.common}; }

  private:
    std::uint64_t of_frames(std::uint32_t site);

    const Profile& profile_;
    std::vector<std::uint64_t> calls_, modules_, sites_;
};

}  // namespace mpiprof::report
