// Part: some of a job's profiles added up. Adding a profile and absorbing another part are associative and
// commutative, so ranks may be added in any order by any thread. finish() makes the Job of it.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/merge/activities.h"
#include "report/merge/comms.h"
#include "report/merge/duration_counts.h"
#include "report/merge/facts.h"
#include "report/merge/gpu.h"
#include "report/merge/nccl_choices.h"
#include "report/merge/peers.h"
#include "report/merge/regions.h"
#include "report/merge/settings.h"
#include "report/merge/sites.h"
#include "report/merge/standings.h"
#include "report/merge/waits.h"
#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class Part {
  public:
    void add(const Profile& profile);
    void absorb(Part&& other);
    void add_problem(std::string line) { problems_.push_back(std::move(line)); }
    // The sums, sorted; identity (launch, size ...) is that of the lowest rank. The part is empty afterwards.
    Job finish();

  private:
    static constexpr unsigned slots_per_call = size_bins * 3;  // x kinds of buffers
    struct CallEntry {
        Call call;
        std::array<std::uint32_t, slots_per_call> row;   // + 1, into rows_; 0 = none
        std::array<std::uint32_t, size_bins> durations;  // + 1, into durations_
    };
    struct Durations {
        std::uint16_t call;
        std::uint8_t bin;
        DurationCounts counts;
        std::uint64_t requests = 0;
        std::uint64_t in_flight_ns = 0;
        std::uint64_t blocked_ns = 0;
        std::uint64_t inside_ns = 0;

        // Of a Histogram, or of another part's Durations.
        void add_requests(const auto& from) {
            requests += from.requests;
            in_flight_ns += from.in_flight_ns;
            blocked_ns += from.blocked_ns;
            inside_ns += from.inside_ns;
        }
    };
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

    std::uint16_t call_index(const Call& call);
    void map_calls(const Profile& profile);
    Row& row_of(std::uint16_t call, std::uint8_t bin, Buffer buffer);
    Durations& durations_of(std::uint16_t call, std::uint8_t bin);
    std::uint32_t intern(std::vector<std::string>& names, std::unordered_map<std::string, std::uint32_t>& index,
                         const std::string& name);
    void take_identity(const Profile& profile);
    Rank rank_of(const Profile& profile);
    void add_sums(const Profile& profile, Rank& rank);
    void extend_killed();
    void note_differences(Job& job) const;
    std::vector<std::uint16_t> sort_calls(Job& job);
    bool has_several_buffers(const Sum& sum) const;
    void sort_rows(Job& job, const std::vector<std::uint16_t>& order);
    void complete_texts();
    void sort_ranks(Job& job, const std::vector<std::uint16_t>& order);

    std::vector<CallEntry> calls_;
    std::unordered_map<std::string, std::uint16_t> call_of_name_;
    std::vector<Row> rows_;
    std::vector<Durations> durations_;
    std::vector<Rank> ranks_;
    std::vector<std::string> hosts_, nodes_;
    std::unordered_map<std::string, std::uint32_t> host_index_, node_index_;
    std::map<std::uint32_t, RankLine> rank_lines_;                   // from mpitrace's text
    std::map<std::string, std::uint32_t> commands_, mpi_libraries_;  // -> lowest rank
    StandingsPart standings_;
    FactsPart facts_;
    CommsPart comms_;
    SitesPart sites_;
    WaitsPart waits_;
    SettingsPart settings_;
    Identity identity_;
    std::uint32_t identity_rank_ = 0xffffffff;
    Drops drops_;
    std::uint64_t setup_ns_ = 0;
    bool is_text_ = false;
    bool has_several_mpis_ = false;
    bool is_behind_a_tool_ = false;
    bool is_spawned_ = false;
    bool has_no_world_ = false;
    std::vector<std::string> problems_, notes_;
    std::set<std::string> cuda_awareness_;         // what MPI said: yes, no
    std::map<std::string, std::uint32_t> unseen_;  // libraries that are not profiled -> ranks

    PeersPart peers_;
    RegionsPart regions_;
    ActivitiesPart activities_;
    GpuPart gpu_;
    NcclChoicesPart nccl_choices_;

    std::vector<std::uint16_t> call_map_;  // of the profile at hand -> calls_
};

}  // namespace mpiprof::report
