// Sorted in place by launch, then by rank: a million ranks are in memory once.
#include "report/read/looked.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "report/read/joined_launches.h"
#include "report/read/merged_file.h"

namespace mpiprof::report {
namespace {

// Keeps one file of each rank: the one that started last. The files are sorted by rank then, and have gone to the
// launch.
void drop_duplicates(std::span<Looked> files, Launch& launch) {
    std::sort(files.begin(), files.end(), [](const Looked& a, const Looked& b) {
        if (a.file.rank != b.file.rank) return a.file.rank < b.file.rank;
        if (a.is_text() != b.is_text()) return b.is_text();
        if (!a.file.merged != !b.file.merged) return !a.file.merged;
        if (a.started_at_ns != b.started_at_ns) return a.started_at_ns > b.started_at_ns;
        return a.number < b.number;
    });
    launch.files.reserve(files.size());
    for (Looked& looked : files) {
        RankFile& file = looked.file;
        if (!launch.files.empty() && launch.files.back().rank == file.rank) {
            if (file.is_text && !launch.is_text) continue;  // what the profile says, once more
            if (file.merged) continue;                      // the same
            launch.problems.push_back(fmt::format("rank {} has two profiles: {} is used, {} is left out", file.rank,
                                                  launch.files.back().name(), file.name()));
            continue;
        }
        launch.files.push_back(std::move(file));
    }
}

// The size that most ranks agree on; a rank of another world has no place among them.
std::span<Looked> drop_other_sizes(std::span<Looked> files, Launch& launch) {
    std::map<std::uint32_t, std::size_t> votes;
    for (const Looked& file : files) ++votes[file.size];
    const auto more = [](const auto& a, const auto& b) { return a.second < b.second; };
    launch.size = std::max_element(votes.begin(), votes.end(), more)->first;
    const auto left_out = std::remove_if(files.begin(), files.end(), [&](const Looked& file) {
        if (file.size == launch.size) return false;
        launch.problems.push_back(
            fmt::format("{} is from a world of {} ranks, the others from one of {}: it is left out", file.file.name(),
                        file.size, launch.size));
        return true;
    });
    return files.first(static_cast<std::size_t>(left_out - files.begin()));
}

// A text says of which job it is, by its name, but not of which launch. Where profiles of that job are here, too, it is
// of the same launch, and stands for its rank if that has no other.
void take_texts_into_their_job(std::vector<Looked>& looked) {
    if (std::none_of(looked.begin(), looked.end(), [](const Looked& file) { return file.is_text(); })) return;
    std::map<std::pair<std::string, std::uint32_t>, std::set<std::string>> launches_of;  // job and size
    for (const Looked& file : looked)
        if (!file.is_text() && !file.is_spawned && !file.texts->job.empty())
            launches_of[{file.texts->job, file.size}].insert(file.texts->launch);
    for (Looked& file : looked) {
        if (!file.is_text()) continue;
        const auto found = launches_of.find({file.texts->job, file.size});
        if (found == launches_of.end() || found->second.size() != 1) continue;
        LaunchTexts texts = *file.texts;
        texts.launch = *found->second.begin();
        file.texts = std::make_shared<const LaunchTexts>(std::move(texts));
    }
}

// What was said of a launch's files when they were merged.
void take_lines_of_merged(std::span<const Looked> files, Launch& launch) {
    const MergedFile* last = nullptr;
    for (const Looked& file : files) {
        if (!file.file.merged || file.file.merged.get() == last) continue;
        last = file.file.merged.get();
        launch.merged_at_ns = std::max(launch.merged_at_ns, last->header().merged_at_ns);
        for (const merged::Line& line : last->lines())
            if (line.kind == merged::of_launch)
                add_once(launch.problems, last->text(line.text));
            else if (line.kind == merged::job_ids)
                add_once(launch.job_ids, last->text(line.text));
    }
}

Launch launch_of(std::span<Looked> files) {
    Launch launch{.launch = files.front().texts->launch, .job = {}, .command = {}, .files = {}, .problems = {}};
    launch.is_spawned = files.front().is_spawned;
    take_lines_of_merged(files, launch);
    files = drop_other_sizes(files, launch);
    const auto is_profile = [](const Looked& file) { return !file.is_text(); };
    launch.is_text = std::none_of(files.begin(), files.end(), is_profile);
    drop_duplicates(files, launch);
    // What a text does not know, or only by when it was written, the profiles say.
    const auto first = launch.is_text ? files.begin() : std::find_if(files.begin(), files.end(), is_profile);
    launch.job = first->texts->job;
    launch.command = first->texts->command;
    const LaunchTexts* last = nullptr;
    for (const Looked& file : files) {
        if (file.is_text() == launch.is_text) launch.started_at_ns = std::max(launch.started_at_ns, file.started_at_ns);
        if (std::exchange(last, file.texts.get()) == file.texts.get() || file.texts->job_ids.empty()) continue;
        add_once(launch.job_ids, file.texts->job_ids);
    }
    return launch;
}

}  // namespace

void add_once(std::vector<std::string>& lines, std::string line) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
}

std::vector<Launch> group(std::vector<Looked> looked, unsigned threads) {
    take_texts_into_their_job(looked);
    for (std::size_t i = 0; i < looked.size(); ++i) looked[i].number = static_cast<std::uint32_t>(i);
    // A spawned world has ranks of its own, which may share the identity of the launch that spawned them.
    const auto compare = [](const Looked& a, const Looked& b) {
        const int order = a.texts == b.texts ? 0 : a.texts->launch.compare(b.texts->launch);
        return order != 0 ? order : a.is_spawned - b.is_spawned;
    };
    std::sort(looked.begin(), looked.end(), [&](const Looked& a, const Looked& b) {
        const int order = compare(a, b);
        return order != 0 ? order < 0 : a.number < b.number;
    });
    std::vector<Launch> launches;
    for (std::size_t begin = 0, end = 0; begin < looked.size(); begin = end) {
        while (end < looked.size() && compare(looked[begin], looked[end]) == 0) ++end;
        launches.push_back(launch_of(std::span(looked).subspan(begin, end - begin)));
    }
    looked = std::vector<Looked>();
    join_launches(launches, threads);
    // Newest first; a spawned world is younger than the program that spawned it, but not what people ask for.
    std::stable_sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) {
        return a.is_spawned != b.is_spawned ? b.is_spawned : a.started_at_ns > b.started_at_ns;
    });
    return launches;
}

}  // namespace mpiprof::report
