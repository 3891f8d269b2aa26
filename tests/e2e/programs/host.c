// A program that knows no MPI and runs plugins that do, as Python runs its extension modules.
// usage: host CALLS PLUGIN.so...   (one after the other, each in its own scope; with HOST_CLOSES set each is closed)
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    for (int i = 2; i < argc; ++i) {
        void* plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!plugin) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        int (*run)(int) = (int (*)(int))dlsym(plugin, "run");
        const int code = run(atoi(argv[1]));
        if (code) return code;
        if (getenv("HOST_CLOSES")) dlclose(plugin);
    }
    return 0;
}
