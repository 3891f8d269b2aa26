// Listing, looking at the heads in parallel, grouping, choosing.
#include "report/read/job_dir.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "report/read/file.h"
#include "report/read/joined_launches.h"
#include "report/read/mpitrace_text.h"
#include "report/read/node_file.h"
#include "report/read/page_data.h"
#include "report/read/parallel.h"
#include "report/read/profile_reader.h"

namespace mpiprof::report {
namespace {

constexpr std::string_view file_prefix = "mpi_profile.";
constexpr std::string_view text_suffix = ".txt";
constexpr std::string_view merged_suffix = ".mpiprof";
constexpr std::string_view directory_prefix = "mpiprof.";

struct CloseDirectory {
    void operator()(DIR* directory) const { closedir(directory); }
};

bool may_be_ours(std::string_view name) {
    return (name.starts_with(file_prefix) && name.size() > file_prefix.size()) ||
           (name.ends_with(merged_suffix) && name.size() > merged_suffix.size());
}

// "mpiprof.4711", which `mpiprof run` makes: the profiles of one job.
bool may_be_of_a_job(std::string_view name) {
    return name.starts_with(directory_prefix) && name.size() > directory_prefix.size() &&
           !name.ends_with(merged_suffix);
}

// The names in a directory that profiles and merged files have, sorted; `below` it those in directories of jobs, too.
Result<std::vector<std::string>> profiles_in(const std::string& directory, bool below) {
    const std::unique_ptr<DIR, CloseDirectory> open(opendir(directory.c_str()));
    if (!open) return problem(directory, fmt::format("cannot be listed: {}", std::strerror(errno)));
    std::vector<std::string> names, jobs;
    while (const dirent* entry = readdir(open.get())) {
        const std::string_view name = entry->d_name;
        if (may_be_ours(name)) names.emplace_back(name);
        if (below && may_be_of_a_job(name)) jobs.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    std::sort(jobs.begin(), jobs.end());
    std::vector<std::string> paths;
    const std::string base = directory == "." ? "" : directory.ends_with('/') ? directory : directory + "/";
    for (const std::string& name : names) paths.push_back(base + name);
    for (const std::string& job : jobs)
        if (const auto of_job = profiles_in(base + job, false))
            paths.insert(paths.end(), of_job->begin(), of_job->end());
    return paths;
}

// The same file named twice, and the text that was written beside a profile, which is the same rank again. Named files
// are treated as those found in a directory: a shell makes both of mpi_profile.450.*
void drop_twins(std::vector<std::string>& paths) {
    // Most are as short as they can be, which is seen sooner than it is made so.
    const auto is_normal = [](const std::string& path) {
        return !path.starts_with('.') && path.find("/.") == path.npos && path.find("//") == path.npos;
    };
    const auto normal = [&](const std::string& path) {
        return is_normal(path) ? path : std::filesystem::path(path).lexically_normal().string();
    };
    std::unordered_map<std::string, bool> was_seen;
    was_seen.reserve(paths.size());
    for (const std::string& path : paths) was_seen.emplace(normal(path), false);
    std::erase_if(paths, [&](const std::string& path) {
        const auto known = was_seen.find(normal(path));
        const std::string& name = known->first;
        if (std::exchange(known->second, true)) return true;
        if (!name.ends_with(text_suffix)) return false;
        const std::string profile = name.substr(0, name.size() - text_suffix.size());
        return was_seen.contains(profile) || was_seen.contains(profile.substr(0, profile.rfind('.')));  // its node's
    });
}

struct Listing {
    std::vector<std::string> paths;
    std::vector<std::string> directories;
    std::vector<std::string> problems;
    bool only_files = true;
    bool has_unknown_word = false;
};

Listing list(const std::vector<std::string>& arguments) {
    Listing listing;
    for (const std::string& path : arguments) {
        struct stat info {};
        if (stat(path.c_str(), &info) != 0) {
            listing.has_unknown_word |= errno == ENOENT && path.find('/') == std::string::npos;
            listing.problems.push_back(fmt::format("{}: {}", path, std::strerror(errno)));
            continue;
        }
        if (!S_ISDIR(info.st_mode)) {
            listing.paths.push_back(path);
            continue;
        }
        listing.only_files = false;
        listing.directories.push_back(path);
        auto paths = profiles_in(path, true);
        if (!paths) {
            listing.problems.push_back(paths.error().line());
            continue;
        }
        std::move(paths->begin(), paths->end(), std::back_inserter(listing.paths));
    }
    drop_twins(listing.paths);
    return listing;
}

Head head_of(const Profile& profile, std::uint64_t modified_at_ns) {
    return {.launch = profile.launch,
            .job = profile.job,
            .job_ids = {},
            .command = profile.command,
            .mpi_library = profile.mpi_library,
            .rank = profile.rank,
            .size = profile.size,
            .started_at_ns = profile.started_at_ns ? profile.started_at_ns : modified_at_ns,
            .is_text = true};
}

struct Looked {
    RankFile file;
    Head head;
};

// What one path holds: a rank, or the ranks of a node or of a launch.
struct Looks {
    std::vector<Looked> files;
    std::vector<std::string> problems{};  // of some of them
};

// All that a merged file holds, as if its files were here.
Result<Looks> look_into_merged(const std::string& path) {
    auto opened = MergedFile::open(path);
    if (!opened) return tl::make_unexpected(opened.error());
    const MergedFile& merged = **opened;
    const merged::Header& header = merged.header();
    const Head common{.launch = merged.text(header.launch),
                      .job = merged.text(header.job),
                      .job_ids = {},
                      .command = merged.text(header.command),
                      .mpi_library = {},
                      .size = header.world_size,
                      .started_at_ns = header.started_at_ns,
                      .is_spawned = merged.has(merged::world_was_spawned)};
    std::vector<Looked> files;
    files.reserve(merged.files().size());
    for (const merged::File& record : merged.files()) {
        Head head = common;
        head.rank = record.rank;
        head.is_text = (record.flags & merged::is_text) != 0;
        files.push_back({{.rank = record.rank,
                          .path = merged.text(record.path),
                          .image_bytes = head.is_text ? 0 : record.bytes,
                          .is_text = head.is_text,
                          .merged = *opened,
                          .number = files.size()},
                         std::move(head)});
    }
    return Looks{std::move(files)};
}

// The ranks of a node, as if each had a file of its own.
Result<Looks> look_into_node(const std::string& path) {
    auto node = NodeFile::open(path);
    if (!node) return tl::make_unexpected(node.error());
    Looks looks;
    node->each_head([&](std::uint32_t range, const Result<FileBytes>& head) {
        RankFile file{.path = path, .range = range};
        if (!head) return looks.problems.push_back(head.error().line());
        auto read = read_head(head->bytes, head->file_size, file.name());
        if (!read) return looks.problems.push_back(read.error().line());
        file.rank = read->rank;
        file.image_bytes = read->image_bytes;
        looks.files.push_back({std::move(file), std::move(*read)});
    });
    if (looks.files.empty() && looks.problems.empty())
        return problem(path, "holds no profile", "the ranks of its node ended before recording began");
    return looks;
}

// What seems to be no profile, or cannot be read, may be a node's file of which the beginning is damaged: it is, if a
// profile begins where one of a rank would.
Result<Looks> look_into_damaged(const std::string& path, const Problem& seems) {
    Result<Looks> looks = look_into_node(path);
    if (!looks || looks->files.empty()) return tl::make_unexpected(seems);
    const auto line =
        problem(path, "is damaged at its beginning, which holds no rank", "its ranks are read; copy it again");
    looks->problems.insert(looks->problems.begin(), line.value().line());
    return looks;
}

Result<Looks> look_at(FileReader& reader, const std::string& path) {
    auto file = reader.read(path, head_bytes);
    if (!file) return look_into_damaged(path, file.error());
    if (looks_merged(file->bytes) || looks_like_page(file->bytes)) return look_into_merged(path);
    if (looks_like_node(file->bytes)) return look_into_node(path);
    const bool is_too_large = file->file_size > FileReader::largest_file;
    const auto one = [&](Head head) {
        RankFile rank{.rank = head.rank, .path = path, .image_bytes = head.image_bytes, .is_text = head.is_text};
        return Looks{{Looked{std::move(rank), std::move(head)}}};
    };
    if (is_too_large || !looks_like_mpitrace(file->bytes)) {
        auto head = is_too_large ? too_large(path, file->file_size) : read_head(file->bytes, file->file_size, path);
        return head || is_what_it_says(file->bytes) ? std::move(head).map(one) : look_into_damaged(path, head.error());
    }
    file = reader.read(path);
    if (!file) return tl::make_unexpected(file.error());
    const auto profile = read_mpitrace(file->bytes, path);
    if (!profile) return tl::make_unexpected(profile.error());
    return one(head_of(*profile, FileReader::times(path).modified_at_ns));
}

// Keeps one file of each rank: the one that started last.
void drop_duplicates(std::vector<Looked>& files, Launch& launch) {
    std::vector<Looked*> sorted;  // each is moved once
    for (Looked& file : files) sorted.push_back(&file);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Looked* a, const Looked* b) {
        if (a->head.rank != b->head.rank) return a->head.rank < b->head.rank;
        if (a->head.is_text != b->head.is_text) return b->head.is_text;
        if (!a->file.merged != !b->file.merged) return !a->file.merged;
        return a->head.started_at_ns > b->head.started_at_ns;
    });
    std::vector<Looked> in_order;
    in_order.reserve(files.size());
    for (Looked* file : sorted) in_order.push_back(std::move(*file));
    files = std::move(in_order);
    for (const Looked& file : files) {
        if (!launch.files.empty() && launch.files.back().rank == file.head.rank) {
            if (file.head.is_text && !launch.is_text) continue;  // what the profile says, once more
            if (file.file.merged) continue;                      // the same
            launch.problems.push_back(fmt::format("rank {} has two profiles: {} is used, {} is left out",
                                                  file.head.rank, launch.files.back().name(), file.file.name()));
            continue;
        }
        launch.files.push_back(file.file);
    }
}

// The size that most ranks agree on; a rank of another world has no place among them.
void drop_other_sizes(std::vector<Looked>& files, Launch& launch) {
    std::map<std::uint32_t, std::size_t> votes;
    for (const Looked& file : files) ++votes[file.head.size];
    const auto more = [](const auto& a, const auto& b) { return a.second < b.second; };
    launch.size = std::max_element(votes.begin(), votes.end(), more)->first;
    std::erase_if(files, [&](const Looked& file) {
        if (file.head.size == launch.size) return false;
        launch.problems.push_back(
            fmt::format("{} is from a world of {} ranks, the others from one of {}: it is left out", file.file.name(),
                        file.head.size, launch.size));
        return true;
    });
}

// A text says of which job it is, by its name, but not of which launch. Where profiles of that job are here, too, it is
// of the same launch, and stands for its rank if that has no other.
void take_texts_into_their_job(std::vector<Looked>& looked) {
    std::map<std::pair<std::string, std::uint32_t>, std::set<std::string>> launches_of;  // job and size
    for (const Looked& file : looked)
        if (!file.head.is_text && !file.head.is_spawned && !file.head.job.empty())
            launches_of[{file.head.job, file.head.size}].insert(file.head.launch);
    for (Looked& file : looked) {
        if (!file.head.is_text) continue;
        const auto found = launches_of.find({file.head.job, file.head.size});
        if (found != launches_of.end() && found->second.size() == 1) file.head.launch = *found->second.begin();
    }
}

void add_once(std::vector<std::string>& lines, std::string line) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
}

