// Finding CUPTI, switching it, giving it to others and taking it back, and the buffers that it fills. It calls back
// from a thread of its own, which holds no token and touches no ledger.
#include "libmpiprof/gpu/cupti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>

#include "libmpiprof/base/clock.h"
#include "libmpiprof/base/loader.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/gpu/platform.h"

namespace mpiprof::gpu {

constinit Cupti the_cupti{};

namespace {

// The names stand in the order of cupti::Functions; some versions lack the last ones.
constexpr char function_names[] =
    "cuptiGetVersion\0cuptiSubscribe\0cuptiUnsubscribe\0cuptiActivityRegisterCallbacks\0cuptiActivityEnable\0cuptiActivityDisable\0"
    "cuptiActivityPushExternalCorrelationId\0cuptiActivityPopExternalCorrelationId\0cuptiActivityFlushAll\0cuptiActivityGetNextRecord\0"
    "cuptiActivityGetNumDroppedRecords\0?cuptiActivityEnableDriverApi\0?cuptiActivityFlushPeriod\0?cuptiFinalize\0?cuptiActivitySetAttribute\0"
    "?cuptiActivityRegisterTimestampCallback\0";

constexpr char sonames_13[] = "libcupti.so.13\0";
constexpr char sonames_12[] = "libcupti.so.12\0";
constexpr char sonames_11[] =
    "libcupti.so.11.8\0libcupti.so.11.7\0libcupti.so.11.6\0libcupti.so.11.5\0libcupti.so.11.4\0libcupti.so.11.3\0"
    "libcupti.so.11.2\0libcupti.so.11.1\0libcupti.so.11.0\0";

// Each soname of a CUPTI that this driver can serve, newest first.
template <class Visit>
bool any_soname(int driver_major, Visit visit) {
    return (driver_major >= 13 && any_of(sonames_13, visit)) || (driver_major >= 12 && any_of(sonames_12, visit)) ||
           (driver_major >= 11 && any_of(sonames_11, visit));
}

void* open_at(const char* directory, const char* below, const char* soname) {
    char path[1024] = "";
    append(path, directory);
    append(path, below);
    append(path, soname);
    return loader().dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

// Beside the CUDA runtime and NCCL: where packages of Python keep CUPTI, too. Opened when the loader is asked nothing
// any more.
void* find_beside_others(int driver_major) {
    char directories[2][512];
    unsigned count = 0;
    any_loaded("libcudart.so\0libnccl.so\0", [&](const char* path) {
        char(&directory)[512] = directories[count];
        directory[0] = 0;
        append(directory, path, static_cast<std::size_t>(strrchr(path, '/') - path));
        return ++count == 2;
    });
    void* library = nullptr;
    for (unsigned i = 0; i < count && !library; ++i)
        any_soname(driver_major, [&](const char* name) {
            return (library = open_at(directories[i], "/", name)) ||
                   (library = open_at(directories[i], "/../../cuda_cupti/lib/", name));
        });
    return library;
}

void* find_loaded_library() {
    void* library = nullptr;
    any_soname(99, [&](const char* name) { return (library = loader().dlopen(name, RTLD_LAZY | RTLD_NOLOAD)); });
    return library;
}

void* find_library(int driver_major) {
    // A copy that is there already is the one to use: two of them clash.
    void* library = find_loaded_library();
    if (library) return library;
    any_soname(driver_major,
               [&](const char* name) { return (library = loader().dlopen(name, RTLD_LAZY | RTLD_LOCAL)); });
    if (library) return library;
    static constexpr char homes[] = "CUDA_HOME\0CUDA_PATH\0";
    any_of(homes, [&](const char* variable) {
        const char* home = getenv(variable);
        return home && any_soname(driver_major, [&](const char* name) {
                   return (library = open_at(home, "/extras/CUPTI/lib64/", name));
               });
    });
    return library ? library : find_beside_others(driver_major);
}

void nothing(void*, int, std::uint32_t, const void*) {}

// The clock that CUPTI takes by itself.
std::uint64_t usual_clock() { return nanoseconds(CLOCK_REALTIME); }

// A profiler may begin long before the program communicates. In a forked child nothing is ours, and locks may be held
// by nobody.
bool may_become_ours() { return runtime.is_recording() || runtime.has_not_begun(); }

std::uint32_t this_thread() { return static_cast<std::uint32_t>(raw(SYS_gettid)); }

}  // namespace

// Whoever holds one decides whose CUPTI is.
class Cupti::Switching {
  public:
    explicit Switching(Cupti& cupti) : cupti_(cupti) {
        cupti_.switching_.lock();
        __atomic_store_n(&cupti_.switching_thread_, this_thread(), __ATOMIC_RELAXED);
    }
    ~Switching() {
        __atomic_store_n(&cupti_.switching_thread_, 0, __ATOMIC_RELAXED);
        cupti_.switching_.unlock();
    }
    Switching(const Switching&) = delete;
    Switching& operator=(const Switching&) = delete;

