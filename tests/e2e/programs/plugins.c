/* Loads one plug-in after the other and unloads each before the next comes, so often. usage: plugins TIMES PLUGIN... */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    void (*place)(int) = NULL;
    int is_same_place = 1;
    for (int time = 0; time < atoi(argv[1]); ++time)
        for (int i = 2; i < argc; ++i) {
            void* plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
            if (!plugin) {
                fprintf(stderr, "%s\n", dlerror());
                return 3;
            }
            void (*step)(int) = (void (*)(int))dlsym(plugin, "step");
            if (place && place != step) is_same_place = 0;
            place = step;
            step(10 * (i - 1));
            dlclose(plugin);
        }
    printf(is_same_place ? "same place\n" : "other places\n");
    MPI_Finalize();
    return 0;
}
