// Call sites to function, file and line: in this very program, whose return addresses are known.
#include "report/symbols/symbols.h"

#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>

#include "report/symbols/demangle.h"
#include "tests/report/profile_builder.h"

namespace mpiprof::test {
namespace {

using report::Module;
using report::Symbol;
using report::Symbols;

// Where the call of it returns to.
[[gnu::noinline]] std::uint64_t here() {
    asm volatile("");
    return reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
}
[[gnu::always_inline]] inline std::uint64_t through_an_inlined_function() {
    const std::uint64_t address = here();
    asm volatile("" : : "r"(address));
    return address;
}

struct Here {
    Module module;
    std::uint64_t base = 0;
};

void run_now(Module& module) {
    module.run_began_ns =
        static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
    module.ran_here = true;
}

// A file that is believed, whatever it is and whenever it was written.
Module believed(std::string path) {
    return {.path = std::move(path), .build_id = {}, .run_began_ns = std::uint64_t{1} << 63, .ran_here = true};
}

Here this_program() {
    Here found;
    char path[4096] = "";
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    found.module.path.assign(path, n > 0 ? static_cast<std::size_t>(n) : 0);
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* base) {
            *static_cast<std::uint64_t*>(base) = info->dlpi_addr;
            return 1;  // the first is the program
        },
        &found.base);
    run_now(found.module);
    return found;
}

TEST(symbols, a_call_is_found_with_its_line_and_the_functions_it_was_inlined_into) {
    const Here program = this_program();
    const std::uint64_t address = through_an_inlined_function();
    const unsigned line = __LINE__ - 1;
    Symbols symbols;
    const Symbol symbol = symbols.at(program.module, address - program.base);
    ASSERT_GE(symbol.lines.size(), 2u) << symbol.problem;
    EXPECT_NE(symbol.lines[0].function.find("through_an_inlined_function"), std::string::npos);
    EXPECT_TRUE(symbol.lines[0].file.ends_with("symbols_test.cpp"));
    EXPECT_NE(symbol.lines[1].function.find("TestBody"), std::string::npos) << symbol.lines[1].function;
    EXPECT_EQ(symbol.lines[1].line, line);
    EXPECT_NE(place_text(symbol, program.module, 0).find(" < symbols_test.cpp:"), std::string::npos);
}

TEST(symbols, a_binary_that_changed_since_the_run_is_said_and_not_believed) {
    Here program = this_program();
    program.module.build_id = "0123456789abcdef0123456789abcdef01234567";
    Symbols symbols;
    const Symbol& symbol = symbols.at(program.module, here() - program.base);
    EXPECT_EQ(symbol.problem, "binary changed since the run");
    EXPECT_TRUE(symbol.lines.empty());
}

// ---- without a build-id to compare ----

struct Copied {
    TemporaryDirectory directory;
    Here here = this_program();

