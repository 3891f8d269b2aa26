// Listing, looking at the heads in parallel, grouping, choosing.
#include "report/read/job_dir.h"

#include <dirent.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "report/read/file.h"
#include "report/read/looked.h"
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

// What one path holds: a rank, or the ranks of a node or of a launch.
struct Looks {
    std::vector<Looked> files;
    std::vector<std::string> problems{};  // of some of them
};

// All that a merged file holds, as if its files were here.
Result<Looks> look_into_merged(RecentTexts& recent, const std::string& path) {
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
        head.image_bytes = head.is_text ? 0 : record.bytes;
        files.push_back(recent.looked(std::move(head),
                                      {.path = merged.text(record.path), .merged = *opened, .number = files.size()}));
    }
    return Looks{std::move(files)};
}

// The ranks of a node, as if each had a file of its own.
Result<Looks> look_into_node(RecentTexts& recent, const std::string& path) {
    auto node = NodeFile::open(path);
    if (!node) return tl::make_unexpected(node.error());
    Looks looks;
    const SharedPath shared(path);
    node->each_head([&](std::uint32_t range, const Result<FileBytes>& head) {
        RankFile file{.path = shared, .range = range};
        if (!head) return looks.problems.push_back(head.error().line());
        auto read = read_head(head->bytes, head->file_size, file.name());
        if (!read) return looks.problems.push_back(read.error().line());
        looks.files.push_back(recent.looked(std::move(*read), std::move(file)));
    });
    if (looks.files.empty() && looks.problems.empty())
        return problem(path, "holds no profile", "the ranks of its node ended before recording began");
    return looks;
}

// What seems to be no profile, or cannot be read, may be a node's file of which the beginning is damaged: it is, if a
// profile begins where one of a rank would.
Result<Looks> look_into_damaged(RecentTexts& recent, const std::string& path, const Problem& seems) {
    Result<Looks> looks = look_into_node(recent, path);
    if (!looks || looks->files.empty()) return tl::make_unexpected(seems);
    const auto line =
        problem(path, "is damaged at its beginning, which holds no rank", "its ranks are read; copy it again");
    looks->problems.insert(looks->problems.begin(), line.value().line());
    return looks;
}

Result<Looks> look_at(FileReader& reader, RecentTexts& recent, const std::string& path) {
    auto file = reader.read(path, head_bytes);
    if (!file) return look_into_damaged(recent, path, file.error());
    if (looks_merged(file->bytes) || looks_like_page(file->bytes)) return look_into_merged(recent, path);
    if (looks_like_node(file->bytes)) return look_into_node(recent, path);
    const bool is_too_large = file->file_size > FileReader::largest_file;
    const auto one = [&](Head head) { return Looks{{recent.looked(std::move(head), {.path = path})}}; };
    if (is_too_large || !looks_like_mpitrace(file->bytes)) {
        auto head = is_too_large ? too_large(path, file->file_size) : read_head(file->bytes, file->file_size, path);
        return head || is_what_it_says(file->bytes) ? std::move(head).map(one)
                                                    : look_into_damaged(recent, path, head.error());
    }
    file = reader.read(path);
    if (!file) return tl::make_unexpected(file.error());
    const auto profile = read_mpitrace(file->bytes, path);
    if (!profile) return tl::make_unexpected(profile.error());
    return one(head_of(*profile, FileReader::times(path).modified_at_ns));
}

}  // namespace

Found find_profiles(const std::vector<std::string>& paths, unsigned threads, Progress& progress) {
    Listing listing = list(paths.empty() ? std::vector<std::string>{"."} : paths);
    const std::vector<std::string>& files = listing.paths;
    progress.total_files = files.size();

    const unsigned workers = worker_count(threads, files.size());
    std::vector<FileReader> readers(workers);
    std::vector<RecentTexts> recent(workers);
    std::vector<Result<Looks>> heads(files.size());
    run_in_parallel(files.size(), workers, [&](std::size_t i, unsigned worker) {
        heads[i] = look_at(readers[worker], recent[worker], files[i]);
        ++progress.files;
    });

    Found found;
    found.directories = std::move(listing.directories);
    found.only_files = listing.only_files;
    found.has_unknown_word = listing.has_unknown_word;
    found.problems = std::move(listing.problems);
    std::size_t ranks = 0;
    for (const auto& head : heads) ranks += head ? head->files.size() : 0;
    std::vector<Looked> looked;
    looked.reserve(ranks);
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
        heads[i]->files = std::vector<Looked>();
    }
    found.launches = group(std::move(looked), threads);
    constexpr std::size_t many = 10'000;
    if (ranks > many) malloc_trim(0);  // what the threads have used for listing, they do not need for merging
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
