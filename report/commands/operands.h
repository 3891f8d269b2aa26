// What the commands that compare several jobs are given: [LABEL=]DIR[:JOB], a profile, and for scaling N=SECONDS and
// files of them. Words become operands here, and directories Jobs, one after the other: a Job is handed over and gone.
// For the commands that take several.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/commands/options.h"
#include "report/model/job.h"
#include "report/model/result.h"
#include "report/read/job_dir.h"

namespace mpiprof::report {

struct Operand {
    std::string word;   // all of it
    std::string label;  // as it was given; empty: none
    std::string path;   // of a directory or file
    std::string job;    // of DIR:JOB
    // N=SECONDS, as it was typed.
    std::string n, seconds;

    bool is_pair() const { return !n.empty(); }
    // What heads columns: the label, else the name of the directory.
    std::string name() const;
};

Operand operand_of(const std::string& word);
// For commands that take one job: the only operand may be [LABEL=]DIR[:JOB] there, too.
void name_job(Options& options);

// Hands each job over with its label; of a directory the newest launch, or each. What is to be said beside the answer,
// such as problems with single files, goes to `remarks`. An operand without a profile is a problem. With --wait it is
// waited for until all its ranks have ended.
struct LoadedRun {
    Job job;
    std::string label;
    std::string source;              // the same of the same launch in the same place
    const Launch* launch = nullptr;  // its files, while it is handed over
};
struct LoadRemarks {
    std::vector<std::string> lines;
    bool is_complete = true;  // every rank of every job is there and has reached its end
    std::string_view or_else = "give directories with profiles, profiles or merged files";  // where a word is no job
    // Until when --wait waits, for all operands of a command together.
    std::optional<std::chrono::steady_clock::time_point> wait_until{};
};
Result<std::monostate> load_runs(const Options& options, const Operand& operand,
                                 const std::function<void(LoadedRun&&)>& take, LoadRemarks& remarks);

// The same of every word in turn. `instead` says what the command takes, where a word is N=SECONDS. The exit code: 2
// where there is such a word, 3 where one has no profile; both have been said.
int load_each(const Options& options, const std::vector<std::string>& words, std::string_view instead,
              const std::function<void(LoadedRun&&)>& take, LoadRemarks& remarks);
// What was named, or this directory where nothing was.
std::vector<std::string> words_of(const Options& options);

// Labels of runs that are shown beside each other: the second of one label is "run (2)".
class Labels {
  public:
    std::string apart(const std::string& label);

  private:
    std::map<std::string, unsigned> times_;
};

// The words of the two sides that diff compares: A B, or A1 A2 ... --against B1 B2 ...
struct Sides {
    std::vector<std::string> a, b;
};
Result<Sides> sides_of(const Options& options, const std::vector<std::string>& against);

// Lines of `n,seconds` or `n,seconds,series`, with or without a line of headings, as people write them and as
// `scaling --format csv` does.
struct TimeRow {
    double n = 1;
    double seconds = 0;
    std::string seconds_text;
    std::string series;
};
Result<std::vector<TimeRow>> read_times(const std::string& path);

// A number of units, or of seconds; empty: it is none.
std::optional<double> size_of(const std::string& text);
std::optional<double> positive_of(const std::string& text);

}  // namespace mpiprof::report
