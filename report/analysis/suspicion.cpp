// The order is that of what is most certain, and of what says most.
#include "report/analysis/suspicion.h"

#include <algorithm>

#include "report/analysis/hangs.h"

namespace mpiprof::report {

Suspicion suspicion_of(const Job& job, const std::vector<Arrival>& arrivals, const std::vector<Arrival>& lags) {
    const auto worst = std::find_if(arrivals.begin(), arrivals.end(),
                                    [](const Arrival& a) { return a.for_ns >= worth_a_word_ns && !a.inside.empty(); });
    const auto lag =
        std::find_if(lags.begin(), lags.end(), [](const Arrival& a) { return a.for_ns >= worth_a_word_ns; });
    if (const auto wait = mixed_wait_of(job, arrivals, lags)) return *wait;
    if (worst != arrivals.end()) return WaitsInside{*worst};
    if (const auto crossing = crossing_of(job)) return *crossing;
    if (const auto unlike = unlike_of(job)) return *unlike;
    if (const auto uneven = uneven_messages_of(job)) return *uneven;
    if (lag != lags.end()) return NotEnqueued{*lag};
    return {};
}

}  // namespace mpiprof::report
