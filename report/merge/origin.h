// OriginPart: what a job is and what to keep in mind about its profiles: program, libraries, launch, what was dropped,
// notes. Where ranks differ, the lowest one counts and a note names the others. A part of a merge.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "report/merge/rank_profile.h"
#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class OriginPart {
  public:
    void add(const RankProfile& from);
    void absorb(OriginPart&& other);
    // Job::settings are known by then.
    void finish(Finishing& end);

  private:
    struct Identity {
        std::string command;
        std::string executable;
        std::string directory;
        std::string launcher;
        std::string launch;
        std::string job;
        std::string mpi_library;
        std::string mpi_family;
        std::string library_version;
        std::uint32_t size = 0;
        std::uint32_t thread_level = 0;
    };

    void take_identity(const Profile& profile);
    void note_differences(Job& job) const;

    std::map<std::string, std::uint32_t> commands_, mpi_libraries_;  // -> lowest rank
    Identity identity_;
    std::uint32_t identity_rank_ = 0xffffffff;
    Drops drops_;
    std::uint64_t setup_ns_ = 0;
    bool is_text_ = false;
    bool has_several_mpis_ = false;
    bool is_behind_a_tool_ = false;
    bool is_spawned_ = false;
    bool has_no_world_ = false;
    std::map<std::string, std::uint32_t> of_kernels_;  // libraries whose kernels communicate -> ranks
    std::uint64_t with_fetched_nccl_ = 0;
    std::uint64_t without_helper_ = 0;  // ranks
    std::vector<std::string> notes_;
    std::set<std::string> cuda_awareness_;         // what MPI said: yes, no
    std::map<std::string, std::uint32_t> unseen_;  // libraries that are not profiled -> ranks
};

}  // namespace mpiprof::report
