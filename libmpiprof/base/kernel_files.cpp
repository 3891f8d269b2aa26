// By raw system calls: the program's errno stays as it is.
#include "libmpiprof/base/kernel_files.h"

#include <fcntl.h>
#include <string.h>

#include "libmpiprof/base/text.h"

namespace mpiprof {
namespace {

struct Entry {  // linux_dirent64, which no header of libc's declares
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t length;
    std::uint8_t type;
    char name[1];
};

std::uint32_t careful = 0;  // the number of a thread

// Read at once, of what is read in pieces. It lies on the program's stack, whose pages a rank keeps once they are
// touched.
constexpr std::size_t piece = 1024;

bool may_disturb_by_opening() {
    if (careful == 0 || static_cast<std::uint32_t>(raw(SYS_gettid)) != careful) return false;
    for (int standard = 0; standard < 3; ++standard)
        if (raw(SYS_fcntl, standard, F_GETFD, 0) < 0) return true;
    return false;
}

int open_to_read(const char* path, int flags = 0) {
    if (may_disturb_by_opening()) return -1;
    return static_cast<int>(raw(SYS_openat, AT_FDCWD, raw_address(path), O_RDONLY | O_CLOEXEC | flags));
}

}  // namespace

void open_with_care() { careful = static_cast<std::uint32_t>(raw(SYS_gettid)); }

std::size_t slurp(const char* path, char* buffer, std::size_t size) {
    buffer[0] = 0;
    const int fd = open_to_read(path);
    if (fd < 0) return 0;
    std::size_t used = 0;
    while (used < size - 1) {
        const long n = raw(SYS_read, fd, raw_address(buffer + used), static_cast<long>(size - 1 - used));
        if (n <= 0) break;
        used += static_cast<std::size_t>(n);
    }
    raw(SYS_close, fd);
    buffer[used] = 0;
    return used;
}

void each_line_of(const char* path, void* context, bool (*visit)(void* context, const char* line)) {
    const int fd = open_to_read(path);
    if (fd < 0) return;
    char part[piece], line[1024];
    std::size_t used = 0;
    long n;
    bool goes_on = true;
    while (goes_on && (n = raw(SYS_read, fd, raw_address(part), sizeof part)) > 0)
        for (long i = 0; goes_on && i < n; ++i) {
            if (part[i] != '\n') {
                if (used + 1 < sizeof line) line[used++] = part[i];
                continue;
            }
            line[used] = 0;
            goes_on = visit(context, line);
            used = 0;
        }
    raw(SYS_close, fd);
    line[used] = 0;
    if (goes_on && used != 0) visit(context, line);
}

void status_line(const char* label, char* buffer, std::size_t size) {
    buffer[0] = 0;
    each_line_of("/proc/self/status", [&](const char* line) {
        const std::size_t before = length_of(label);
        if (strncmp(line, label, before) != 0) return true;
        std::size_t used = 0;
        for (line += before; *line && used + 1 < size; ++line) buffer[used++] = *line;
        buffer[used] = 0;
        return false;
    });
}

int status_number(const char* label, int fallback) {
    char line[32];
    status_line(label, line, sizeof line);
    if (!line[0]) return fallback;
    int number;
    read_number(line, number);
    return number;
}

bool each_entry(const char* directory, void* context, void (*visit)(void* context, const char* name)) {
    const int fd = open_to_read(directory, O_DIRECTORY);
    if (fd < 0) return false;
    alignas(8) char buffer[piece];
    long n;
    while ((n = raw(SYS_getdents64, fd, raw_address(buffer), sizeof buffer)) > 0)
        for (long at = 0; at < n;) {
            const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
            if (entry->name[0] != '.') visit(context, entry->name);
            at += entry->length;
        }
    raw(SYS_close, fd);
    return true;
}

std::size_t link_text(const char* path, char* buffer, std::size_t size) {
    const long n = raw(SYS_readlinkat, AT_FDCWD, raw_address(path), raw_address(buffer), static_cast<long>(size - 1));
    const std::size_t length = n > 0 ? static_cast<std::size_t>(n) : 0;
    buffer[length] = 0;
    return length;
}

bool has_open(const char* end_of_path) {
    const std::size_t length = length_of(end_of_path);
    bool found = false;
    each_entry("/proc/self/fd", [&](const char* number) {
        char link[64] = "/proc/self/fd/", path[512];
        append(link, number);
        const std::size_t n = found ? 0 : link_text(link, path, sizeof path);
        found |= n >= length && memcmp(path + n - length, end_of_path, length) == 0;
    });
    return found;
}

}  // namespace mpiprof
