// Writes docs/coverage.md from the rows of both calls.def: which functions of MPI and NCCL are wrapped, in which
// languages, and how the message size of each is defined. A developer runs it after changing a row; a test runs it with
// --check.
#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "libmpiprof/calls/call.h"
#include "libmpiprof/format/layout.h"

namespace {

using mpiprof::SizeRule;
using mpiprof::Traffic;
using mpiprof::Treatment;

struct Row {
    std::string name;
    bool large = false;
    Treatment treatment = Treatment::passed;
    Traffic traffic = Traffic::none;
    SizeRule rule = SizeRule::none;
    std::string reason = {};
};

const std::vector<Row>& rows() {
    static const std::vector<Row> all = {
#define MPI(Name, name, arity, treatment, traffic, rule, words, ...) \
    {"MPI_" #Name, false, Treatment::treatment, Traffic::traffic, SizeRule::rule},
#define MPI_C(Name, name, arity, treatment, traffic, rule, words, ...) \
    {"MPI_" #Name, true, Treatment::treatment, Traffic::traffic, SizeRule::rule},
#define MPI_SPECIAL MPI
#define MPI_PASSED(Name, reason) {"MPI_" #Name, false, Treatment::passed, Traffic::none, SizeRule::none, reason},
#include "libmpiprof/mpi/calls.def"
#undef MPI
#undef MPI_C
#undef MPI_SPECIAL
#undef MPI_PASSED
    };
    return all;
}

const std::vector<Row>& nccl_rows() {
    static const std::vector<Row> all = {
#define NCCL(Name, arity, treatment, traffic, rule, words, ...) \
    {"nccl" #Name, false, Treatment::treatment, Traffic::traffic, SizeRule::rule},
#define NCCL_SPECIAL NCCL
#define NCCL_PASSED(Name, reason) {"nccl" #Name, false, Treatment::passed, Traffic::none, SizeRule::none, reason},
#include "libmpiprof/nccl/calls.def"
#undef NCCL
#undef NCCL_SPECIAL
#undef NCCL_PASSED
    };
    return all;
}

struct SizeWords {
    SizeRule rule;
    std::string_view text;
};
constexpr std::array size_words{
    SizeWords{SizeRule::none, ""},
    SizeWords{SizeRule::count_type, "count x type size"},
    SizeWords{SizeRule::received, "what arrived, by the status; where there is none, the posted count x type size"},
    SizeWords{SizeRule::rblock, "one receive block: receive count x receive type size"},
    SizeWords{SizeRule::rblock_mine, "this rank's receive block: its entry of the receive counts x receive type size"},
    SizeWords{SizeRule::gather, "at the root one receive block, elsewhere the block sent"},
    SizeWords{SizeRule::gatherv, "at the root its own receive block, elsewhere the block sent"},
    SizeWords{SizeRule::scatter, "at the root one block sent, elsewhere the block received"},
    SizeWords{SizeRule::scatterv, "at the root its own block sent, elsewhere the block received"},
    SizeWords{SizeRule::alltoallv, "mean block: sum of the send counts x send type size / ranks"},
    SizeWords{SizeRule::alltoallw, "mean block: sum of each send count x its send type size / ranks"},
    SizeWords{SizeRule::rcounts_sum, "sum of the receive counts x type size"},
    SizeWords{SizeRule::rcount_times_size, "receive count x type size x ranks"},
    SizeWords{SizeRule::sendrecv,
              "sent + received (by the status, else as posted); a side with MPI_PROC_NULL counts 0"},
    SizeWords{SizeRule::sendrecv_replace,
              "sent + received (by the status, else as posted); a side with MPI_PROC_NULL counts 0"},
    SizeWords{SizeRule::one_element, "one element: type size"},
    SizeWords{SizeRule::partitioned, "partitions x count x type size"},
    SizeWords{SizeRule::neighbor_rcounts_mean,
              "mean block: sum of the receive counts x receive type size / incoming neighbours"},
    SizeWords{SizeRule::neighbor_alltoallv,
              "mean block: sum of the send counts x send type size / outgoing neighbours"},
    SizeWords{SizeRule::neighbor_alltoallw,
              "mean block: sum of each send count x its send type size / outgoing neighbours"},
    SizeWords{SizeRule::count_times_size, "count x type size x ranks"},
    SizeWords{SizeRule::scounts_sum, "sum of send counts x type size"},
    SizeWords{SizeRule::started, "sum over the started requests of what each was set up with"},
};

struct TrafficWords {
    Traffic traffic;
    std::string_view text;
};
constexpr std::array traffic_words{
    TrafficWords{Traffic::none, ""},
    TrafficWords{Traffic::send, "send"},
    TrafficWords{Traffic::receive, "receive"},
    TrafficWords{Traffic::exchange, "exchange"},
    TrafficWords{Traffic::collective, "collective"},
    TrafficWords{Traffic::one_sided, "one-sided"},
    TrafficWords{Traffic::file, "file"},
    TrafficWords{Traffic::completion, "completion"},
    TrafficWords{Traffic::probe, "probe"},
    TrafficWords{Traffic::sync, "synchronisation"},
    TrafficWords{Traffic::setup, "setup"},
    TrafficWords{Traffic::local, "local"},
    TrafficWords{Traffic::start, "start"},
};

// Rows that do more than record a call.
struct SpecialWords {
    std::string_view name, text;
};
constexpr std::array special_words{
    SpecialWords{"MPI_Init", "begins the profile; its own time is kept apart"},
    SpecialWords{"MPI_Init_thread", "begins the profile; its own time is kept apart"},
    SpecialWords{"MPI_Session_init", "the first begins the profile; its own time is kept apart"},
    SpecialWords{"MPI_Finalize", "ends the profile; its own time is kept apart"},
    SpecialWords{"MPI_Session_finalize", "the last ends the profile; its own time is kept apart"},
    SpecialWords{"MPI_Abort", "ends the profile, with the exit code"},
    SpecialWords{"MPI_Pcontrol", "0 pauses recording, 1 resumes it"},
    SpecialWords{"ncclGroupEnd", "timed, completion; says how many operations it launched"},
};

constexpr bool is_special(std::string_view name) {
    for (const SpecialWords& words : special_words)
        if (words.name == name) return true;
    return false;
}

constexpr std::string_view words_of(SizeRule rule) {
    for (const SizeWords& words : size_words)
        if (words.rule == rule) return words.text;
    return "?";
}
constexpr std::string_view words_of(Traffic traffic) {
    for (const TrafficWords& words : traffic_words)
        if (words.traffic == traffic) return words.text;
    return "?";
}

#define MPI(Name, name, arity, treatment, traffic, rule, words, ...)                        \
    static_assert(words_of(SizeRule::rule) != "?", #Name ": put its size rule into words"); \
    static_assert(words_of(Traffic::traffic) != "?", #Name ": put its traffic into words");
#define MPI_C MPI
#define MPI_SPECIAL(Name, ...) static_assert(is_special("MPI_" #Name), #Name ": say what it does more");
#define MPI_PASSED(Name, reason)
#include "libmpiprof/mpi/calls.def"
#undef MPI
#undef MPI_C
#undef MPI_SPECIAL
#undef MPI_PASSED

std::string recorded_as(const Row& row) {
    for (const SpecialWords& words : special_words)
        if (words.name == row.name) return std::string(words.text);
    if (row.treatment == Treatment::counted) return "counted";
    if (row.treatment == Treatment::polled) return "polled, " + std::string(words_of(row.traffic));
    return "timed, " + std::string(words_of(row.traffic));
}

constexpr std::string_view head = R"(# What is seen

This page is written by `tools/coverage.cpp` from the rows in `libmpiprof/mpi/calls.def` and
`libmpiprof/nccl/calls.def`; a test keeps them equal. [NCCL](#nccl) is at the end.

)";

constexpr std::string_view how_to_read = R"(
*Timed* calls may wait or move data: calls, bytes and time are recorded by message size. *Counted* calls are local
queries and object management: their number is recorded and no clock is read. *Polled* calls are questions that
programs ask in loops: all are counted, and every 16th is timed and stands for the 16, so their time is an estimate
and their number is not. It is never more than the time that passed since the sample before: where others keep a process
from its processor for a time slice in the middle of a poll, that slice counts once, and those that fall into polls that
are not timed are outside MPI. The columns between say by which names a function is wrapped: C, the large-count twin of MPI 4
(`MPI_Send_c`, and its names in Fortran), Fortran by `mpif.h` or `use mpi`, and by `use mpi_f08`. An MPI that lacks a
function lacks it with mpiprof, too.

A size counts once per call, in 64 bits. It is that of the call, whatever the library sends. Nonblocking calls book it
where the transfer is started; waiting and testing have no size of their own, but say how many requests they completed.
Persistent and partitioned operations book at each start what they were set up with: the size beside `*_init` is that
of one start, setting up moves nothing. `MPI_IN_PLACE` changes nothing: the side that is significant is read. Bytes of
files are never added to those of messages.

)";

constexpr std::string_view cannot_be_seen = R"(
## What cannot be seen

- **MPI linked statically.** The calls never reach the dynamic linker.
- **Functions fetched by `dlsym` from a handle of the library**, as Julia's MPI.jl and Python's ctypes do, unless
  `libmpiprof-dlsym.so` is preloaded beside `libmpiprof.so`. (mpi4py, h5py and other extension modules are seen without.)
- **Fortran names without an underscore** (`mpi_send`, `MPI_SEND`), as xlf without `-qextname` and gfortran with
  `-fno-underscoring` write them: any C library may own these ([why](decisions/0011-no-fortran-name-without-an-underscore.md)).
  Under MPICH such calls are seen all the same, as those of C.
- **Libraries opened with `RTLD_DEEPBIND`.**
- **Calls of `PMPI_` functions.** That is what the name is for; other tools use it.
- **Calls that MPI makes of itself**, such as those of MPICH's Fortran binding to its C functions, and of callbacks. The
  time belongs to the call of the program.
- **A second MPI in the same process.** It works as without mpiprof, and is not recorded.
- **Open MPI's `use mpi` with `TYPE(C_PTR)`** in `MPI_Alloc_mem`, `MPI_Win_allocate`, `MPI_Win_allocate_shared` and
  `MPI_Win_shared_query`: these four have further names there (`mpi_win_allocate_cptr_`). `use mpi_f08` is seen.
- **`MPI_Sizeof` and `MPI_F_sync_reg`**, which are Fortran's alone and move nothing.
)";

constexpr std::string_view nccl_head = R"(
## NCCL

RCCL has the same names. Sizes are those of nccl-tests. What they mean, and what is not seen: [nccl.md](nccl.md).

| function | recorded as | message size |
|---|---|---|
)";

void write_nccl(std::ostream& out) {
    out << nccl_head;
    for (const Row& row : nccl_rows())
        out << "| " << row.name << " | "
            << (row.treatment == Treatment::passed ? "not wrapped: " + row.reason : recorded_as(row)) << " | "
            << words_of(row.rule) << " |\n";
}

void write_wrapped(std::ostream& out) {
    out << "| function | C | large count | mpif.h, use mpi | f08 | recorded as | message size |\n"
           "|---|---|---|---|---|---|---|\n";
    std::vector<Row> wrapped;
    std::ranges::copy_if(rows(), std::back_inserter(wrapped),
                         [](const Row& r) { return r.treatment != Treatment::passed; });
    std::ranges::sort(wrapped, {}, &Row::name);
    for (const Row& row : wrapped)
        out << "| " << row.name << " | yes | " << (row.large ? "yes" : "") << " | yes | yes | " << recorded_as(row)
            << " | " << words_of(row.rule) << " |\n";
}

void write_passed(std::ostream& out) {
    out << "\n## Not wrapped, on purpose\n\n| why | functions |\n|---|---|\n";
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const Row& row : rows())
        if (row.treatment == Treatment::passed) by_reason[row.reason].push_back(row.name);
    for (auto& [reason, names] : by_reason) {
        std::ranges::sort(names);
        out << "| " << reason << " | ";
        for (std::size_t i = 0; i < names.size(); ++i) out << (i ? ", " : "") << names[i];
        out << " |\n";
    }
}

std::string page() {
    std::ostringstream out;
    const auto number_of = [](Treatment treatment) { return std::ranges::count(rows(), treatment, &Row::treatment); };
    out << head << number_of(Treatment::timed) << " functions are timed, " << number_of(Treatment::polled)
        << " are polled, " << number_of(Treatment::counted) << " are counted, " << number_of(Treatment::passed)
        << " are left alone on purpose; " << std::ranges::count(rows(), true, &Row::large)
        << " have a large-count twin.\n"
        << how_to_read;
    write_wrapped(out);
    write_passed(out);
    out << cannot_be_seen;
    write_nccl(out);
    return out.str();
}

int check(const char* path, const std::string& wanted) {
    std::ifstream file(path);
    std::stringstream found;
    found << file.rdbuf();
    if (found.str() == wanted) return 0;
    std::istringstream wanted_lines(wanted);
    std::string line, other;
    int number = 0;
    do ++number;
    while (std::getline(wanted_lines, line) && std::getline(found, other) && line == other);
    std::cerr << path << ":" << number << ": differs from the rows of calls.def. Write it anew:\n"
              << "    mpiprof-coverage > docs/coverage.md\n";
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::string_view(argv[1]) == "--check") return check(argv[2], page());
    if (argc != 1) {
        std::cerr << "usage: mpiprof-coverage [--check docs/coverage.md]\n";
        return 2;
    }
    std::cout << page();
    return 0;
}