    Copied() {
        const auto copy = directory.path() / "app";
        std::filesystem::copy_file(here.module.path, copy);
        here.module.path = copy.string();
        wait_until_later();
        run_now(here.module);
    }
    // Than clocks are exact.
    static void wait_until_later() { usleep(120'000); }
    Symbol at(std::uint64_t address) { return Symbols().at(here.module, address - here.base); }
};

TEST(symbols, a_file_without_a_build_id_is_believed_if_it_is_older_than_the_run) {
    Copied copied;
    const Symbol symbol = copied.at(through_an_inlined_function());
    EXPECT_EQ(symbol.problem, "");
    EXPECT_FALSE(symbol.lines.empty());
}

TEST(symbols, a_file_that_was_written_after_the_run_began_is_not_believed) {
    Copied copied;
    Copied::wait_until_later();
    std::filesystem::last_write_time(copied.here.module.path, std::filesystem::file_time_type::clock::now());
    const Symbol symbol = copied.at(here());
    EXPECT_TRUE(symbol.problem.starts_with("binary may have changed since the run: it was written later"))
        << symbol.problem;
    EXPECT_TRUE(symbol.lines.empty());
}

TEST(symbols, an_older_build_that_was_put_to_its_place_is_not_believed) {
    Copied copied;
    Copied::wait_until_later();
    std::filesystem::last_write_time(copied.here.module.path,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(24));
    const Symbol symbol = copied.at(here());
    EXPECT_TRUE(symbol.problem.starts_with("binary may have changed since the run: its file was put there"))
        << symbol.problem;
    EXPECT_TRUE(symbol.lines.empty());
}

TEST(symbols, a_file_of_another_machine_is_not_believed_without_a_build_id) {
    Copied copied;
    copied.here.module.ran_here = false;
    EXPECT_TRUE(
        copied.at(here()).problem.starts_with("binary may be another than the one that ran on another machine"));
    copied.here.module.ran_here = true;
    copied.here.module.run_began_ns = 0;
    EXPECT_NE(copied.at(here()).problem.find("when it ran is not known"), std::string::npos);
}

TEST(symbols, a_file_that_has_no_build_id_any_more_is_another) {
    Copied copied;
    std::string bytes = read_file(copied.here.module.path);
    const std::string note("\x14\0\0\0\x03\0\0\0GNU\0", 12);
    const auto found = bytes.find(note);
    if (found == std::string::npos) GTEST_SKIP() << "this compiler makes none";
    bytes[found + 4] = '\x09';
    write_file(copied.here.module.path, bytes);
    copied.here.module.build_id = "0123456789abcdef0123456789abcdef01234567";
    EXPECT_EQ(copied.at(here()).problem, "binary changed since the run");
}

TEST(symbols, a_file_that_is_not_here_leaves_module_and_offset) {
    Symbols symbols;
    const Module module{.path = "/nowhere/app", .build_id = {}};
    const Symbol& symbol = symbols.at(module, 0x1234);
    EXPECT_EQ(symbol.problem, "is not on this machine");
    EXPECT_EQ(place_text(symbol, module, 0x1234), "app+0x1234");
}

TEST(symbols, what_is_no_program_is_never_waited_for) {
    const TemporaryDirectory directory;
    const auto fifo = directory.path() / "fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    write_file(directory.path() / "text", "not a program\n");
    write_file(directory.path() / "empty", "");
    Symbols symbols;
    EXPECT_EQ(symbols.at({.path = fifo.string(), .build_id = {}}, 1).problem, "is no regular file");
    EXPECT_EQ(symbols.at({.path = "/dev/zero", .build_id = {}}, 1).problem, "is no regular file");
    EXPECT_EQ(symbols.at({.path = directory.path().string(), .build_id = {}}, 1).problem, "is no regular file");
    EXPECT_EQ(symbols.at({.path = (directory.path() / "text").string(), .build_id = {}}, 1).problem,
              "is no program that can be read");
    EXPECT_EQ(symbols.at({.path = (directory.path() / "empty").string(), .build_id = {}}, 1).problem,
              "is no program that can be read");
}

// elfutils ends the process that hands it some of these.
TEST(symbols, a_damaged_program_hurts_nobody) {
    const TemporaryDirectory directory;
    const std::string whole = read_file(this_program().module.path);
    const std::string path = (directory.path() / "cut").string();
    std::size_t refused = 0;
    for (std::size_t size = 1; size < whole.size(); size = size * 3 / 2 + 1) {
        write_file(path, std::string_view(whole).substr(0, size));
        Symbols symbols;
        const Symbol& symbol = symbols.at(believed(path), 0x4321);
        EXPECT_LE(symbol.lines.size(), 64u);
        refused += !symbol.problem.empty();
    }
    EXPECT_GT(refused, 10u);
    std::mt19937 random(4711);
    std::string damaged = whole.substr(0, std::min<std::size_t>(whole.size(), 1 << 20));
    for (int i = 0; i < 20; ++i) {
        for (int n = 0; n < 200; ++n)
            damaged[random() % (i < 10 ? 4096 : damaged.size())] = static_cast<char>(random());
        write_file(path, damaged);
        Symbols symbols;
        for (std::uint64_t offset = 0x4000; offset < 0x4100; offset += 0x20)
            EXPECT_LE(symbols.at(believed(path), offset).lines.size(), 64u);
    }
}

TEST(symbols, after_a_program_that_ended_the_search_others_are_found) {
    const Here program = this_program();
    const std::uint64_t address = here();
    Symbols symbols;
    const TemporaryDirectory directory;
    const std::string path = (directory.path() / "cut").string();
    for (std::size_t size = 40; size < 4096; size += 24) {
        write_file(path + std::to_string(size), std::string_view(read_file(program.module.path)).substr(0, size));
        symbols.at(believed(path + std::to_string(size)), 0x10);
    }
    const Symbol& symbol = symbols.at(program.module, address - program.base);
    ASSERT_FALSE(symbol.lines.empty()) << symbol.problem;
    EXPECT_TRUE(symbol.lines[0].file.ends_with("symbols_test.cpp"));
}

TEST(symbols, names_of_cxx_are_readable_and_others_stay) {
    EXPECT_EQ(report::demangled("_ZN2ns6solver4stepEd"), "ns::solver::step(double)");
    EXPECT_EQ(report::demangled("exchange_"), "exchange_");
    for (const char* assemble : {"__mesh_MOD_assemble", "mesh_mp_assemble_", "_QMmeshPassemble"})
        EXPECT_EQ(report::demangled(assemble), "mesh::assemble");
    for (const char* other : {"__mesh_MOD_", "__MOD_assemble", "_mp_assemble_", "_QMmesh", "__libc_start_main"})
        EXPECT_EQ(report::demangled(other), other);
    EXPECT_EQ(report::demangled("_Znonsense"), "_Znonsense");
    EXPECT_EQ(report::demangled("_Z" + std::string(100'000, 'P')), "_Z" + std::string(100'000, 'P'));
    // As PyTorch has them: arguments of templates that fill a screen.
    std::string arguments;
    for (int i = 0; i < 40; ++i) arguments += "St6vectorIiSaIiEE";
    EXPECT_EQ(report::demangled("_ZN4c10d5Group10collectiveI" + arguments + "EEvi"), "c10d::Group::collective");
    EXPECT_LE(report::demangled("_Z1f" + std::string(900, 'P') + "i").size(), 500u);
}

TEST(symbols, functions_are_short_on_screens) {
    EXPECT_EQ(report::short_function("LAMMPS_NS::CommBrick::forward_comm(int)"), "LAMMPS_NS::CommBrick::forward_comm");
    EXPECT_EQ(report::short_function("void ns::run<std::vector<int> >(std::vector<int> const&) const"), "ns::run");
    EXPECT_EQ(report::short_function("ns::A::operator()(int) const"), "ns::A::operator()");
    EXPECT_EQ(report::short_function("(anonymous namespace)::step(double)"), "(anonymous namespace)::step");
    EXPECT_EQ(report::short_function("bool ns::operator< <int>(ns::T<int> const&)"), "bool ns::operator< ");
    EXPECT_EQ(report::short_function("exchange_halo_"), "exchange_halo_");
    EXPECT_EQ(report::short_function("odd>name"), "odd>name");
}

}  // namespace
}  // namespace mpiprof::test
