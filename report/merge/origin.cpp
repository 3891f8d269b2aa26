// The part `origin`: what a job is and what to keep in mind about its profiles: program, libraries, launch, what was
// dropped, notes. Who the job is comes from its lowest rank; drops are added up; where ranks differ, notes name the
// others.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libmpiprof/format/facts.h"
#include "report/merge/keyed.h"
#include "report/merge/part.h"

namespace mpiprof::report {
namespace {

class OriginPart {
  public:
    void add(const RankProfile& from);
    void absorb(OriginPart&& other);
    // Job::settings are known by then.
    void finish(Finishing& end);

  private:
    static constexpr std::size_t most_names = 16;  // different commands or libraries that are told apart
    struct LowestRank {
        std::uint32_t rank = 0;
        void operator+=(const LowestRank& more) { rank = std::min(rank, more.rank); }
    };
    using Ranks = Keyed<std::string, std::uint32_t, most_names>;  // how many

    void take_identity(const Profile& profile);
    void note_differences(Job& job) const;

    Keyed<std::string, LowestRank, most_names> commands_, mpi_libraries_;
    RunFacts identity_;
    std::uint32_t identity_rank_ = 0xffffffff;
    std::uint32_t size_ = 0;
    Drops drops_;
    std::uint64_t setup_ns_ = 0;
    bool is_text_ = false;
    bool has_several_mpis_ = false;
    bool is_behind_a_tool_ = false;
    bool is_spawned_ = false;
    bool has_no_world_ = false;
    Ranks unseen_;      // by library that is not profiled
    Ranks of_kernels_;  // by library whose kernels communicate
    std::uint64_t with_fetched_nccl_ = 0;
    std::uint64_t without_helper_ = 0;  // ranks
    std::vector<std::string> notes_;
    std::set<std::string> cuda_awareness_;  // what MPI said: yes, no
};

void add_drops(Drops& to, const Drops& from) {
    for (const DropRow& one : drop_rows) to.*one.count += from.*one.count;
}

void OriginPart::take_identity(const Profile& profile) {
    commands_.add(profile.command, {profile.rank});
    mpi_libraries_.add(profile.mpi_library, {profile.rank});
    if (profile.rank >= identity_rank_) return;
    identity_rank_ = profile.rank;
    identity_ = profile;
    size_ = profile.size;
}

void OriginPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    take_identity(profile);
    add_drops(drops_, profile.drops);
    setup_ns_ = std::max(setup_ns_, profile.setup_ns);
    is_text_ |= profile.is_text;
    has_several_mpis_ |= profile.has_several_mpis;
    is_behind_a_tool_ |= profile.is_behind_a_tool;
    is_spawned_ |= profile.is_spawned;
    has_no_world_ |= profile.has_no_world && profile.mpi_family != "none";
    notes_.insert(notes_.end(), profile.notes.begin(), profile.notes.end());
    // It is called for kernels that communicate by themselves, and is in the dictionary where it was called.
    if (std::any_of(profile.calls.begin(), profile.calls.end(),
                    [](const Call& call) { return call.name == "ncclDevCommCreate"; }))
        ++of_kernels_["NCCL's device API"];
    std::set<std::string> movers;  // several of a library's files may have the same name
    for (const Fact& fact : profile.facts) {
        if (fact.kind != FactKind::process) continue;
        if (fact.name == format::facts::not_profiled) unseen_.add(fact.value, 1);
        if (fact.name == format::facts::moves_unseen) movers.insert(fact.value);
        if (fact.name == format::facts::nccl_by_dlsym) ++with_fetched_nccl_;
        if (fact.name == format::facts::no_helper_thread) ++without_helper_;
        if (fact.name == format::facts::mpi_is_cuda_aware &&
            (fact.value == format::facts::yes || fact.value == format::facts::no))
            cuda_awareness_.insert(fact.value);
    }
    for (const std::string& name : movers) of_kernels_.add(name, 1);
}

void OriginPart::absorb(OriginPart&& other) {
    commands_.absorb(std::move(other.commands_));
    mpi_libraries_.absorb(std::move(other.mpi_libraries_));
    if (other.identity_rank_ < identity_rank_) {
        identity_ = std::move(other.identity_);
        identity_rank_ = other.identity_rank_;
        size_ = other.size_;
    }
    add_drops(drops_, other.drops_);
    setup_ns_ = std::max(setup_ns_, other.setup_ns_);
    is_text_ |= other.is_text_;
    has_several_mpis_ |= other.has_several_mpis_;
    is_behind_a_tool_ |= other.is_behind_a_tool_;
    is_spawned_ |= other.is_spawned_;
    has_no_world_ |= other.has_no_world_;
    unseen_.absorb(std::move(other.unseen_));
    of_kernels_.absorb(std::move(other.of_kernels_));
    with_fetched_nccl_ += other.with_fetched_nccl_;
    without_helper_ += other.without_helper_;
    cuda_awareness_.merge(other.cuda_awareness_);
    append(notes_, std::move(other.notes_));
}

void OriginPart::note_differences(Job& job) const {
    using Kind = JobNote::Kind;
    const auto note = [&](Kind kind, const std::string& name = {}, std::uint64_t number = 0) {
        job.notes.push_back({.kind = kind, .name = name, .number = number});
    };
    const auto note_others = [&](const auto& names, Kind kind) {
        for (const auto& [name, lowest] : names)
            if (lowest.rank != identity_rank_ && names.size() > 1) note(kind, name, lowest.rank);
    };
    note_others(commands_, Kind::another_program);
    note_others(mpi_libraries_, Kind::another_mpi_library);
    if (has_several_mpis_) note(Kind::several_mpi_libraries);
    if (is_behind_a_tool_) note(Kind::tool_in_front);
    for (const auto& [library, ranks] : unseen_) note(Kind::library_not_profiled, library, ranks);
    for (const auto& [library, ranks] : of_kernels_) note(Kind::moves_unseen, library, ranks);
    if (with_fetched_nccl_) note(Kind::nccl_fetched, {}, with_fetched_nccl_);
    for (const SettingRow& row : job.settings) {
        const SettingValue& setting = row.values.front();
        if (setting.source == SettingSource::fallback) continue;
        if (row.name == "COLLECTIVE_BARRIER" && setting.value != "none") note(Kind::barrier_setting, setting.value);
        if (row.name == "RANKS" && !job.chosen_ranks.empty()) note(Kind::ranks_setting, setting.value);
        const bool is_bound = row.name == "MAX_FILES" || row.name == "MAX_BYTES";
        if (is_bound && !job.chosen_ranks.empty())
            note(Kind::bounded_ranks, "MPIPROF_" + row.name + "=" + setting.value);
        if (row.name == "FUNCTIONS" && setting.value != "all") note(Kind::functions_setting, setting.value);
    }
    if (without_helper_) note(Kind::no_helper_thread, {}, without_helper_);
    if (is_spawned_) note(Kind::spawned);
    if (has_no_world_) note(Kind::sessions_only);
    if (identity_.mpi_family.empty() && !identity_.mpi_library.empty() && !is_text_) note(Kind::unknown_mpi_family);
}

void OriginPart::finish(Finishing& end) {
    Job& job = end.job;
    note_differences(job);
    static_cast<RunFacts&>(job) = std::move(identity_);
    if (cuda_awareness_.size() == 1) job.is_cuda_aware = cuda_awareness_.contains("yes");
    job.size = size_;
    job.drops = drops_;
    job.setup_ns = setup_ns_;
    job.is_text = is_text_;
    std::sort(notes_.begin(), notes_.end());
    notes_.erase(std::unique(notes_.begin(), notes_.end()), notes_.end());  // what many ranks met alike
    for (std::string& text : notes_)
        job.notes.push_back({.kind = JobNote::Kind::from_the_reader, .name = std::move(text)});
}

}  // namespace

std::unique_ptr<MergePart> origin_part() { return std::make_unique<PartOf<OriginPart>>(); }

}  // namespace mpiprof::report