// What was said of a launch's files when they were merged.
void take_lines_of_merged(const std::vector<Looked>& files, Launch& launch) {
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

std::vector<Launch> group(std::vector<Looked> looked, unsigned threads) {
    take_texts_into_their_job(looked);
    // A spawned world has ranks of its own, which may share the identity of the launch that spawned them.
    std::map<std::pair<std::string, bool>, std::vector<Looked>> by_launch;
    for (Looked& file : looked) by_launch[{file.head.launch, file.head.is_spawned}].push_back(std::move(file));
    std::vector<Launch> launches;
    for (auto& [world, files] : by_launch) {
        Launch launch{.launch = world.first, .job = {}, .command = {}, .files = {}, .problems = {}};
        take_lines_of_merged(files, launch);
        drop_other_sizes(files, launch);
        const auto is_profile = [](const Looked& file) { return !file.head.is_text; };
        launch.is_text = std::none_of(files.begin(), files.end(), is_profile);
        drop_duplicates(files, launch);
        // What a text does not know, or only by when it was written, the profiles say.
        const auto first = launch.is_text ? files.begin() : std::find_if(files.begin(), files.end(), is_profile);
        launch.job = first->head.job;
        launch.command = first->head.command;
        launch.is_spawned = world.second;
        for (const Looked& file : files)
            if (!file.head.job_ids.empty()) add_once(launch.job_ids, file.head.job_ids);
        for (const Looked& file : files)
            if (file.head.is_text == launch.is_text)
                launch.started_at_ns = std::max(launch.started_at_ns, file.head.started_at_ns);
        launches.push_back(std::move(launch));
    }
    join_launches(launches, threads);
    // Newest first; a spawned world is younger than the program that spawned it, but not what people ask for.
    std::stable_sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) {
        return a.is_spawned != b.is_spawned ? b.is_spawned : a.started_at_ns > b.started_at_ns;
    });
    return launches;
}

}  // namespace

