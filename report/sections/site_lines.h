// Call sites as lines of a table: one site each, or what several have in common, with functions and lines from the
// files of the program on this machine. For the section `sites`.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "report/model/job.h"
#include "report/sections/call_columns.h"
#include "report/sections/comm_labels.h"
#include "report/sections/section.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {

// What one line is.
enum class SitesBy { stack, line, function, file, call };
SitesBy sites_by(const std::string& name);

// What the ranks that are shown spent.
struct SitesContext {
    const Job& job;
    const CallSites& found;
    double ranks = 1;
    double mpi_ns = 0;

    SitesContext(const Job& job, const Question& question);
};

// One site, or several of one line, function, file or call.
struct SiteLine : CallLine {
    const SitesContext* context = nullptr;
    CallSite site;  // the first
    std::uint64_t compared_ns = 0;
    std::uint32_t callers = 0;  // ranks that call from here; 0: not known
    std::string name;
    std::set<std::string> call_names;
    std::set<std::string> comms;
    std::size_t sites = 1;
    SourceLine source;  // of the call itself
    std::string module;
    std::string stack;               // on one line
    std::vector<std::string> below;  // the callers, one by one
};

// The lines of a file, found one after the other, and what was wrong with it.
class SitePlaces {
  public:
    explicit SitePlaces(const CallSites& found) : found_(found) {}

    // Inlined functions are lines of their own, innermost first.
    std::vector<SourceLine> lines_of(const Place& place);
    std::string address_of(const Place& place) const {
        return place_text({.lines = {}, .problem = {}}, found_.modules[place.module], place.offset);
    }
    std::string module_of(const Place& place) const { return found_.modules[place.module].path; }
    bool is_script(const Place& place) const { return found_.modules[place.module].is_script; }

    std::vector<std::string> notes() const;

  private:
    const CallSites& found_;
    Symbols symbols_;
    std::set<std::string> problems_, bare_;
};

SiteLine line_of(const SitesContext& context, const CommLabels& labels, const CallSite& site);
// Finds its functions and lines. Frames in `with_address` have that, too.
void describe(SiteLine& line, SitePlaces& places, bool is_for_screen, const std::set<std::size_t>& with_address = {});
// Several calls in one line, or one that the compiler made several of, read alike: their addresses tell them apart.
void tell_apart(std::vector<SiteLine>& lines, SitePlaces& places, bool is_for_screen);
std::vector<SiteLine> grouped(const std::vector<SiteLine>& lines, SitesBy by, const Job& job);

// "MPI_Send, MPI_Isend, +3"
std::string names_text(const std::set<std::string>& names, std::size_t most);

}  // namespace mpiprof::report
