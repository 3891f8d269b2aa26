// The value is our own path, spelled in a way ("/./") that nobody else does: so it is known again in a child, which may
// not be preloaded any more. setenv() beside running threads is what NCCL itself does at the same moments, with its
// nccl.conf.
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
constexpr char mark[] = "/./";
constexpr std::size_t longest = 255;  // what NCCL reads of it, with its end

struct Path {
    char text[longest];
};

bool exists(const char* path) { return raw(SYS_faccessat, AT_FDCWD, raw_address(path), R_OK) == 0; }

// "/opt/lib/libmpiprof.so" -> "/opt/lib/./libmpiprof.so". False: it cannot be said in so few bytes.
bool spell_own_path(Path& spelled) {
    Path own{};
    with_object_at(reinterpret_cast<const void*>(&spell_own_path),
                   [&](const dl_phdr_info& object, Word, Word) { copy(own.text, object.dlpi_name); });
    const char* slash = strrchr(own.text, '/');
    if (!slash) return false;
    spelled.text[0] = 0;
    if (own.text[0] != '/') {  // preloaded by a relative path
        if (working_directory(spelled.text, sizeof spelled.text) != 0) return false;
        append(spelled.text, "/");
    }
    append(spelled.text, own.text, static_cast<std::size_t>(slash - own.text));
    append(spelled.text, mark);
    append(spelled.text, slash + 1);
    return length_of(spelled.text) + 1 < longest && exists(spelled.text);
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
    if (const char* file = getenv("NCCL_CONF_FILE"); file && *file)
        return names_a_plugin(file) || names_a_plugin("/etc/nccl.conf");
    Path path{};
    if (const char* home = getenv("HOME")) copy(path.text, home);
    append(path.text, "/.nccl.conf");
    return names_a_plugin(path.text) || names_a_plugin("/etc/nccl.conf");
}

bool has_named_a_plugin() {
    const char* value = getenv(variable);
    if (!value) return is_in_a_file();
    copy(displaced.text, value);
    return true;
}

bool has_loaded_a_gpu() {
    return any_loaded("libcuda.so\0libcudart.so\0libamdhip64.so\0", [](const char*) { return true; });
}

}  // namespace

void invite_nccl() {
    static constinit bool is_done = false;
    if (is_done) return;
    is_done = true;
    Path path;
    if (is_invited() || is_on(Setting::disable) || strcmp(value_of(Setting::nccl), "off") == 0) return;
    const bool has_room = strcmp(value_of(Setting::nccl_plugin), "off") != 0;
    if ((has_named_a_plugin() && !has_room) || !spell_own_path(path)) return;
    setenv(variable, path.text, 1);
}

const char* displaced_plugin() { return displaced.text; }

void invite_nccl_if_there_is_a_gpu() {
    if (exists("/dev/nvidiactl") || exists("/dev/kfd") || has_loaded_a_gpu()) invite_nccl();
}

bool is_invitation(const char* value) {
    const char* slash = value ? strrchr(value, '/') : nullptr;
    return slash && slash - value >= 2 && strncmp(slash - 2, mark, length_of(mark)) == 0;
}

bool is_our_variable(const char* name, const char* value) {
    return strcmp(name, variable) == 0 && is_invitation(value);
}

bool is_invited() { return is_invitation(getenv(variable)); }

}  // namespace mpiprof
