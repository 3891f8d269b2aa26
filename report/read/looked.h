// The ranks that were found, before they are launches: job_dir looks at the heads of their files, group() puts those of
// one launch together. What many ranks say alike is kept once. Opens no file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "report/read/launch.h"
#include "report/read/profile_reader.h"
#include "report/read/rank_files.h"

namespace mpiprof::report {

// What the ranks of a launch mostly say alike.
struct LaunchTexts {
    std::string launch, job, job_ids, command;
    bool operator==(const LaunchTexts&) const = default;
};

// A rank that was found. There may be a million, so it is small.
struct Looked {
    RankFile file;
    std::shared_ptr<const LaunchTexts> texts;
    std::uint64_t started_at_ns = 0;
    std::uint32_t size = 0;
    bool is_spawned = false;
    std::uint32_t number = 0;  // in the order of the paths

    bool is_text() const { return file.is_text; }
};

// One for each thread, so that ranks which say the same share it.
class RecentTexts {
  public:
    Looked looked(Head head, RankFile file) {
        LaunchTexts texts{std::move(head.launch), std::move(head.job), std::move(head.job_ids),
                          std::move(head.command)};
        if (!last_ || *last_ != texts) last_ = std::make_shared<const LaunchTexts>(std::move(texts));
        file.rank = head.rank;
        file.image_bytes = head.image_bytes;
        file.is_text = head.is_text;
        return {.file = std::move(file),
                .texts = last_,
                .started_at_ns = head.started_at_ns,
                .size = head.size,
                .is_spawned = head.is_spawned};
    }

  private:
    std::shared_ptr<const LaunchTexts> last_;
};

// Newest first, spawned worlds last.
std::vector<Launch> group(std::vector<Looked> looked, unsigned threads);

void add_once(std::vector<std::string>& lines, std::string line);

}  // namespace mpiprof::report
