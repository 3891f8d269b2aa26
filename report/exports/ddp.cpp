// ddp-json: the iterations that the program marks, as the file that --json of PyTorch's DDP benchmark writes and its
// diff.py reads.
#include "report/layouts/ddp.h"
#include "report/analysis/analysed.h"
#include "report/exports/export.h"
#include "report/model/json_writer.h"

namespace mpiprof::report {

std::vector<std::string> export_ddp(const Analysed& all, const ProfileSource&, const Sink& sink,
                                    const Complaint& complain) {
    const Job& job = all.job;
    DdpReport report;
    report.add(job);
    if (report.is_empty()) {
        complain(no_marks("export -f ddp-json"));
        return {};
    }
    JsonWriter json(sink);
    report.write_json(json);
    return {};
}

}  // namespace mpiprof::report
