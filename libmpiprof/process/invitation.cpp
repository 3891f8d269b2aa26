// By its environment NCCL asks who wants to be told of its operations, with getenv(): that is answered here, and
// nothing is set, since children and other threads read the environment as well. Of all else libc is asked, by the one
// name that it has for that and that is not ours; no function is looked for, since the loader may be who calls.
#include "libmpiprof/process/invitation.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/loader.h"
#include "libmpiprof/base/raw.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/process/settings.h"

namespace mpiprof {
namespace {

constexpr char variable[] = "NCCL_PROFILER_PLUGIN";
constexpr std::size_t longest = 255;  // what NCCL reads of it, with its end

struct Path {
    char text[longest];
};

char* look_for(const char* name) {
    const std::size_t length = length_of(name);
    for (char** v = environ; v && *v && length; ++v)
        if (strncmp(*v, name, length) == 0 && (*v)[length] == '=') return *v + length + 1;
    return nullptr;
}

// secure_getenv() is libc's getenv(), but for programs with more rights than their caller: there it says nothing, not
// even of a variable that exists.
[[gnu::noinline, gnu::cold]] bool does_libc_answer() {
    char name[256];
    for (char** v = environ; v && *v; ++v) {
        const char* equals = strchr(*v, '=');
        const auto length = equals ? static_cast<std::size_t>(equals - *v) : 0;
        if (length == 0 || length >= sizeof name) continue;
        memcpy(name, *v, length);
        name[length] = 0;
        return secure_getenv(name) != nullptr;
    }
    return true;
}

enum : char { not_known, yes, no };
constinit std::atomic<char> libc_answers{not_known};

char* value_in_environment(const char* name) {
    if (libc_answers.load(std::memory_order_relaxed) == not_known)
        libc_answers.store(does_libc_answer() ? yes : no, std::memory_order_relaxed);
    return libc_answers.load(std::memory_order_relaxed) == yes ? secure_getenv(name) : look_for(name);
}

bool exists(const char* path) { return raw(SYS_faccessat, AT_FDCWD, raw_address(path), R_OK) == 0; }

// False: it cannot be said in so few bytes.
bool find_own_path(Path& own) {
    Path as_loaded{};
    with_object_at(reinterpret_cast<const void*>(&find_own_path),
                   [&](const dl_phdr_info& object, Word, Word) { copy(as_loaded.text, object.dlpi_name); });
    if (as_loaded.text[0] != '/') {  // preloaded by a relative path
        if (working_directory(own.text, sizeof own.text) != 0) return false;
        append(own.text, "/");
    }
    append(own.text, as_loaded.text);
    return length_of(own.text) + 1 < longest && exists(own.text);
}

// The plugin that the user has named so far: empty, none.
constinit Path displaced{};

// A line "NCCL_PROFILER_PLUGIN=<name>".
bool names_a_plugin(const char* path) {
    char text[8192];
    slurp(path, text, sizeof text);
    const char* line = strstr(text, variable);
    if (!line) return false;
    const char* value = line + length_of(variable);
    while (*value == '=' || *value == ' ') ++value;
    copy(displaced.text, value);
    cut(displaced.text, " \t\r\n");
    return true;
}

// NCCL's own files of settings, which it reads into the environment where that says nothing.
bool is_in_a_file() {
    if (const char* file = value_in_environment("NCCL_CONF_FILE"); file && *file)
        return names_a_plugin(file) || names_a_plugin("/etc/nccl.conf");
    Path path{};
    if (const char* home = value_in_environment("HOME")) copy(path.text, home);
    append(path.text, "/.nccl.conf");
    return names_a_plugin(path.text) || names_a_plugin("/etc/nccl.conf");
}

bool has_named_a_plugin() {
    const char* value = value_in_environment(variable);
    if (!value) return is_in_a_file();
    copy(displaced.text, value);
    return true;
}

// Unless the user named a plugin that is to stay alone (MPIPROF_NCCL_PLUGIN), or NCCL is left alone (MPIPROF_NCCL=off).
bool is_invited() {
    if (is_on(Setting::disable) || strcmp(value_of(Setting::nccl), "off") == 0) return false;
    const bool has_room = strcmp(value_of(Setting::nccl_plugin), "off") != 0;
    return !has_named_a_plugin() || has_room;
}

// Each communicator asks, in the thread that makes it.
[[gnu::noinline, gnu::cold]] const char* invitation() {
    static constinit Lock lock;
    static constinit Path own{};
    const Guard guard(lock);
    if (!is_invited() || (!own.text[0] && !find_own_path(own))) return nullptr;
    return own.text;
}

}  // namespace

const char* displaced_plugin() { return displaced.text; }

}  // namespace mpiprof

[[gnu::noinline, gnu::cold]] static char* answer(const char* name) {
    using namespace mpiprof;
    const char* value = strcmp(name, variable) == 0 ? invitation() : nullptr;
    return value ? const_cast<char*>(value) : value_in_environment(name);
}

// Protected: what is called within this library needs no relocation. MPICH asks for each datatype, NCCL for each
// collective: so libc is reached in a jump. Its address is not taken, which would cost every process a look-up.
extern "C" [[gnu::visibility("protected"), gnu::optimize("optimize-sibling-calls")]] char* getenv(const char* name) {
    using namespace mpiprof;
    // As far as it takes to leave out NCCL_ALGO and NCCL_PROTO.
    const bool may_be_it = name[0] == 'N' && name[1] == 'C' && name[2] == 'C' && name[3] == 'L' && name[4] == '_' &&
                           name[5] == 'P' && name[6] == 'R' && name[7] == 'O' && name[8] == 'F';
    const bool is_libcs = !may_be_it && libc_answers.load(std::memory_order_relaxed) == yes;
    return is_libcs ? secure_getenv(name) : answer(name);
}
