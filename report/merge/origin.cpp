// Who the job is comes from its lowest rank; drops are added up; differences between ranks become notes.
#include "report/merge/origin.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "libmpiprof/format/facts.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_names = 16;  // different commands or MPI libraries that are told apart

void add_drops(Drops& to, const Drops& from) {
    for (const DropCount& one : drop_counts) to.*one.count += from.*one.count;
}

void add_name(std::map<std::string, std::uint32_t>& names, const std::string& name, std::uint32_t rank) {
    if (const auto found = names.find(name); found != names.end())
        found->second = std::min(found->second, rank);
    else if (names.size() < most_names)
        names.emplace(name, rank);
}

}  // namespace

void OriginPart::take_identity(const Profile& profile) {
    add_name(commands_, profile.command, profile.rank);
    add_name(mpi_libraries_, profile.mpi_library, profile.rank);
    if (profile.rank >= identity_rank_) return;
    identity_rank_ = profile.rank;
    identity_ = {.command = profile.command,
                 .executable = profile.executable,
                 .directory = profile.directory,
                 .launcher = profile.launcher,
                 .launch = profile.launch,
                 .job = profile.job,
                 .mpi_library = profile.mpi_library,
                 .mpi_family = profile.mpi_family,
                 .library_version = profile.library_version,
                 .size = profile.size,
                 .thread_level = profile.thread_level};
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
        if (fact.name == format::facts::not_profiled && (unseen_.size() < most_names || unseen_.contains(fact.value)))
            ++unseen_[fact.value];
        if (fact.name == format::facts::moves_unseen) movers.insert(fact.value);
        if (fact.name == format::facts::nccl_by_dlsym) ++with_fetched_nccl_;
        if (fact.name == format::facts::no_helper_thread) ++without_helper_;
        if (fact.name == format::facts::mpi_is_cuda_aware &&
            (fact.value == format::facts::yes || fact.value == format::facts::no))
            cuda_awareness_.insert(fact.value);
    }
    for (const std::string& name : movers)
        if (of_kernels_.size() < most_names || of_kernels_.contains(name)) ++of_kernels_[name];
}

void OriginPart::absorb(OriginPart&& other) {
    for (const auto& [name, rank] : other.commands_) add_name(commands_, name, rank);
    for (const auto& [name, rank] : other.mpi_libraries_) add_name(mpi_libraries_, name, rank);
    if (other.identity_rank_ < identity_rank_) {
        identity_ = std::move(other.identity_);
        identity_rank_ = other.identity_rank_;
    }
    add_drops(drops_, other.drops_);
    setup_ns_ = std::max(setup_ns_, other.setup_ns_);
    is_text_ |= other.is_text_;
    has_several_mpis_ |= other.has_several_mpis_;
    is_behind_a_tool_ |= other.is_behind_a_tool_;
    is_spawned_ |= other.is_spawned_;
    has_no_world_ |= other.has_no_world_;
    for (const auto& [library, ranks] : other.unseen_) unseen_[library] += ranks;
    for (const auto& [library, ranks] : other.of_kernels_) of_kernels_[library] += ranks;
    with_fetched_nccl_ += other.with_fetched_nccl_;
    without_helper_ += other.without_helper_;
    cuda_awareness_.merge(other.cuda_awareness_);
    notes_.insert(notes_.end(), std::make_move_iterator(other.notes_.begin()),
                  std::make_move_iterator(other.notes_.end()));
}

void OriginPart::note_differences(Job& job) const {
    using Kind = JobNote::Kind;
    const auto note = [&](Kind kind, const std::string& name = {}, std::uint64_t number = 0) {
        job.notes.push_back({.kind = kind, .name = name, .number = number});
    };
    const auto note_others = [&](const std::map<std::string, std::uint32_t>& names, Kind kind) {
        for (const auto& [name, rank] : names)
            if (rank != identity_rank_ && names.size() > 1) note(kind, name, rank);
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
    job.launch = std::move(identity_.launch);
    job.job = std::move(identity_.job);
    job.command = std::move(identity_.command);
    job.executable = std::move(identity_.executable);
    job.directory = std::move(identity_.directory);
    job.launcher = std::move(identity_.launcher);
    job.mpi_library = std::move(identity_.mpi_library);
    job.mpi_family = std::move(identity_.mpi_family);
    if (cuda_awareness_.size() == 1) job.is_cuda_aware = cuda_awareness_.contains("yes");
    job.library_version = std::move(identity_.library_version);
    job.size = identity_.size;
    job.thread_level = identity_.thread_level;
    job.drops = drops_;
    job.setup_ns = setup_ns_;
    job.is_text = is_text_;
    std::sort(notes_.begin(), notes_.end());
    notes_.erase(std::unique(notes_.begin(), notes_.end()), notes_.end());  // what many ranks met alike
    for (std::string& text : notes_)
        job.notes.push_back({.kind = JobNote::Kind::from_the_reader, .name = std::move(text)});
}

}  // namespace mpiprof::report
