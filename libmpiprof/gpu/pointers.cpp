// CUDA's query for several attributes at once answers for memory that it does not know without an error; HIP's answers
// so from HIP 6 on, and before it leaves one behind.
#include "libmpiprof/gpu/pointers.h"

#include "libmpiprof/base/clock.h"
#include "libmpiprof/gpu/driver.h"
#include "libmpiprof/process/settings.h"

namespace mpiprof::gpu {

using format::BufferKind;

constinit Pointers pointers{};

namespace {

constexpr int memory_type = 2, is_managed = 8;                    // CUpointer_attribute
constexpr std::uint32_t type_of_device = 2, type_of_unified = 4;  // CUmemorytype

// hipPointerAttribute_t, in all versions, with room for more.
struct HipAttributes {
    std::uint32_t type;
    int device;
    void *on_device, *on_host;
    int is_managed;
    std::uint32_t flags;
    char later[64];
};

constexpr char names_of_hip[] = "hipRuntimeGetVersion\0hipPointerGetAttributes\0hipPeekAtLastError\0hipGetLastError\0";
constexpr int hip_6 = 60'000'000;  // and before HIP said so, smaller numbers

}  // namespace

bool Pointers::find() {
    const InUse in_use = look_for_gpu();
    hip_ = {};
    if (in_use.platform == Platform::cuda) return find_functions(in_use.library, "cuPointerGetAttributes\0", &cuda_);
    if (in_use.platform == Platform::none || !find_functions(in_use.library, names_of_hip, &hip_)) return false;
    const OwnErrors errors(hip_);
    int version = 0;
    if (!errors.may_ask() || hip_.version(&version) != success) return false;
    hip_type_of_device_ = version >= hip_6 ? 2 : 1;
    hip_type_of_managed_ = version >= hip_6 ? 3 : 4;
    return true;
}

bool Pointers::look_now() {
    const Guard guard(lock_);
    looked_ns_.store(nanoseconds(CLOCK_MONOTONIC), std::memory_order_relaxed);
    if (!is_undecided()) return is_on();
    if (!mpiprof::is_on(Setting::gpu))
        state_.store(State::off, std::memory_order_release);
    else if (find())
        state_.store(State::on, std::memory_order_release);
    return is_on();
}

bool Pointers::look() {
    if (!is_undecided()) return is_on();
    const std::uint64_t n = looks_.fetch_add(1, std::memory_order_relaxed);
    return (n < first_looks || (n & (n - 1)) == 0) && look_now();
}

bool Pointers::look_for_news() {
    if (!is_undecided()) return is_on();
    const bool is_early = looks_.fetch_add(1, std::memory_order_relaxed) < first_looks;
    return (is_early ||
            nanoseconds(CLOCK_MONOTONIC) - looked_ns_.load(std::memory_order_relaxed) >= between_looks_ns) &&
           look_now();
}

bool Pointers::ask_hip(Word address, BufferKind& kind) const {
    const OwnErrors errors(hip_);
    if (!errors.may_ask()) return false;
    HipAttributes found{};
    if (hip_.attributes(&found, address) != success) return true;
    if (found.is_managed != 0 || found.type == hip_type_of_managed_)
        kind = BufferKind::managed;
    else if (found.type == hip_type_of_device_)
        kind = BufferKind::device;
    return true;
}

bool Pointers::ask(Word address, BufferKind& kind) const {
    kind = BufferKind::host;
    if (hip_.attributes) return ask_hip(address, kind);
    std::uint32_t type = 0, managed = 0;
    const int attributes[] = {memory_type, is_managed};
    void* data[] = {&type, &managed};
    if (cuda_.attributes(2, attributes, data, static_cast<std::uint64_t>(address)) != success) return true;
    if (managed != 0)
        kind = BufferKind::managed;
    else if (type == type_of_device || type == type_of_unified)
        kind = BufferKind::device;
    return true;
}

BufferKind Pointers::kind_of(Word address) {
    const std::uint64_t block = static_cast<std::uint64_t>(address) >> block_bits;
    if (block == 0) return BufferKind::host;  // MPI_BOTTOM and its like
    std::atomic<std::uint64_t>& slot = known_[short_hash<slot_bits>(block)];
    const std::uint64_t known = slot.load(std::memory_order_relaxed);
    const std::uint64_t uses = known >> 8 & 0xff;
    if (known >> 16 == block && uses < uses_of_an_answer) {
        slot.store(known + (1u << 8), std::memory_order_relaxed);
        return static_cast<BufferKind>((known & 0xff) - 1);
    }
    BufferKind kind;
    if (!ask(address, kind))
        return known >> 16 == block ? static_cast<BufferKind>((known & 0xff) - 1) : BufferKind::host;
    slot.store(block << 16 | (static_cast<std::uint64_t>(kind) + 1), std::memory_order_relaxed);
    return kind;
}

}  // namespace mpiprof::gpu
