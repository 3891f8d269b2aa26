// Transfers as lines that benchmarks print, and as tables: of one run, and of several beside each other. The command
// `transfers` shows them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/compare/transfers.h"
#include "report/model/table.h"

namespace mpiprof::report {

// Whose number a line begins with.
enum class LineBy : std::uint8_t { receiver, sender };

// "Process 1 transferred 100 MB in 23.1 ms (4323.8 MB/sec)"; a MB is a million bytes.
std::string line_of(const Transfer& transfer, LineBy by);

// "device", "host to device"
std::string buffer_text(const BufferPath& buffers);

struct TransferQuestion {
    Peaks peaks;
    std::size_t top = 12;  // pairs; messages of data
    bool is_for_screen = true;
    bool shows_messages = false;  // single ones, in a table
};

std::vector<Table> transfer_tables(const TransferRun& run, const TransferQuestion& question);

// Rates by size of all runs side by side, and what was set differently. At least two runs.
std::vector<Table> transfer_comparison(const std::vector<TransferRun>& runs);

// What has to be said of the times beside them, one line each.
std::vector<std::string> remarks_of(const TransferRun& run);

}  // namespace mpiprof::report
