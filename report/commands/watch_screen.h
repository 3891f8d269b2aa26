// What `watch` shows of a running job at a terminal, and what its keys change: which section, sorted by which column,
// which rows, which rank, from which line on. Values in, lines out; it knows no terminal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/analysis/analysed.h"
#include "report/views/view.h"

namespace mpiprof::report {

class WatchScreen {
  public:
    // `load_ranks` is asked for what single ranks did, before they are shown.
    using LoadRanks = std::function<void(Job& job, const std::vector<std::uint32_t>& ranks)>;
    explicit WatchScreen(LoadRanks load_ranks) : load_ranks_(std::move(load_ranks)) {}

    // False: the user wants to leave.
    bool take(int key);
    // `job` as it is now, `before` as it was a moment ago, or null.
    std::vector<std::string> lines(Job& job, const Job* before, const Screen& screen);
    // Where the first line of the screen is, so that the last page is full.
    std::size_t first_line(std::size_t lines, std::size_t rows);
    // The keys, or what is being typed.
    std::string foot() const;

  private:
    void choose(const char* section);
    void sort_by_next(bool is_backwards);
    bool take_text(int key);
    std::vector<Table> tables(const Analysed& all, const Job* before);

    LoadRanks load_ranks_;
    std::string section_;                // empty: the overview
    std::string sort_;                   // id of a column; empty: the section's own
    std::vector<std::string> sortable_;  // of what was shown last
    std::string filter_, typed_;
    char typing_ = 0;  // what: '/' a filter, 'g' a rank; 0: nothing
    std::optional<std::uint32_t> rank_;
    std::size_t first_ = 0, page_ = 1;
    std::string problem_;
};

}  // namespace mpiprof::report