Found find_profiles(const std::vector<std::string>& paths, unsigned threads, Progress& progress) {
    Listing listing = list(paths.empty() ? std::vector<std::string>{"."} : paths);
    const std::vector<std::string>& files = listing.paths;
    progress.total_files = files.size();

    const unsigned workers = worker_count(threads, files.size());
    std::vector<FileReader> readers(workers);
    std::vector<Result<Looks>> heads(files.size());
    run_in_parallel(files.size(), workers, [&](std::size_t i, unsigned worker) {
        heads[i] = look_at(readers[worker], files[i]);
        ++progress.files;
    });

    Found found;
    found.directories = std::move(listing.directories);
    found.only_files = listing.only_files;
    found.has_unknown_word = listing.has_unknown_word;
    found.problems = std::move(listing.problems);
    std::vector<Looked> looked;
    looked.reserve(files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (!heads[i]) {
            found.problems.push_back(heads[i].error().line());
            continue;
        }
        for (std::string& line : heads[i]->problems) found.problems.push_back(std::move(line));
        if (heads[i]->files.empty()) continue;
        if (const auto& merged = heads[i]->files.front().file.merged) {
            found.only_files &= merged->has(merged::ranks_were_chosen);
            for (const merged::Line& line : merged->lines())
                if (line.kind == merged::of_file) add_once(found.problems, merged->text(line.text));
        }
        std::move(heads[i]->files.begin(), heads[i]->files.end(), std::back_inserter(looked));
    }
    found.launches = group(std::move(looked), threads);
    return found;
}

bool has_profiles(const std::string& directory) {
    const auto paths = profiles_in(directory, false);
    struct stat status {};
    return paths && std::ranges::any_of(*paths, [&](const std::string& path) {
               return stat(path.c_str(), &status) == 0 && status.st_uid == getuid();
           });
}

}  // namespace mpiprof::report
