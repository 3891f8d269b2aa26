// A job of which the profiles are files of ranks and files of nodes, side by side in ranks/ and nodes/. For tests that
// ask both the same, or that damage one of them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "libmpiprof/format/node_file.h"
#include "report/read/job_dir.h"
#include "tests/report/node_files.h"
#include "tests/report/run_reporter.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {

class NodeJob : public testing::Test {
  protected:
    void write(const std::vector<ProfileSpec>& ranks, const std::string& name = "ranks") {
        std::filesystem::create_directories(path() / name);
        for (const ProfileSpec& rank : ranks) write_profile(path() / name, rank);
    }
    // `job` as both, in ranks/ and nodes/.
    void write_both(const std::vector<ProfileSpec>& job) {
        write(job);
        as_node_files(path() / "ranks", path() / "nodes");
    }
    // Its node files are one, of all its ranks: ranges are ranks then.
    std::filesystem::path write_one_node(std::vector<ProfileSpec> job) {
        for (ProfileSpec& rank : job) rank.host = "node1";
        write_both(job);
        return path() / "nodes/mpi_profile.4711.node000000000001";
    }
    Ran run(std::vector<std::string> words) { return run_reporter(path(), std::move(words)); }
    static void change(const std::filesystem::path& file, std::uint64_t offset, const Bytes& bytes) {
        const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);
        ASSERT_EQ(pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)),
                  static_cast<ssize_t>(bytes.size()));
        close(fd);
    }
    report::Found find(const char* what) {
        report::Progress progress;
        return report::find_profiles({(path() / what).string()}, 2, progress);
    }
    static std::vector<std::uint32_t> ranks_of(const report::Found& found) {
        std::vector<std::uint32_t> ranks;
        for (const report::Launch& launch : found.launches)
            for (const report::RankFile& file : launch.files) ranks.push_back(file.rank);
        return ranks;
    }
    const std::filesystem::path& path() { return directory_.path(); }

  private:
    TemporaryDirectory directory_;
};

}  // namespace mpiprof::test
