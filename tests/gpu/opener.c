/* A program that knows nothing of NCCL and CUDA, and opens a plug-in that does: opener PLUGIN. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*play)(int, int) = plugin ? (int (*)(int, int))dlsym(plugin, "play") : NULL;
    if (!play) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    return play(atoi(getenv("RANK")), atoi(getenv("WORLD_SIZE")));
}
