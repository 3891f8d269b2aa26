// Identity, drops and notes.
#include "report/merge/origin.h"
#include "libmpiprof/format/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "report/model/units.h"

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
    for (const Fact& fact : profile.facts) {
        if (fact.kind != FactKind::process) continue;
        if (fact.name == format::facts::not_profiled && (unseen_.size() < most_names || unseen_.contains(fact.value)))
            ++unseen_[fact.value];
        if (fact.name == format::facts::mpi_is_cuda_aware &&
            (fact.value == format::facts::yes || fact.value == format::facts::no))
            cuda_awareness_.insert(fact.value);
    }
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
    cuda_awareness_.merge(other.cuda_awareness_);
    notes_.insert(notes_.end(), std::make_move_iterator(other.notes_.begin()),
                  std::make_move_iterator(other.notes_.end()));
}

void OriginPart::note_differences(Job& job) const {
    const auto tell = [&](const std::map<std::string, std::uint32_t>& names, std::string_view what) {
        for (const auto& [name, rank] : names)
            if (rank != identity_rank_ && names.size() > 1)
                job.notes.push_back(
                    fmt::format("{} differs: rank {} has {}", what, rank, name.empty() ? "none" : name));
    };
    tell(commands_, "the program");
    tell(mpi_libraries_, "the MPI library");
    if (has_several_mpis_)
        job.notes.push_back("a second MPI library was met in some process; its calls are not recorded");
    if (is_behind_a_tool_)
        job.notes.push_back(
            "another tool comes before mpiprof: calls that it passes on by their PMPI_ names are missing here; "
            "name libmpiprof.so first in LD_PRELOAD");
    for (const auto& [library, ranks] : unseen_)
        job.notes.push_back(fmt::format(
            "{} is loaded on {} and not profiled: what the program asks of it, other than through MPI or NCCL, is in no figure",
            library, plural(ranks, "rank", "ranks")));
    for (const SettingRow& row : job.settings) {
        const SettingValue& setting = row.values.front();
        if (setting.source == SettingSource::fallback) continue;
        if (row.name == "COLLECTIVE_BARRIER" && setting.value != "none")
            job.notes.push_back(
                fmt::format("MPIPROF_COLLECTIVE_BARRIER={}: a barrier came before these collectives; [barrier] is the "
                            "time in it, waiting for the last rank",
                            setting.value));
        if (row.name == "RANKS" && !job.chosen_ranks.empty())
            job.notes.push_back(fmt::format("MPIPROF_RANKS={}: only these ranks were profiled", setting.value));
        if (row.name == "FUNCTIONS" && setting.value != "all")
            job.notes.push_back(fmt::format("MPIPROF_FUNCTIONS={}: only these functions were recorded", setting.value));
    }
    if (is_spawned_) job.notes.push_back("these ranks are a world of their own: MPI_Comm_spawn started them");
    if (has_no_world_)
        job.notes.push_back("MPI was used in sessions, without MPI_Init: ranks are numbered as the launcher did");
    if (identity_.mpi_family.empty() && !identity_.mpi_library.empty() && !is_text_)
        job.notes.push_back("this MPI library is of no known family: calls and times are recorded, sizes are not");
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
    job.notes.insert(job.notes.end(), notes_.begin(), notes_.end());
}

}  // namespace mpiprof::report
