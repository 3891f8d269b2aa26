// The ids of communicators are hashes of what NCCL itself gave all members, so one id in two launches is proof.
#include "report/read/joined_launches.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "libmpiprof/format/layout.h"
#include "report/read/parallel.h"
#include "report/read/profile_reader.h"

namespace mpiprof::report {
namespace {

using Ids = std::vector<std::uint64_t>;

bool may_be_a_part(const Launch& launch) {
    return !launch.is_text && !launch.is_spawned && launch.files.size() < launch.size &&
           launch.launch.starts_with(format::launch_by_parent);
}

// Those of the same size as another one, by their places.
std::vector<std::size_t> parts_among(const std::vector<Launch>& launches) {
    std::map<std::uint32_t, std::vector<std::size_t>> by_size;
    for (std::size_t i = 0; i < launches.size(); ++i)
        if (may_be_a_part(launches[i])) by_size[launches[i].size].push_back(i);
    std::vector<std::size_t> parts;
    for (const auto& [size, places] : by_size)
        if (places.size() > 1) parts.insert(parts.end(), places.begin(), places.end());
    return parts;
}

// The ids of MPI's communicators are hashes of members alone: other jobs have the same.
bool is_of_nccl(const Profile& profile, const Communicator& communicator) {
    if (communicator.id == 0 || communicator.is_id_ambiguous || communicator.size < 2) return false;
    return communicator.made_by ? profile.calls[*communicator.made_by].family == Family::nccl
                                : communicator.origin == Origin::unknown;
}

Ids ids_in(RankFileReader& reader, const RankFile& file) {
    Ids ids;
    const auto bytes = reader.read(file);
    if (!bytes) return ids;
    const auto profile = read_profile(bytes->bytes, file.name());
    if (!profile) return ids;
    for (const Communicator& communicator : profile->communicators)
        if (is_of_nccl(*profile, communicator)) ids.push_back(communicator.id);
    return ids;
}

// By part.
std::vector<Ids> ids_of(const std::vector<Launch>& launches, const std::vector<std::size_t>& parts, unsigned threads) {
    std::vector<std::pair<std::size_t, const RankFile*>> files;
    for (std::size_t part = 0; part < parts.size(); ++part)
        for (const RankFile& file : launches[parts[part]].files) files.emplace_back(part, &file);
    const unsigned workers = worker_count(threads, files.size());
    std::vector<RankFileReader> readers(workers);
    std::vector<Ids> found(files.size()), ids(parts.size());
    run_in_parallel(files.size(), workers,
                    [&](std::size_t i, unsigned worker) { found[i] = ids_in(readers[worker], *files[i].second); });
    for (std::size_t i = 0; i < files.size(); ++i) {
        Ids& all = ids[files[i].first];
        all.insert(all.end(), found[i].begin(), found[i].end());
    }
    return ids;
}

// Two that have the same rank are no parts of one: a trainer may talk to an inference job.
bool share_a_rank(const Launch& a, const Launch& b) {
    auto i = a.files.begin();
    auto k = b.files.begin();
    while (i != a.files.end() && k != b.files.end()) {
        if (i->rank == k->rank) return true;
        ++(i->rank < k->rank ? i : k);
    }
    return false;
}

// `part` becomes empty. What a launch is called is what the part of its lowest rank is.
void take(Launch& whole, Launch& part) {
    if (part.files.front().rank < whole.files.front().rank) std::swap(whole, part);
    whole.joined.push_back(part.launch);
    std::move(part.joined.begin(), part.joined.end(), std::back_inserter(whole.joined));
    std::move(part.job_ids.begin(), part.job_ids.end(), std::back_inserter(whole.job_ids));
    std::move(part.problems.begin(), part.problems.end(), std::back_inserter(whole.problems));
    std::vector<RankFile> files;
    files.reserve(whole.files.size() + part.files.size());
    std::merge(std::make_move_iterator(whole.files.begin()), std::make_move_iterator(whole.files.end()),
               std::make_move_iterator(part.files.begin()), std::make_move_iterator(part.files.end()),
               std::back_inserter(files), [](const RankFile& a, const RankFile& b) { return a.rank < b.rank; });
    whole.files = std::move(files);
    whole.started_at_ns = std::max(whole.started_at_ns, part.started_at_ns);
    whole.merged_at_ns = std::max(whole.merged_at_ns, part.merged_at_ns);
    part = {};
}

}  // namespace

void join_launches(std::vector<Launch>& launches, unsigned threads) {
    const std::vector<std::size_t> parts = parts_among(launches);
    if (parts.empty()) return;
    const std::vector<Ids> ids = ids_of(launches, parts, threads);
    std::vector<std::size_t> into(parts.size());  // which part took it
    std::iota(into.begin(), into.end(), std::size_t{0});
    const auto whole_of = [&](std::size_t part) {
        while (into[part] != part) part = into[part];
        return part;
    };
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::size_t> first_with;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const std::uint32_t size = launches[parts[whole_of(part)]].size;
        for (const std::uint64_t id : ids[part]) {
            const std::size_t a = whole_of(first_with.try_emplace({id, size}, part).first->second), b = whole_of(part);
            if (a == b || share_a_rank(launches[parts[a]], launches[parts[b]])) continue;
            take(launches[parts[a]], launches[parts[b]]);
            into[b] = a;
        }
    }
    std::erase_if(launches, [](const Launch& launch) { return launch.files.empty(); });
}

}  // namespace mpiprof::report
