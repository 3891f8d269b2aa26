// By number: what has gone wrong leaves the figures as they were.
#include "libmpiprof/host/resource_use.h"

#include <sys/resource.h>
#include <sys/syscall.h>

#include "libmpiprof/base/raw.h"

namespace mpiprof {

void ResourceUse::refresh(const Measured& of) {
    rusage r{};
    if (raw(SYS_getrusage, RUSAGE_SELF, raw_address(&r)) != 0) return;
    const auto micro = [](const timeval& t) {
        return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000u + static_cast<std::uint64_t>(t.tv_usec);
    };
    of.header().usage = {micro(r.ru_utime),
                         micro(r.ru_stime),
                         static_cast<std::uint64_t>(r.ru_maxrss),
                         static_cast<std::uint64_t>(r.ru_minflt),
                         static_cast<std::uint64_t>(r.ru_majflt),
                         static_cast<std::uint64_t>(r.ru_inblock),
                         static_cast<std::uint64_t>(r.ru_oublock),
                         static_cast<std::uint64_t>(r.ru_nvcsw),
                         static_cast<std::uint64_t>(r.ru_nivcsw)};
}

void ResourceUse::start(const Measured& of) {
    refresh(of);
    of.header().usage_at_start = of.header().usage;
}

}  // namespace mpiprof
