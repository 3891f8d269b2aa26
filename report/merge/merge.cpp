// One PartialMerge per thread, absorbed one by one at the end.
#include "report/merge/merge.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "report/merge/partial_merge.h"
#include "report/model/sorted.h"
#include "report/model/sums.h"
#include "report/read/liveness.h"
#include "report/read/parallel.h"
#include "report/read/profile_reader.h"

namespace mpiprof::report {
namespace {

Result<Profile> read_rank(RankFileReader& reader, const Launch& launch, const RankFile& file, Progress* progress,
                          Detail detail = Detail::sums, const Thinning& thinning = {}) {
    const auto bytes = reader.read(file);
    if (!bytes) return tl::make_unexpected(bytes.error());
    if (progress) progress->bytes += bytes->bytes.size();
    auto profile = read_profile(bytes->bytes, file.name(), detail, thinning);
    if (profile && (profile->state == State::running || profile->is_in_finalize))
        look_for_life(*profile, RankFileReader::signs_of(file, *profile));
    if (profile && file.merged && file.merged->names())
        for (Module& module : profile->modules) module.names = file.merged->names();
    // Between listing and reading a file may have become another launch's; not in a merged one, whose profiles may be
    // of launches that were joined.
    const auto is_as_listed = [&] {
        return profile->rank == file.rank && profile->size == launch.size &&
               (file.merged || launch.is_called(profile->launch));
    };
    if (profile && !is_as_listed()) return problem(file.name(), "belongs to another launch by now", "it is left out");
    return profile;
}

// Ranks that were running when their files were merged are as they were then.
void note_snapshot(const Launch& launch, Job& job) {
    const auto runs = [](const Rank& rank) { return rank.state == State::running && rank.life == Life::running; };
    const auto running = std::count_if(job.ranks.begin(), job.ranks.end(), runs);
    if (launch.merged_at_ns == 0 || running == 0) return;
    job.notes.push_back({.kind = JobNote::Kind::merged_while_running,
                         .number = static_cast<std::uint64_t>(running),
                         .ns_since_1970 = launch.merged_at_ns});
}

// The numbers that calls have in a job.
class CallsOfJob {
  public:
    explicit CallsOfJob(const Job& job) {
        for (std::size_t i = 0; i < job.calls.size(); ++i)
            index_.emplace(job.calls[i].name, static_cast<std::uint16_t>(i));
    }
    std::optional<std::uint16_t> of(const Call& call) const {
        const auto found = index_.find(call.name);
        return found == index_.end() ? std::nullopt : std::optional(found->second);
    }

  private:
    std::unordered_map<std::string_view, std::uint16_t> index_;
};

}  // namespace

Result<Job> merge(const Launch& launch, unsigned threads, Progress& progress) {
    progress.files = 0;
    progress.total_files = launch.files.size();
    const unsigned workers = worker_count(threads, launch.files.size());
    std::vector<RankFileReader> readers(workers);
    CallRegistry registry;
    std::vector<PartialMerge> parts;
    for (unsigned worker = 0; worker < workers; ++worker) parts.emplace_back(registry);
    run_in_parallel(launch.files.size(), workers, [&](std::size_t i, unsigned worker) {
        PartialMerge& part = parts[worker];
        const auto profile =
            read_rank(readers[worker], launch, launch.files[i], &progress, Detail::sums,
                      [&](const Profile& rank, const Communicator& of) { return part.thinning(rank, of); });
        if (profile)
            part.add(*profile);
        else
            part.add_problem(profile.error().line());
        ++progress.files;
    });

    for (unsigned worker = 1; worker < workers; ++worker) parts[0].absorb(std::move(parts[worker]));
    Job job = parts[0].finish();
    if (job.ranks.empty()) return problem("", job.problems.empty() ? "no profile" : job.problems.front());
    job.problems.insert(job.problems.begin(), launch.problems.begin(), launch.problems.end());
    note_snapshot(launch, job);
    return job;
}

Result<Profile> RankReader::profile(std::uint32_t rank, Detail detail) {
    const RankFile* file = find_rank(launch_.files, rank);
    if (!file) return problem(fmt::format("rank {}", rank), "has no profile");
    return read_rank(reader_, launch_, *file, nullptr, detail);
}

Result<std::vector<Sum>> RankReader::cells(const Job& job, std::uint32_t rank) {
    const auto read = profile(rank);
    if (!read) return tl::make_unexpected(read.error());
    const CallsOfJob index(job);
    std::vector<Sum> sums = sums_of(*read);
    // A running job may have made a call for the first time since it was merged.
    std::erase_if(sums, [&](Sum& sum) {
        const auto number = index.of(read->calls[sum.call]);
        if (number) sum.call = *number;
        return !number;
    });
    sort_by(sums, &Sum::call, &Sum::bin, &Sum::buffer);
    return sums;
}

Result<CallSites> RankReader::sites(const Job& job, std::span<const std::uint32_t> ranks) {
    const CallsOfJob index(job);
    const auto part = sites_part();
    for (const std::uint32_t rank : ranks) {
        auto read = profile(rank);
        if (!read) return tl::make_unexpected(read.error());
        std::vector<std::uint16_t> call_map;
        for (const Call& call : read->calls) call_map.push_back(index.of(call).value_or(0));
        std::erase_if(read->cells, [&](const Cell& cell) { return !index.of(read->calls[cell.call]); });
        part->add({.profile = *read, .calls = call_map});
    }
    std::vector<std::uint16_t> same(job.calls.size());
    std::iota(same.begin(), same.end(), std::uint16_t{0});
    Job only_sites;
    Finishing end{.job = only_sites, .order = same};
    part->finish(end);
    return std::move(only_sites.sites);
}

}  // namespace mpiprof::report
