// Both tables of symbols are read: what is linked statically is in the larger one alone, which may have been stripped.
#include "report/symbols/program_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string_view>

namespace mpiprof::report {
namespace {

bool is_of_interest(std::string_view name) {
    for (const std::string_view prefix : {"MPI_", "PMPI_", "mpi_", "pmpi_", "nccl", "__asan_init", "__tsan_init"})
        if (name.starts_with(prefix)) return true;
    return false;
}

void read_symbols(Elf* elf, ProgramFile& file) {
    Elf_Scn* section = nullptr;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_entsize == 0) continue;
        if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
        Elf_Data* data = elf_getdata(section, nullptr);
        for (std::size_t i = 0; data && i < header.sh_size / header.sh_entsize; ++i) {
            GElf_Sym symbol;
            if (!gelf_getsym(data, static_cast<int>(i), &symbol)) break;
            const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (!name || !is_of_interest(name)) continue;
            // "MPI_Init@GLIBC..." has no such names; versions of the others are cut all the same.
            const std::string plain = std::string(name).substr(0, std::string_view(name).find('@'));
            (symbol.st_shndx == SHN_UNDEF ? file.asked : file.own).insert(plain);
        }
    }
}

void read_loader(Elf* elf, ProgramFile& file) {
    std::size_t count = 0;
    elf_getphdrnum(elf, &count);
    std::size_t bytes = 0;
    const char* raw = elf_rawfile(elf, &bytes);
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, static_cast<int>(i), &header) || header.p_type != PT_INTERP) continue;
        if (raw && header.p_offset < bytes && header.p_filesz <= bytes - header.p_offset)
            file.interpreter = std::string(raw + header.p_offset, header.p_filesz).c_str();
    }
}

std::string quoted(const std::string& path) {
    std::string text = "'";
    for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

// "\tlibmpi.so.40 => /lib/libmpi.so.40 (0x...)": as ldd has them. With --list the loader runs nothing of the program.
void ask_loader(const std::string& loader, const std::string& program, ProgramFile& file) {
    struct stat status {};  // whoever made the program named it: it is run if it is the system's
    if (stat(loader.c_str(), &status) != 0 || status.st_uid != 0) return;
    const std::string command = quoted(loader) + " --list " + quoted(program) + " 2>/dev/null";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "re"), pclose);
    char line[4096];
    while (pipe && std::fgets(line, sizeof line, pipe.get())) {
        const std::string_view text(line);
        const auto arrow = text.find(" => ");
        if (arrow == std::string_view::npos) continue;
        const auto begin = text.find_first_not_of(" \t");
        std::string_view path = text.substr(arrow + 4);
        path = path.substr(0, std::min(path.find(" ("), path.find('\n')));
        if (path.starts_with("not found"))
            file.missing.emplace_back(text.substr(begin, arrow - begin));
        else
            file.libraries.emplace_back(path);
    }
}

}  // namespace

std::optional<ProgramFile> read_program(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    ProgramFile file;
    struct stat status {};
    char capabilities[64];
    fstat(fd, &status);
    file.has_rights = (status.st_mode & (S_ISUID | S_ISGID)) ||
                      fgetxattr(fd, "security.capability", capabilities, sizeof capabilities) > 0;
    elf_version(EV_CURRENT);
    Elf* elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        GElf_Ehdr header{};
        gelf_getehdr(elf, &header);
        file.is_elf = true;
#ifdef __aarch64__
        file.is_of_this_processor = header.e_machine == EM_AARCH64;
#else
        file.is_of_this_processor = header.e_machine == EM_X86_64 && gelf_getclass(elf) == ELFCLASS64;
#endif
        read_symbols(elf, file);
        read_loader(elf, file);
    } else {
        std::ifstream in(path);
        std::string line;
        if (std::getline(in, line) && line.starts_with("#!")) {
            const auto begin = std::min(line.find_first_not_of(" \t", 2), line.size());
            file.interpreter = line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
        }
    }
    if (elf) elf_end(elf);
    close(fd);
    if (file.is_elf && file.is_of_this_processor && !file.interpreter.empty()) ask_loader(file.interpreter, path, file);
    return file;
}

}  // namespace mpiprof::report
