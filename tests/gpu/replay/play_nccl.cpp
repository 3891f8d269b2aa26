// play_nccl RECORDING LIBRARY: tells the library what NCCL told, as NCCL does: asks it for the table of that version of
// the interface, in the threads in which it was told, with texts whose addresses are constant. The profile that it
// leaves in the working directory is what there is to look at.
#include <dlfcn.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "tests/gpu/replay/recording.h"

namespace mpiprof::test {
namespace {

// As NCCL's headers have it.
struct Plugin {
    const char* name;
    void* init;
    int (*start)(void*, void**, void*);
    int (*stop)(void*);
    int (*state)(void*, int, void*);
    int (*finalize)(void*);
};
using Init1 = int (*)(void**, int*);
using Init4 = int (*)(void**, int*, const char*, std::uint64_t, int, int, int, void*);
using Init5 = int (*)(void**, std::uint64_t, int*, const char*, int, int, int, void*);

[[noreturn]] void fail(const char* what, const char* why) {
    std::fprintf(stderr, "%s: %s\n", what, why);
    std::exit(1);
}

// One of the recording's threads, which does one thing at a time while the others wait.
class Worker {
  public:
    Worker() : thread_([this] { work(); }) {}
    ~Worker() {
        run(nullptr);
        thread_.join();
    }
    void run(const std::function<void()>* what) {
        std::unique_lock lock(mutex_);
        what_ = what;
        has_work_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return !has_work_; });
    }

  private:
    void work() {
        std::unique_lock lock(mutex_);
        for (bool is_over = false; !is_over;) {
            changed_.wait(lock, [this] { return has_work_; });
            is_over = !what_;
            if (!is_over) (*what_)();
            has_work_ = false;
            changed_.notify_all();
        }
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    bool has_work_ = false;
    const std::function<void()>* what_ = nullptr;
    std::thread thread_;
};

class Player {
  public:
    explicit Player(const char* library) : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
        if (!library_) fail(library, dlerror());
    }
    void play(const Told& told) {
        const std::function<void()> what = [&] { tell(told); };
        // The first thread is the program's own.
        if (told.thread <= 1) return what();
        auto& worker = workers_[told.thread];
        if (!worker) worker = std::make_unique<Worker>();
        worker->run(&what);
    }

  private:
    struct Communicator {
        Plugin* plugin;
        void* context;
        int mask;
    };
    struct Event {
        Communicator* of;
        void* handle;
    };
    void tell(const Told& told) {
        static constexpr void (Player::*calls[])(const Told&) = {&Player::init, &Player::start, &Player::stop,
                                                                 &Player::finalize};
        (this->*calls[told.what])(told);
    }
    Plugin* table(int version) {
        const std::string name = "ncclProfiler_v" + std::to_string(version);
        auto* plugin = static_cast<Plugin*>(dlsym(library_, name.c_str()));
        if (!plugin) fail(name.c_str(), "the library has no such table");
        return plugin;
    }
    static void check(int result, const char* what) {
        if (result != 0) fail(what, "the plugin says that it failed");
    }
    void init(const Told& told) {
        Communicator& c = communicators_[told.context] = {table(told.version), nullptr, 0};
        const char* name = told.is_named ? "name" : nullptr;
        int result = 0;
        if (told.version < 4)
            result = reinterpret_cast<Init1>(c.plugin->init)(&c.context, &c.mask);
        else if (told.version < 5)
            result = reinterpret_cast<Init4>(c.plugin->init)(&c.context, &c.mask, name, told.id, told.nodes, told.size,
                                                             told.rank, nullptr);
        else
            result = reinterpret_cast<Init5>(c.plugin->init)(&c.context, told.id, &c.mask, name, told.nodes, told.size,
                                                             told.rank, nullptr);
        check(result, "init");
    }
    void* address_of(const Pointer& pointer) {
        static char somewhere;
        if (pointer.event != 0) return events_[pointer.event].handle;
        if (pointer.text.empty()) return &somewhere;
        return const_cast<char*>(texts_.insert(pointer.text).first->c_str());
    }
    void start(const Told& told) {
        alignas(8) unsigned char descriptor[256] = {};
        if (told.descriptor.size() > sizeof descriptor) fail("start", "a descriptor that is too long");
        std::memcpy(descriptor, told.descriptor.data(), told.descriptor.size());
        for (const Pointer& pointer : told.pointers) {
            void* address = address_of(pointer);
            std::memcpy(descriptor + pointer.at, &address, sizeof address);
        }
        Communicator& c = communicators_[told.context];
        Event& event = events_[told.event] = {&c, nullptr};
        check(c.plugin->start(c.context, &event.handle, descriptor), "startEvent");
    }
    void stop(const Told& told) {
        const Event& event = events_[told.event];
        if (event.handle) check(event.of->plugin->stop(event.handle), "stopEvent");
    }
    void finalize(const Told& told) {
        const Communicator& c = communicators_[told.context];
        check(c.plugin->finalize(c.context), "finalize");
    }

    void* library_;
    std::map<std::uint64_t, Communicator> communicators_;
    std::map<std::uint64_t, Event> events_;
    std::set<std::string> texts_;
    std::map<unsigned, std::unique_ptr<Worker>> workers_;
};

}  // namespace
}  // namespace mpiprof::test

int main(int argc, char** argv) {
    using namespace mpiprof::test;
    if (argc != 3) fail(argv[0], "RECORDING LIBRARY");
    const Recording recording = read_recording(argv[1]);
    Player player(argv[2]);
    for (const Told& told : recording.told) player.play(told);
}
