// Opens, reads and closes every file named on its standard input: the least that a merge of them can cost.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    static char path[4096], buffer[1 << 20];
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = 0;
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) return 1;
        while (read(fd, buffer, sizeof buffer) > 0) {
        }
        close(fd);
    }
    return 0;
}
