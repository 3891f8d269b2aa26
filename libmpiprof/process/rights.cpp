// The numbers are the kernel's: its header is not everywhere where libc's are.
#include "libmpiprof/process/rights.h"

#include "libmpiprof/base/raw.h"

namespace mpiprof {
namespace {

struct CapabilityHeader {
    std::uint32_t version;
    int thread;  // 0: the caller
};
struct CapabilityHalf {
    std::uint32_t effective, permitted, inheritable;
};

constexpr CapabilityHeader of_this_thread{0x20080522, 0};

bool ask(CapabilityHalf (&halves)[2]) {
    CapabilityHeader header = of_this_thread;
    return raw(SYS_capget, raw_address(&header), raw_address(halves)) == 0;
}

bool are_equal(long system_call) {
    std::uint32_t real = 0, effective = 0, saved = 0;
    return raw(system_call, raw_address(&real), raw_address(&effective), raw_address(&saved)) == 0 &&
           real == effective && real == saved;
}

}  // namespace

bool may_change_rights() {
    CapabilityHalf halves[2] = {};
    if (!ask(halves)) return true;
    return ((halves[0].permitted | halves[0].effective) & rights_to_change) != 0 || !are_equal(SYS_getresuid) ||
           !are_equal(SYS_getresgid);
}

void keep_capabilities(std::uint64_t kept) {
    CapabilityHalf halves[2] = {};
    if (!ask(halves)) return;
    bool has_more = false;
    for (int i = 0; i < 2; ++i) {
        const auto mask = static_cast<std::uint32_t>(kept >> (32 * i));
        CapabilityHalf& half = halves[i];
        has_more |= ((half.effective | half.permitted | half.inheritable) & ~mask) != 0;
        half = {half.effective & mask, half.permitted & mask, half.inheritable & mask};
    }
    CapabilityHeader header = of_this_thread;
    if (has_more) raw(SYS_capset, raw_address(&header), raw_address(halves));
}

}  // namespace mpiprof
