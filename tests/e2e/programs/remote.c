// A file system as a centre's network ones are on a bad day: what lies in DIRECTORY, by way of FUSE, with every
// operation as slow and as faulty as the file RULES says, which is read at each of them. A line of RULES is one of
//   delay MS            every operation takes so long
//   frozen              operations wait until the line is gone, or who waits is killed
//   OPERATION ERRNO     create, write, open, flush, rename or unlink fails with that number
// usage: remote RULES DIRECTORY MOUNTPOINT (in the foreground)
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char *rules, *below;

static int obey(const char* operation) {
    for (;;) {
        char line[128];
        int is_frozen = 0, error = 0, delay = 0;
        FILE* file = fopen(rules, "re");
        while (file && fgets(line, sizeof line, file)) {
            char word[64] = "";
            int number = 0;
            sscanf(line, "%63s %d", word, &number);
            if (!strcmp(word, "frozen")) is_frozen = 1;
            if (!strcmp(word, "delay")) delay = number;
            if (!strcmp(word, operation)) error = number;
        }
        if (file) fclose(file);
        if (is_frozen) {
            if (fuse_interrupted()) return -EINTR;  // whoever waits was killed: so it is with NFS
            usleep(50000);
            continue;
        }
        if (delay) usleep((unsigned)delay * 1000);
        return -error;
    }
}

static char* place_of(const char* path, char* place) {
    snprintf(place, 8192, "%s%s", below, path);
    return place;
}
#define PLACE(path) place_of(path, (char[8192]){0})
#define ANSWER(call) ((call) < 0 ? -errno : 0)
#define BEGIN(operation)                   \
    do {                                   \
        const int error = obey(operation); \
        if (error) return error;           \
    } while (0)

static int get_attributes(const char* path, struct stat* s, struct fuse_file_info* file) {
    (void)file;
    BEGIN("getattr");
    return ANSWER(lstat(PLACE(path), s));
}
static int read_directory(const char* path, void* buffer, fuse_fill_dir_t fill, off_t offset,
                          struct fuse_file_info* file, enum fuse_readdir_flags flags) {
    (void)offset, (void)file, (void)flags;
    BEGIN("readdir");
    DIR* directory = opendir(PLACE(path));
    if (!directory) return -errno;
    for (struct dirent* entry; (entry = readdir(directory));) fill(buffer, entry->d_name, NULL, 0, 0);
    closedir(directory);
    return 0;
}
static int make_directory(const char* path, mode_t mode) {
    BEGIN("mkdir");
    return ANSWER(mkdir(PLACE(path), mode));
}
static int unlink_file(const char* path) {
    BEGIN("unlink");
    return ANSWER(unlink(PLACE(path)));
}
static int rename_file(const char* from, const char* to, unsigned flags) {
    (void)flags;
    BEGIN("rename");
    return ANSWER(rename(PLACE(from), PLACE(to)));
}
static int truncate_file(const char* path, off_t size, struct fuse_file_info* file) {
    (void)file;
    BEGIN("truncate");
    return ANSWER(truncate(PLACE(path), size));
}
static int open_file(const char* path, struct fuse_file_info* file) {
    BEGIN("open");
    file->fh = (uint64_t)open(PLACE(path), file->flags & ~O_NOFOLLOW);
    return (int64_t)file->fh < 0 ? -errno : 0;
}
static int create_file(const char* path, mode_t mode, struct fuse_file_info* file) {
    BEGIN("create");
    file->fh = (uint64_t)open(PLACE(path), file->flags, mode);
    return (int64_t)file->fh < 0 ? -errno : 0;
}
static int read_file(const char* path, char* buffer, size_t size, off_t at, struct fuse_file_info* file) {
    (void)path;
    BEGIN("read");
    const ssize_t n = pread((int)file->fh, buffer, size, at);
    return n < 0 ? -errno : (int)n;
}
static int write_file(const char* path, const char* buffer, size_t size, off_t at, struct fuse_file_info* file) {
    (void)path;
    BEGIN("write");
    const ssize_t n = pwrite((int)file->fh, buffer, size, at);
    return n < 0 ? -errno : (int)n;
}
static int describe(const char* path, struct statvfs* s) {
    BEGIN("statfs");
    return ANSWER(statvfs(PLACE(path), s));
}
static int flush_file(const char* path, struct fuse_file_info* file) {
    (void)path, (void)file;
    BEGIN("flush");
    return 0;
}
static int release_file(const char* path, struct fuse_file_info* file) {
    (void)path;
    close((int)file->fh);
    return 0;
}

static void* begin(struct fuse_conn_info* connection, struct fuse_config* config) {
    (void)connection;
    config->intr = 1;
    return NULL;
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    rules = argv[1];
    below = argv[2];
    static const struct fuse_operations operations = {
        .init = begin,
        .getattr = get_attributes,
        .readdir = read_directory,
        .mkdir = make_directory,
        .unlink = unlink_file,
        .rename = rename_file,
        .truncate = truncate_file,
        .open = open_file,
        .create = create_file,
        .read = read_file,
        .write = write_file,
        .statfs = describe,
        .flush = flush_file,
        .release = release_file,
    };
    char* arguments[] = {argv[0], (char*)"-f", argv[3], NULL};
    return fuse_main(3, arguments, &operations, NULL);
}