  private:
    Cupti& cupti_;
};

// ---- finding it ----

void Cupti::say_why(const char* what, int code) {
    text_[0] = 0;
    if (code == 0) return append(text_, what);
    snprintf(text_, sizeof text_, "%s (%d)", what, code);
}

bool Cupti::find(const Driver& driver) {
    int driver_version = 0;
    driver.version(&driver_version);
    void* library = find_library(driver_version / 1000);
    if (!library) return say_why("there is no CUPTI", 0), false;
    std::uint32_t version = 0;
    if (!find_functions(library, function_names, &functions_) || functions_.version(&version) != cupti::success)
        return say_why("CUPTI lacks functions", 0), false;
    if (version < cupti::oldest_version) return say_why("CUPTI is too old", static_cast<int>(version)), false;
    keeps_kernels_ = version < cupti::kernels_may_be_disabled;
    // Who subscribed first has it.
    void* subscriber = nullptr;
    const int code = functions_.subscribe(&subscriber, nothing, nullptr);
    if (code == cupti::too_many_subscribers) return say_why("CUPTI is in use by another tool", code), false;
    if (code == cupti::not_initialized) return say_why("CUPTI is too new for the driver", code), false;
    if (code != cupti::success) return say_why("CUPTI refuses", code), false;
    functions_.unsubscribe(subscriber);
    if (version >= 100000)
        snprintf(text_, sizeof text_, "CUPTI %u.%u", version / 10000, version / 100 % 100);
    else
        snprintf(text_, sizeof text_, "CUPTI, API version %u", version);
    return true;
}

bool Cupti::switch_on() {
    records_.begin_stretch();
    if (other_clock_ && functions_.register_clock) functions_.register_clock(usual_clock);
    int code = functions_.register_callbacks(requested, completed);
    if (code == cupti::success) code = functions_.enable(cupti::concurrent_kernel);
    if (code == cupti::success) code = functions_.enable(cupti::external_correlation);
    if (code != cupti::success) {
        if (!keeps_kernels_) functions_.disable(cupti::concurrent_kernel);
        say_why("CUPTI refuses", code);
        return false;
    }
    functions_.enable(cupti::memcpy);
    functions_.enable(cupti::memcpy_between_devices);
    // The kind first, then all but launches are left out. The other way, to ask for launches alone without the kind,
    // is documented as well, but collects nothing once the driver is initialised (seen with CUPTI 13.0).
    functions_.enable(cupti::driver);
    for (std::uint32_t function = 1; functions_.enable_driver_api && function < cupti::driver_functions; ++function)
        if (!cupti::launches(function)) functions_.enable_driver_api(function, 0);
    if (functions_.flush_period) functions_.flush_period(1000);  // of full buffers
    return true;
}

bool Cupti::start(const Driver& driver) {
    if (is_tried_) return is_found_;
    const Switching switching(*this);
    if (is_lent()) return say_why("CUPTI is in use by another tool", 0), false;
    is_tried_ = true;
    if (!find(driver)) return false;
    last_buffer_ = static_cast<std::uint8_t*>(private_pages(buffer_bytes));
    if (!last_buffer_ || !records_.open()) return say_why("there is no memory for CUPTI", 0), false;
    std::size_t bytes = sizeof(std::size_t), most = cupti::most_device_buffers;
    if (functions_.set_attribute) functions_.set_attribute(cupti::device_buffers, &bytes, &most);
    if (!switch_on()) return false;
    is_found_ = true;
    __atomic_store_n(&is_active_, true, __ATOMIC_RELAXED);
    return true;
}

void Cupti::resume() {
    if (!is_found_ || is_over_ || is_active() || is_lent()) return;
    const Switching switching(*this);
    if (is_lent()) return;
    functions_.flush(0);  // what the other client has not fetched is handed over
    if (switch_on()) __atomic_store_n(&is_active_, true, __ATOMIC_RELAXED);
}

void Cupti::pause() {
    const Switching switching(*this);
    if (is_active()) switch_off();
}

void Cupti::switch_off() {
    __atomic_store_n(&is_active_, false, __ATOMIC_RELAXED);
    for (const int kind : {cupti::driver, cupti::memcpy_between_devices, cupti::memcpy, cupti::external_correlation})
        functions_.disable(kind);
    if (!keeps_kernels_) functions_.disable(cupti::concurrent_kernel);
    if (functions_.flush_period) functions_.flush_period(0);  // it is not for the next client
    functions_.flush(0);
}

// ---- another client ----

// Whether it is this thread's own calls that come back here, through CUPTI's use of its own functions.
bool Cupti::is_switching() const { return __atomic_load_n(&switching_thread_, __ATOMIC_RELAXED) == this_thread(); }

bool Cupti::is_lent() const {
    const std::uint64_t seen = __atomic_load_n(&other_seen_ns_, __ATOMIC_ACQUIRE);
    if (seen == 0) return false;
    return !__atomic_load_n(&other_is_done_, __ATOMIC_RELAXED) ||
           nanoseconds(CLOCK_MONOTONIC) - seen < until_it_is_back_ns;
}

// The other client's buffers go to it, and ours, which CUPTI may still have, to us.
int Cupti::lend(decltype(cupti::Functions::register_callbacks) real, cupti::Requested their_requested,
                cupti::Completed their_completed) {
    const bool is_another = is_found_ && real != functions_.register_callbacks;
    if (is_another || is_switching() || !may_become_ours()) return real(their_requested, their_completed);
    const Switching switching(*this);
    if (is_active()) switch_off();
    __atomic_store_n(&other_is_done_, false, __ATOMIC_RELAXED);
    __atomic_store_n(&other_completed_, their_completed, __ATOMIC_RELEASE);
    __atomic_store_n(&other_seen_ns_, nanoseconds(CLOCK_MONOTONIC), __ATOMIC_RELEASE);
    if (other_clock_ && is_found_ && functions_.register_clock) functions_.register_clock(other_clock_);
    return real(their_requested, buffer_count_ != 0 ? completed : their_completed);
}

// Times are in the unit of the last clock that anybody has registered, which a client may do once for all its turns:
// it gets its own back when it comes, and we take the usual one. What is not handed over by then loses its times.
int Cupti::take_clock(decltype(cupti::Functions::register_clock) real, cupti::Clock clock) {
    const bool is_another = is_found_ && real != functions_.register_clock;
    if (is_another || is_switching() || !may_become_ours()) return real(clock);
    const Switching switching(*this);
    if (is_active()) switch_off();
    if (!is_lent()) __atomic_store_n(&other_is_done_, true, __ATOMIC_RELAXED);  // should nothing come of it
    __atomic_store_n(&other_seen_ns_, nanoseconds(CLOCK_MONOTONIC), __ATOMIC_RELEASE);
    const int code = real(clock);
    if (code == cupti::success) other_clock_ = clock;
    return code;
}

int Cupti::disable_for_other(decltype(cupti::Functions::disable) real, int kind) {
    const bool is_another = is_found_ && real != functions_.disable;
    if (!is_another && __atomic_load_n(&other_seen_ns_, __ATOMIC_RELAXED) != 0 && !is_switching()) {
        __atomic_store_n(&other_seen_ns_, nanoseconds(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
        __atomic_store_n(&other_is_done_, true, __ATOMIC_RELAXED);
    }
    return real(kind);
}

// Nobody has it afterwards.
int Cupti::finalize_for_other(decltype(cupti::Functions::finalize) real) {
    const bool is_another = is_found_ && real != functions_.finalize;
    if (!is_another && may_become_ours() && !is_switching()) {
        const Switching switching(*this);
        if (is_active()) switch_off();
        __atomic_store_n(&other_seen_ns_, 0, __ATOMIC_RELEASE);
        if (runtime.is_recording()) {
            say_why("CUPTI was ended by another tool", 0);
            is_found_ = false;
            is_tried_ = true;
        }
    }
    return real();
}

// ---- launches ----

std::uint64_t Cupti::begin(const std::uint32_t* devices, unsigned count) {
    flush_if_old();
    const std::uint64_t first = records_.number(devices, count);
    if (first != 0 && functions_.push(cupti::external_ids, first) == cupti::success) return first;
    for (unsigned i = 0; first != 0 && i < count; ++i) cancel(first + i);
    return 0;
}

void Cupti::end() {
    std::uint64_t id;
    functions_.pop(cupti::external_ids, &id);
}

// ---- buffers ----

std::uint8_t* Cupti::take_buffer() {
    {
        const Guard guard(buffers_lock_);
        if (std::uint8_t* buffer = free_buffers_) {
            free_buffers_ = *reinterpret_cast<std::uint8_t**>(buffer);
            return buffer;
        }
    }
    auto* buffer = static_cast<std::uint8_t*>(private_pages(buffer_bytes));
    const Guard guard(buffers_lock_);
    if (buffer && buffer_count_ == most_buffers) {
        munmap(buffer, buffer_bytes);
        return nullptr;
    }
    if (buffer) buffers_[buffer_count_++] = buffer;
    return buffer;
}

bool Cupti::owns(const std::uint8_t* buffer) {
    const Guard guard(buffers_lock_);
    for (unsigned i = 0; i < buffer_count_; ++i)
        if (buffers_[i] == buffer) return true;
    return false;
}

void Cupti::give_back(std::uint8_t* buffer) {
    const Guard guard(buffers_lock_);
    *reinterpret_cast<std::uint8_t**>(buffer) = free_buffers_;
    free_buffers_ = buffer;
}

void Cupti::requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
    *buffer = the_cupti.take_buffer();
    if (*buffer)
        the_cupti.with_cupti_ += 1;
    else
        *buffer = the_cupti.last_buffer_;
    *bytes = buffer_bytes;
    *most_records = 0;
}

void Cupti::completed(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes, std::size_t valid) {
    if (!buffer) return;
    if (buffer == the_cupti.last_buffer_) {  // about so many records
        __atomic_fetch_add(&the_cupti.dropped, (valid + sizeof(cupti::Kernel) - 1) / sizeof(cupti::Kernel),
                           __ATOMIC_RELAXED);
        return;
    }
    if (!the_cupti.owns(buffer)) {
        if (const cupti::Completed theirs = __atomic_load_n(&the_cupti.other_completed_, __ATOMIC_ACQUIRE))
            theirs(context, stream, buffer, bytes, valid);
        return;
    }
    if (!the_cupti.is_over_ && runtime.is_recording()) {
        the_cupti.records_.parse(the_cupti.functions_.next_record, buffer, valid);
        std::size_t dropped = 0;
        if (the_cupti.functions_.dropped(context, stream, &dropped) == cupti::success && dropped != 0)
            __atomic_fetch_add(&the_cupti.dropped, dropped, __ATOMIC_RELAXED);
    }
    the_cupti.with_cupti_ -= 1;
    the_cupti.give_back(buffer);
}

// ---- the end ----

void Cupti::flush() {
    if (is_active()) functions_.flush(0);
}

void Cupti::flush_if_old() {
    const std::uint64_t now = nanoseconds(CLOCK_MONOTONIC);
    std::uint64_t before = flushed_ns_.load(std::memory_order_relaxed);
    if (now - before < old_ns || !flushed_ns_.compare_exchange_strong(before, now, std::memory_order_relaxed)) return;
    if (before != 0) functions_.flush(0);
}

void Cupti::drain() {
    if (is_found_ && with_cupti_ != 0 && !keeps_kernels_ && !is_active() && !is_lent()) flush_if_old();
}

void Cupti::finish(bool forced) {
    if (!is_tried_ || is_over_) return;
    const bool has_more = is_found_ && with_cupti_ != 0 && !is_lent();
    if (is_active() || has_more) functions_.flush(forced ? 1 : 0);
    records_.finish();
    is_over_ = forced;
}

}  // namespace mpiprof::gpu
