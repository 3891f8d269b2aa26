// Brings the fake library in by dlopen and fetches its functions by dlsym: with libmpiprof-dlsym.so the profiler sees
// them. Books its calls as program.cpp does, and says which of its questions to dlsym were answered wrongly. usage:
// fetch LIBRARY PREFIX
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/abi/abi.h"

namespace {

int wrong;

void must(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "fetch: %s\n", what);
    ++wrong;
}

template <class F>
F fetch(void* library, const char* name) {
    dlerror();
    void* found = dlsym(library, name);
    if (!found || dlerror()) std::exit(3);
    return reinterpret_cast<F>(found);
}

}  // namespace

int main(int, char** argv) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::fprintf(stderr, "fetch: %s\n", dlerror());
        return 2;
    }
    auto& expected = *fetch<Expected*>(library, "fake_expected");
    const auto& calls = *fetch<long*>(library, "fake_calls");
    const auto& fake_wrong = *fetch<long*>(library, "fake_wrong");
    fetch<int (*)(Word, Word)>(library, "MPI_Init")(0, 0);
    const auto send = fetch<Word (*)(Word, Word, Word, Word, Word, Word)>(library, "MPI_Send");
    for (int i = 0; i < 5; ++i) {
        expected = {"MPI_Send", 6, {0x1000, garbage(3), handle(type_double), garbage(0), garbage(7), handle(world)},
                    garbage(0), 0, -1,
                    -1};
        const Word* w = expected.word;
        must(send(w[0], w[1], w[2], w[3], w[4], w[5]) == expected.result, "MPI_Send returned something else");
    }
    must(calls == 5, "the calls did not arrive");

    must(dlsym(library, "MPI_No_such_function") == nullptr && dlerror(), "a function that nobody has was found");
    must(dlsym(RTLD_DEFAULT, "MPI_No_such_function") == nullptr && dlerror(),
         "a function that nobody has was found somewhere");
    // What comes next depends on who asks: after the program it is the dlsym that the program is bound to.
    must(dlsym(RTLD_NEXT, "dlsym") == reinterpret_cast<void*>(&dlsym), "RTLD_NEXT forgot who asked");

    std::FILE* book = std::fopen((std::string(argv[2]) + ".csv").c_str(), "w");
    if (!book) return 9;
    std::fprintf(book, "rank,call,bin_max_bytes,calls,bytes\n%d,MPI_Send,32,5,120\n", my_rank);
    std::fclose(book);
    fetch<int (*)()>(library, "MPI_Finalize")();
    std::printf("%ld calls, %ld wrong\n", calls, fake_wrong + wrong);
    return fake_wrong + wrong != 0;
}
