// Run: a job reduced to what it takes to be compared with others, so that many and large ones fit into memory at once.
// Made of a Job as soon as it is read; scaling and difference are made of Runs. It makes no sentence.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/analysis/budget.h"
#include "report/analysis/figures.h"
#include "report/model/job.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {

// What a run was, before any of its times: what was said of it, how it was started, what it ran on and with. What
// explains that runs differ; run_facts.cpp finds it.
struct RunFact {
    enum class Kind : std::uint8_t { label, program, size, place, library, code, setting, environment };
    Kind kind = Kind::program;
    std::string name;
    std::string value;
};

std::vector<RunFact> facts_of(const Job& job);

// By kind and name the different values that several runs have, in the order of the runs.
using FactValues = std::map<std::pair<RunFact::Kind, std::string>, std::vector<std::string>>;
FactValues values_of(const std::vector<const std::vector<RunFact>*>& runs);

// Which time of a run is compared.
struct TimeChoice {
    enum class Kind : std::uint8_t {
        process,    // from the start of the process to MPI_Finalize, of the rank that took longest
        mpi,        // the same from the end of MPI_Init
        iteration,  // of one marked iteration: the mean
        region,     // in a region, of the rank that spent most there
    };
    Kind kind = Kind::process;
    std::string region;  // its path
};

enum class Ending : std::uint8_t { whole, stopped, running };  // stopped: some rank did not reach MPI_Finalize

// One (call, size bin, buffer) of a run.
struct RunCall {
    std::string call;
    Traffic traffic = Traffic::none;
    std::uint8_t bin = 0;
    Buffer buffer = Buffer::host;
    bool is_timed = true;
    bool is_posted = false;  // its time is not that of its bytes
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;  // over all ranks
    std::uint64_t gpu_bytes = 0;
    std::uint64_t gpu_ns = 0;
};

struct Run {
    std::string label;
    std::string in_a_line{};                                  // what ran when, on how many ranks
    std::vector<std::pair<std::string, std::string>> said{};  // by MPIPROF_LABELS and the program: key and value
    std::uint64_t started_at_ns = 0;                          // 0 = not known
    Ending ending = Ending::whole;
    std::uint32_t ranks = 0;     // of MPI_COMM_WORLD
    std::uint32_t profiles = 0;  // of these have one
    std::uint32_t expected = 0;  // should have one
    std::uint32_t nodes = 0;
    std::optional<std::uint64_t> cores;  // that its ranks were allowed
    std::optional<std::uint64_t> gpus;   // that they saw, or that NCCL counts
    std::string program{};               // its file
    const Vocabulary* words = nullptr;   // of the libraries that it communicates by; never null in a run of a job
    double process_s = 0;
    double mpi_s = 0;
    bool is_process_known = false;  // else process_s is from MPI_Init on
    Figures figures;
    Budget budget;  // the mean of its ranks
    std::vector<RegionRow> regions;
    std::vector<RunCall> calls;
    std::vector<RunFact> facts;

    double per_rank_s(std::uint64_t ns) const {
        return static_cast<double>(ns) / 1e9 / (profiles != 0 ? static_cast<double>(profiles) : 1.0);
    }
};

Run run_of(const Job& job, std::string label);

// Empty where the run has no such time.
std::optional<double> seconds_of(const Run& run, const TimeChoice& choice);

// The marks of the iterations that took most of the run; null: it marks none.
const RegionRow* iterations_of(const Run& run);

}  // namespace mpiprof::report
