// csv: tidy data, one line per rank x call x size bin x buffer; times in ns, sizes in bytes. Counted calls have bin 0
// and no times. Columns are only ever added at the end.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "report/analysis/analysed.h"
#include "report/exports/export.h"
#include "report/model/sums.h"
#include "report/model/visible.h"

namespace mpiprof::report {
namespace {

constexpr std::string_view header =
    "rank,call,bin_max_bytes,buffer,calls,bytes,time_ns,min_ns,max_ns,errors,traffic,treatment,other_thread_calls,"
    "other_thread_ns,labels\n";

// What is not known (counted calls, mpitrace's text) stays empty.
std::string known(std::uint64_t ns) { return ns ? fmt::format("{}", ns) : std::string(); }
std::string known(const std::optional<std::uint64_t>& ns) { return ns ? fmt::format("{}", *ns) : std::string(); }

// "bucket_size=25,model=resnet50".
std::string labels_text(const Profile& profile) {
    std::string text;
    for (const Setting& label : profile.labels) text += (text.empty() ? "" : ",") + pair_field(label.name, label.value);
    return text;
}

void write_rank(const Profile& profile, const Sink& sink) {
    std::vector<Sum> sums = sums_of(profile);
    std::sort(sums.begin(), sums.end(), [&](const Sum& a, const Sum& b) {
        return std::tie(profile.calls[a.call].name, a.bin, a.buffer) <
               std::tie(profile.calls[b.call].name, b.bin, b.buffer);
    });
    const std::string labels = csv_field(labels_text(profile));
    fmt::memory_buffer out;
    for (const Sum& sum : sums) {
        const Call& call = profile.calls[sum.call];
        const bool is_timed = call.treatment == Treatment::timed;
        out.append(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", profile.rank, csv_field(call.name),
                               bin_max_bytes(sum.bin), name_of(sum.buffer), sum.calls, sum.bytes,
                               is_timed ? fmt::format("{}", sum.time_ns) : std::string(), known(sum.min_ns),
                               known(sum.max_ns), sum.errors, name_of(call.traffic),
                               call.is_sampled ? "sampled"
                               : is_timed      ? "timed"
                                               : "counted",
                               sum.other_thread_calls, sum.other_thread_ns, labels));
    }
    sink({out.data(), out.size()});
}

}  // namespace

std::vector<std::string> export_csv(const Analysed& all, const ProfileSource& profile_of, const Sink& sink,
                                    const Complaint& complain) {
    const Job& job = all.job;
    sink(header);
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile) continue;
        const auto profile = profile_of(rank.rank);
        if (profile)
            write_rank(*profile, sink);
        else
            complain(profile.error());
    }
    return {};
}

}  // namespace mpiprof::report
