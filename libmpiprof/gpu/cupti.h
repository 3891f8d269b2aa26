// The client of CUPTI: has it make activity records of what the GPU does, and puts the numbers of launches around the
// real calls, by which the records say what they belong to (cupti_records.h). What goes wrong is an answer: then
// launches.cpp, which calls all of this, takes events instead.
//
// CUPTI has one client at a time. When another one comes (PyTorch's profiler), it gets CUPTI: some of CUPTI's
// functions are exported, so that its coming is seen (symbols.cpp). Ours stops, each gets the buffers that it made, and
// CUPTI is taken back some seconds after the other one has switched its records off.
#pragma once

#include "libmpiprof/gpu/cupti_records.h"
#include "libmpiprof/gpu/driver.h"

namespace mpiprof::gpu {

class Cupti {
  public:
    // Finds CUPTI and begins to record, once. False: it cannot be had, and why() says so.
    bool start(const Driver& driver);
    // "CUPTI 13.0", or why there is none.
    const char* text() const { return text_; }
    bool is_active() const { return __atomic_load_n(&is_active_, __ATOMIC_RELAXED); }
    bool is_there() const { return is_found_; }
    bool has_failed() const { return is_tried_ && !is_found_; }
    // Whether another client has it now.
    bool is_lent() const;
    // Records are made from now on, or no longer.
    void resume();
    void pause();

    // One launch, on these devices: before the real call and behind it. Its number, one more for each further device;
    // 0: no room.
    static constexpr unsigned most_devices = 8;
    std::uint64_t begin(const std::uint32_t* devices, unsigned count);
    void end();
    // What one of these was, or that it was nothing.
    void describe(std::uint64_t number, const Booked& what) { records_.describe(number, what); }
    void cancel(std::uint64_t number) { records_.cancel(number); }

    // Has everything that is complete handed over, and waits for that, not for the GPU.
    void flush();
    // The same, now and then, while there is still something of ours although it is switched off: what was not complete
    // then.
    void drain();
    // The end: what is known is booked. `forced`: the process ends, and records that are not complete come, too.
    void finish(bool forced);

    // Another client's calls.
    // The real function is that of the CUPTI that the caller means, which may be another one than ours: then all of it
    // is handed on and nothing else done.
    int lend(decltype(cupti::Functions::register_callbacks) real, cupti::Requested requested,
             cupti::Completed completed);
    int take_clock(decltype(cupti::Functions::register_clock) real, cupti::Clock clock);
    int disable_for_other(decltype(cupti::Functions::disable) real, int kind);
    int finalize_for_other(decltype(cupti::Functions::finalize) real);

    std::uint64_t unfinished() const { return records_.unfinished(); }
    std::uint64_t dropped = 0;  // records that CUPTI had no room for

  private:
    bool find(const Driver& driver);
    void say_why(const char* what, int code);
    class Switching;
    bool is_switching() const;
    bool switch_on();
    void switch_off();
    void flush_if_old();
    bool owns(const std::uint8_t* buffer);
    static void requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
    static void completed(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                          std::size_t valid);
    std::uint8_t* take_buffer();
    void give_back(std::uint8_t* buffer);

    // CUPTI hands over whole buffers: what lies in one that is not full is what a kill costs.
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 17;

    cupti::Functions functions_{};
    char text_[64] = {};
    bool keeps_kernels_ = false;  // once on, they stay so: to switch them off is dangerous in this version
    bool is_tried_ = false, is_found_ = false, is_active_ = false, is_over_ = false;
    Lock switching_;                      // whose CUPTI is; held while CUPTI is called, by nobody who CUPTI calls
    std::uint32_t switching_thread_ = 0;  // what it calls meanwhile is not another client's
    cupti::Completed other_completed_ = nullptr;
    cupti::Clock other_clock_ = nullptr;
    std::uint64_t other_seen_ns_ = 0;  // when another client was heard of last; 0: there is none
    bool other_is_done_ = false;       // it has switched something off since it came
    static constexpr std::uint64_t until_it_is_back_ns = 2'000'000'000;
    static constexpr unsigned most_buffers = 256;
    const std::uint8_t* buffers_[most_buffers] = {};
    unsigned buffer_count_ = 0;
    std::atomic<unsigned> with_cupti_{0};       // of these
    std::atomic<std::uint64_t> flushed_ns_{0};  // when that was asked for last
    static constexpr std::uint64_t old_ns = 1'000'000'000;
    Lock buffers_lock_;
    std::uint8_t* free_buffers_ = nullptr;  // the next one's address lies in each
    // Where there is no other: CUPTI before CUDA 12.9 ends the process if it gets none. It may have it several times at
    // once, so what it writes there is not read.
    std::uint8_t* last_buffer_ = nullptr;
    CuptiRecords records_;
};

[[gnu::visibility("hidden")]] extern constinit Cupti the_cupti;

}  // namespace mpiprof::gpu
