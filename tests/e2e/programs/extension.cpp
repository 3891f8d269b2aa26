// A C++ extension module of a program that is not C++: throws and catches over a few frames, and says whose libstdc++
// and whose unwinder that took. A preload that brings its own changes either. For host.c.
#include <dlfcn.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

extern "C" void _Unwind_DeleteException(void*);

namespace {

[[gnu::noinline]] int below(int frames, int value) {
    volatile char room[64];
    room[0] = 1;
    if (frames == 0) throw std::runtime_error("as usual");
    return below(frames - 1, value) + room[0];
}

void say_where(const char* what, const void* address) {
    Dl_info info{};
    dladdr(address, &info);
    std::printf("%s from %s\n", what, info.dli_fname ? info.dli_fname : "?");
}

}  // namespace

extern "C" int run(int throws) {
    int caught = 0;
    for (int i = 0; i < throws; ++i) {
        try {
            below(6, i);
        } catch (const std::exception&) {
            ++caught;
        }
    }
    say_where("libstdc++", reinterpret_cast<const void*>(&std::set_terminate));
    say_where("unwinder", reinterpret_cast<const void*>(&_Unwind_DeleteException));
    std::printf("%d of %d caught\n", caught, throws);
    std::fflush(stdout);
    return caught != throws;
}
