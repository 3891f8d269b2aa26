/* Calls a wrapped function that no library of this process has: what the loader does then, the library does.
   usage: missing LIBRARY plain|closed FILE ("closed": number 2 is FILE, which this process makes) */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    if (!strcmp(argv[2], "closed")) {
        usleep(50000);
        close(2);
        if (open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0600) != 2) return 3;
    }
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    int (*size)(long, int*) = library ? (int (*)(long, int*))dlsym(library, "MPI_Comm_size") : NULL;
    int value = 0;
    return size ? size(0, &value) : 4;
}
