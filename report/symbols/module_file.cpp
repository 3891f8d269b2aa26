// libdwfl's side of a call site.
#include "report/symbols/module_file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "report/symbols/demangle.h"

namespace mpiprof::report {
namespace {

// Debug information of its own beside the file or below /usr/lib/debug; dwfl's own search would go on to ask the
// servers in DEBUGINFOD_URLS, and a report would wait for the network.
int find_debug_file(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, const char* file,
                    const char* link, GElf_Word checksum, char** found) {
    unsetenv("DEBUGINFOD_URLS");
    return dwfl_standard_find_debuginfo(module, data, name, base, file, link, checksum, found);
}

const Dwfl_Callbacks callbacks{.find_elf = dwfl_build_id_find_elf,
                               .find_debuginfo = find_debug_file,
                               .section_address = dwfl_offline_section_address,
                               .debuginfo_path = nullptr};

std::string hexadecimal(const unsigned char* bytes, int length) {
    std::string text;
    for (int i = 0; i < length; ++i) text += fmt::format("{:02x}", bytes[i]);
    return text;
}

std::string text_of(const char* text) { return text ? std::string(text, strnlen(text, 4096)) : std::string(); }

// A function's name as its source has it: qualified where the language mangles, plain elsewhere.
std::string name_of(Dwarf_Die* function) {
    Dwarf_Attribute attribute;
    for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
        if (const char* text = dwarf_formstring(dwarf_attr_integrate(function, name, &attribute));
            text && std::string_view(text).starts_with("_Z"))
            return demangled(text_of(text));
    return text_of(dwarf_diename(function));
}

SourceLine line_of(Dwfl_Module* module, Dwarf_Addr address) {
    SourceLine line;
    Dwfl_Line* found = dwfl_module_getsrc(module, address);
    int number = 0;
    if (found) line.file = text_of(dwfl_lineinfo(found, nullptr, &number, nullptr, nullptr, nullptr));
    if (number > 0) line.line = static_cast<unsigned>(number);
    return line;
}

// Where an inlined function was called.
SourceLine call_of(Dwarf_Die* unit, Dwarf_Die* inlined) {
    SourceLine line;
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &number) == 0)
        line.line = static_cast<unsigned>(number);
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &number) == 0 &&
        dwarf_getsrcfiles(unit, &files, &count) == 0 && number < count)
        line.file = text_of(dwarf_filesrc(files, number, nullptr, nullptr));
    return line;
}

// From the debug information: the innermost scope at the address, then all that it physically lies in. (The scopes by
// address alone would go on, from an inlined function, with what surrounds its definition.)
void add_inlined(Symbol& symbol, Dwfl_Module* module, Dwarf_Addr address) {
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(module, address, &bias);
    if (!unit) return;
    Dwarf_Die* at_address = nullptr;
    Dwarf_Die* scopes = nullptr;
    int n = dwarf_getscopes(unit, address - bias, &at_address);
    if (n > 0) n = dwarf_getscopes_die(&at_address[0], &scopes);
    std::free(at_address);
    SourceLine next = line_of(module, address);
    for (int i = 0; i < n; ++i) {
        const int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
        next.function = name_of(&scopes[i]);
        symbol.lines.push_back(std::exchange(next, SourceLine{}));
        if (tag == DW_TAG_subprogram) break;
        next = call_of(unit, &scopes[i]);
    }
    std::free(scopes);
}

// Without debug information: the symbol that the address lies in.
void add_symbol(Symbol& symbol, Dwfl_Module* module, Dwarf_Addr address) {
    SourceLine line = line_of(module, address);
    line.function = demangled(text_of(dwfl_module_addrname(module, address)));
    if (!line.function.empty() || !line.file.empty()) symbol.lines.push_back(std::move(line));
}

constexpr int longest_build_id = 32;  // as profiles have it

