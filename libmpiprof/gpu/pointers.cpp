// The query for several attributes at once answers for memory that CUDA does not know without an error.
#include "libmpiprof/gpu/pointers.h"

#include "libmpiprof/gpu/driver.h"
#include "libmpiprof/process/loader.h"
#include "libmpiprof/process/settings.h"

namespace mpiprof::gpu {

using format::BufferKind;

constinit Pointers pointers{};

namespace {

constexpr int memory_type = 2, is_managed = 8;                  // CUpointer_attribute
constexpr std::uint32_t type_of_device = 2, type_of_unified = 4;  // CUmemorytype

}  // namespace

bool Pointers::find() {
    if (!loader().dlopen) return false;
    void* library = loader().dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return false;
    const auto current = reinterpret_cast<int (*)(Word*)>(loader().dlsym(library, "cuCtxGetCurrent"));
    ask_ = reinterpret_cast<Ask>(loader().dlsym(library, "cuPointerGetAttributes"));
    Word context;
    return current && ask_ && current(&context) != cuda_not_initialized;
}

bool Pointers::look() {
    const State state = state_.load(std::memory_order_acquire);
    if (state != State::undecided) return state == State::on;
    // Often at first, when functions are called for the first time, then ever more seldom.
    constexpr std::uint64_t always = 128;
    const std::uint64_t n = looks_.fetch_add(1, std::memory_order_relaxed);
    if (n >= always && (n & (n - 1)) != 0) return false;
    const Guard guard(lock_);
    if (state_.load(std::memory_order_relaxed) == State::undecided) {
        if (!mpiprof::is_on(Setting::gpu)) state_.store(State::off, std::memory_order_release);
        else if (find()) state_.store(State::on, std::memory_order_release);
    }
    return is_on();
}

BufferKind Pointers::ask(Word address) const {
    std::uint32_t type = 0, managed = 0;
    const int attributes[] = {memory_type, is_managed};
    void* data[] = {&type, &managed};
    if (ask_(2, attributes, data, static_cast<std::uint64_t>(address)) != cuda_success) return BufferKind::host;
    if (managed != 0) return BufferKind::managed;
    return type == type_of_device || type == type_of_unified ? BufferKind::device : BufferKind::host;
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
    const BufferKind kind = ask(address);
    slot.store(block << 16 | (static_cast<std::uint64_t>(kind) + 1), std::memory_order_relaxed);
    return kind;
}

}  // namespace mpiprof::gpu
