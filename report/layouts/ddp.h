// The texts of PyTorch's distributed data parallel benchmark: the table of benchmark.py, the file that its --json
// writes, and what its diff.py prints of two such files. Jobs are added one by one; a row is a region of marks over the
// ranks that marked in it. For list.cpp, the export and diff; it knows no options.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/model/job.h"
#include "report/model/json_writer.h"
#include "report/model/result.h"

namespace mpiprof::report {

class DdpReport {
  public:
    // The kinds of iterations that this job marks. "resnet50/4 GPUs" is a row of resnet50; marks outside all regions
    // are rows of what the label "model" says, or of the program.
    void add(const Job& job);
    bool is_empty() const { return benchmarks_.empty(); }

    std::string text() const;
    // The keys of the benchmark's file, and the labels beside them. What ran without DDP comes first of each result,
    // and is empty where nothing did: diff.py leaves the first out.
    void write_json(JsonWriter& json) const;
    // What diff.py prints of the files of both, and how many lines of it compare something: 0 where they have no model
    // with one batch size on one number of GPUs in common.
    struct Difference {
        std::string text;
        std::size_t compared = 0;
    };
    static Difference difference(const DdpReport& base, const DdpReport& test);

  private:
    struct Row {
        std::string shape;  // "2M/8G", "no ddp"
        bool is_without_ddp = false;
        std::vector<std::uint32_t> ranks;
        RegionRow marks;  // for its times
        double seconds_at(unsigned percent) const;
    };
    struct Benchmark {
        std::string model;
        std::uint64_t batch_size = 0;  // 0: the program did not say
        std::vector<Row> rows;         // without DDP first, then by their ranks
    };
    using Keys = std::vector<std::pair<std::string, std::string>>;  // sorted

    void add_key(const std::string& key, const std::string& value);
    void add_keys(const Job& job);
    static std::string row_text(const Benchmark& benchmark, const Row& row);
    static std::string benchmark_text(const Benchmark& benchmark);
    static void add_difference(const Benchmark& base, const Benchmark& test, Difference& difference);
    static std::vector<const Row*> results_of(const Benchmark& benchmark);

    Keys keys_;
    std::vector<Benchmark> benchmarks_;
};

// The table of one job. Of no marks: a problem.
Result<std::string> ddp_text(const Job& job);
Problem no_marks(const std::string& what);

}  // namespace mpiprof::report