std::uint64_t nanoseconds(const timespec& time) {
    return time.tv_sec < 0
               ? 0
               : static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// What several machines see alike.
bool lies_on_shared_storage(int fd) {
    constexpr std::array<std::uint32_t, 9> kinds{
        0x6969,      // NFS
        0x0bd00bd0,  // Lustre
        0x47504653,  // GPFS
        0x00c36400,  // Ceph
        0x19830326,  // BeeGFS
        0xaad7aaea,  // PanFS
        0xff534d42,  // CIFS
        0xfe534d42,  // SMB 2
        0x5346414f,  // AFS
    };
    struct statfs info {};
    if (fstatfs(fd, &info) != 0) return false;
    return std::find(kinds.begin(), kinds.end(), static_cast<std::uint32_t>(info.f_type)) != kinds.end();
}

// Why a file that has no build-id to compare may be another than the one that ran. What it was and what it is called
// change with the time of its inode, too: a copy that keeps the older time, a file moved to its place.
std::string doubt(const Module& module, const struct stat& info, bool is_shared) {
    constexpr std::uint64_t exactness_ns =
        50'000'000;  // of both clocks: 10 ms of a process' start, and the kernel's tick
    constexpr std::string_view advice = "; link with -Wl,--build-id to have it known";
    if (module.run_began_ns == 0)
        return fmt::format("binary may have changed since the run: it has no build-id, and when it ran is not known{}",
                           advice);
    const auto is_later = [&](const timespec& time) { return nanoseconds(time) > module.run_began_ns + exactness_ns; };
    if (is_later(info.st_mtim))
        return fmt::format("binary may have changed since the run: it was written later, and has no build-id{}",
                           advice);
    if (is_later(info.st_ctim))
        return fmt::format(
            "binary may have changed since the run: its file was put there or touched later, and has no "
            "build-id{}",
            advice);
    if (!module.ran_here && !is_shared)
        return fmt::format("binary may be another than the one that ran on another machine: it has no build-id{}",
                           advice);
    return "";
}

}  // namespace

struct ModuleFile::Session {
    ~Session() { dwfl_end(dwfl); }
    Dwfl* dwfl = nullptr;
    Dwfl_Module* module = nullptr;
    Dwarf_Addr bias = 0;
};

ModuleFile::ModuleFile(const Module& module) : problem_(open(module)) {}
ModuleFile::~ModuleFile() = default;

std::string ModuleFile::open(const Module& module) {
    const std::string& path = module.path;
    if (!path.starts_with('/')) return path.empty() ? "" : "is not on this machine";
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return errno == ENOENT ? "is not on this machine" : std::strerror(errno);
    struct stat info {};
    session_ = std::make_unique<Session>();
    session_->dwfl = dwfl_begin(&callbacks);
    const bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    if (!is_file || !session_->dwfl) {
        close(fd);
        return is_file ? "cannot be looked into" : "is no regular file";
    }
    dwfl_report_begin(session_->dwfl);
    session_->module = dwfl_report_offline(session_->dwfl, "", path.c_str(), fd);
    const bool is_shared = lies_on_shared_storage(fd);
    if (!session_->module) close(fd);  // else the session owns it
    dwfl_report_end(session_->dwfl, nullptr, nullptr);
    if (!session_->module || !dwfl_module_getelf(session_->module, &session_->bias))
        return "is no program that can be read";
    const unsigned char* id = nullptr;
    GElf_Addr where = 0;
    const int length = std::min(dwfl_module_build_id(session_->module, &id, &where), longest_build_id);
    if (module.build_id.empty()) return doubt(module, info, is_shared);
    // Without one it is another, too.
    const bool is_the_same = length > 0 && hexadecimal(id, length) == module.build_id;
    return is_the_same ? "" : "binary changed since the run";
}

Symbol ModuleFile::at(std::uint64_t offset) const {
    Symbol symbol{.lines = {}, .problem = problem_};
    if (!session_ || !problem_.empty() || offset == 0) return symbol;
    const Dwarf_Addr address = session_->bias + (offset - 1);  // the call stands before the address it returns to
    add_inlined(symbol, session_->module, address);
    if (symbol.lines.empty()) add_symbol(symbol, session_->module, address);
    return symbol;
}

}  // namespace mpiprof::report
