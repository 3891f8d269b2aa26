// Reading, by the kernel's calls alone; what stands in such a file, and when it counts, is in format/config_text.h.
#include "libmpiprof/process/config_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libmpiprof/base/basics.h"
#include "libmpiprof/base/raw.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/format/config_text.h"

namespace mpiprof {
namespace {

// Asked of the open descriptor, so that nobody can put another file there in between.
const char* why_it_does_not_count(int fd) {
    struct stat file;
    if (raw(SYS_newfstatat, fd, raw_address(""), raw_address(&file), AT_EMPTY_PATH) != 0) return "cannot be looked at";
    return format::why_config_does_not_count(file, static_cast<uid_t>(raw(SYS_getuid)));
}

std::size_t read_all(int fd, char* text) {
    std::size_t used = 0;
    for (;;) {
        const long n = raw(SYS_read, fd, raw_address(text + used), static_cast<long>(format::most_config_bytes - used));
        if (n == -EINTR) continue;
        if (n <= 0) return used;
        used += static_cast<std::size_t>(n);
    }
}

void read_config(ConfigFile& file) {
    const long fd = raw(SYS_openat, AT_FDCWD, raw_address(file.path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        file.is_missing = fd == -ENOENT || fd == -ENOTDIR;
        file.why_not = file.is_missing ? "does not exist" : "cannot be read";
        return;
    }
    file.why_not = why_it_does_not_count(static_cast<int>(fd));
    char* text = file.why_not ? nullptr : static_cast<char*>(private_pages(format::most_config_bytes + 2));
    if (text) {
        format::take_config_apart(text, read_all(static_cast<int>(fd), text));
        file.lines = text;
    }
    raw(SYS_close, fd);
}

struct Reader {
    Lock lock;
    bool is_read;
    ConfigFiles files;
};

}  // namespace

const char* ConfigFile::value_of(const char* name) const {
    const char* value = nullptr;
    const std::size_t length = length_of(name);
    if (!lines) return nullptr;
    any_of(lines, [&](const char* line) {
        if (strncmp(line, name, length) == 0 && line[length] == '=' && line[length + 1]) value = line + length + 1;
        return false;
    });
    return value;
}

const ConfigFiles& config_files() {
    static constinit Reader reader{};
    ConfigFiles& files = reader.files;
    if (__atomic_load_n(&reader.is_read, __ATOMIC_ACQUIRE)) return files;
    const Guard guard(reader.lock);
    if (reader.is_read) return files;
    const char* named = getenv("MPIPROF_CONFIG");
    const bool wants_none = named && strcmp(named, format::no_config) == 0;
    if (!wants_none) {
        files.systems.path = format::config_for_everyone;
        read_config(files.systems);
    }
    if (named && *named && !wants_none) {
        files.named.path = named;
        read_config(files.named);
    }
    __atomic_store_n(&reader.is_read, true, __ATOMIC_RELEASE);
    return files;
}

}  // namespace mpiprof
