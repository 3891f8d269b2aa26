/* Prints what getenv() says of each name, and whether errno and the environment stay as they were. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

extern char** environ;

int main(int argc, char** argv) {
    char** before = environ;
    errno = 77;
    for (int i = 1; i < argc; ++i) {
        const char* value = getenv(argv[i]);
        printf("%s=%s\n", argv[i], value ? value : "(none)");
    }
    printf("errno %d, environment %s\n", errno, environ == before ? "as it was" : "moved");
    return 0;
}
