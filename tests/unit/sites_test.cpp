// Call sites: an address has one id, and is stored so that it means the same on every rank.
#include "libmpiprof/record/sites.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "tests/unit/image_tables.h"

namespace mpiprof::test {
namespace {

using format::Frame;
using format::Module;
using format::Site;
using format::TableType;

struct Place {  // what the profile says of a site
    Frame frame;
    Module module;
    std::string path;
};

class sites : public testing::Test {
  protected:
    sites() { EXPECT_TRUE(image.open_private()); }
    Place place_of(std::uint32_t site) const {
        const Site record = records_of<Site>(image, TableType::sites).at(site);
        EXPECT_EQ(record.frames, 1);
        const Frame frame = records_of<Frame>(image, TableType::frames).at(record.first_frame);
        const Module module = records_of<Module>(image, TableType::modules).at(frame.module);
        return {frame, module, std::string(image.at(module.path_offset), module.path_length)};
    }
    std::uint32_t find(Word address) {
        CallStack stack;
        stack.depth = 1;
        stack.address[0] = address;
        return found.find(image, {{address, 0, 0}}, stack);
    }
    std::uint32_t find(const void* address) { return find(reinterpret_cast<Word>(address)); }

    Image image;
    Sites found;
};

void somewhere() {}
const char* inside(void (*function)()) { return reinterpret_cast<const char*>(function) + 1; }

TEST_F(sites, the_same_address_is_the_same_site) {
    const std::uint32_t first = find(inside(somewhere));
    const std::uint32_t other = find(inside(somewhere) + 1);

    EXPECT_NE(first, 0u) << "site 0 means not told apart";
    EXPECT_NE(first, other);
    EXPECT_EQ(find(inside(somewhere)), first);
    EXPECT_EQ(find(inside(somewhere) + 1), other);
    EXPECT_EQ(records_of<Site>(image, TableType::sites).size(), 3u);
}

// An interpreter whose frames are what the test says.
struct Running {
    const void* code;
    std::int32_t instruction;
};
thread_local std::vector<Running> running;
unsigned frames_running(ScriptFrame* frames, unsigned most) {
    unsigned n = 0;
    for (; n < most && n < running.size(); ++n)
        frames[n] = {running[n].code, running[n].instruction, reinterpret_cast<std::uintptr_t>(running[n].code)};
    return n;
}
void describe_running(const ScriptFrame& frame, ScriptPlace& place) {
    std::strcpy(place.file, "model.py");
    std::strcpy(place.function, static_cast<const char*>(frame.code));
    place.line = frame.instruction * 10;
    place.first_line = 1;
}
const Interpreter* interpreter() {
    static constexpr Interpreter ours{[](std::intptr_t return_address) { return return_address < 0x10000; },
                                      frames_running, describe_running};
    return &ours;
}
constexpr char train[] = "train", step[] = "step";

TEST_F(sites, a_script_is_told_apart_by_its_lines) {
    found.interpreter = interpreter;
    running = {{step, 1}, {train, 2}};
    const std::uint32_t first = found.find_script(image, 0x1000);
    running = {{step, 1}, {train, 3}};
    const std::uint32_t other_caller = found.find_script(image, 0x1000);
    running = {{step, 1}};
    const std::uint32_t without_caller = found.find_script(image, 0x1000);
    running = {{step, 1}, {train, 2}};

    EXPECT_NE(first, 0u);
    EXPECT_NE(first, other_caller);
    EXPECT_NE(first, without_caller);
    EXPECT_EQ(found.find_script(image, 0x1000), first);
    EXPECT_NE(found.find_script(image, 0x2000), first) << "another call in the interpreter's library";
    const Site site = records_of<Site>(image, TableType::sites).at(first);
    EXPECT_EQ(site.frames, 2);
    EXPECT_EQ(site.flags & 15, 2) << "all frames are those of every call";
    const auto frames = records_of<Frame>(image, TableType::frames);
    const auto modules = records_of<Module>(image, TableType::modules);
    EXPECT_EQ(modules.size(), 3u) << "none, and one for each function";
    const auto text = [&](std::uint64_t offset, std::uint32_t length) { return std::string(image.at(offset), length); };
    const std::pair<const char*, std::uint64_t> expected[] = {{step, 10}, {train, 20}};
    for (unsigned i = 0; i < 2; ++i) {
        const Frame& frame = frames.at(site.first_frame + i);
        const Module& module = modules.at(frame.module);
        EXPECT_EQ(frame.offset, expected[i].second);
        EXPECT_EQ(text(module.path_offset, module.path_length), "model.py");
        EXPECT_EQ(text(module.function_offset, module.function_length), expected[i].first);
        EXPECT_EQ(module.language, format::Language::python);
    }
}

TEST_F(sites, without_a_script_the_stack_tells) {
    EXPECT_EQ(found.find_script(image, 0x1000), 0u) << "no interpreter";
    found.interpreter = interpreter;
    running.clear();
    EXPECT_EQ(found.find_script(image, 0x1000), 0u) << "a thread that runs none";
    running = {{step, 1}};
    EXPECT_EQ(found.find_script(image, 0x20000), 0u) << "a call of a library that the script uses";
    found.depth = 1;
    EXPECT_EQ(found.find_script(image, 0x1000), 0u) << "only the call itself is asked for";
}

TEST_F(sites, a_site_in_the_program_is_an_offset_into_its_file) {
    Dl_info info;
    ASSERT_NE(dladdr(reinterpret_cast<const void*>(inside(somewhere)), &info), 0);

    const Place place = place_of(find(inside(somewhere)));

    EXPECT_EQ(place.module.base + place.frame.offset, reinterpret_cast<std::uint64_t>(inside(somewhere)));
    EXPECT_EQ(place.module.base, reinterpret_cast<std::uint64_t>(info.dli_fbase));
    char self[4096] = {};
    ASSERT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    EXPECT_EQ(place.path, self);
}

TEST_F(sites, a_site_in_a_library_is_an_offset_into_its_file) {
    const auto* address = reinterpret_cast<const char*>(dlsym(RTLD_DEFAULT, "qsort")) + 4;
    Dl_info info;
    ASSERT_NE(dladdr(address, &info), 0);

    const Place place = place_of(find(address));

    EXPECT_EQ(place.path, info.dli_fname);
    EXPECT_EQ(place.frame.offset, static_cast<std::uint64_t>(address - static_cast<const char*>(info.dli_fbase)));
    EXPECT_GT(place.module.end, reinterpret_cast<std::uint64_t>(address));
}

// The build-id as it stands in the file: the note's 20 bytes follow its name.
bool file_holds(const std::string& path, const std::string& bytes) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return text.find(std::string("GNU\0", 4) + bytes) != std::string::npos;
}

TEST_F(sites, a_module_has_the_build_id_of_its_file) {
    const auto* address = reinterpret_cast<const char*>(dlsym(RTLD_DEFAULT, "qsort")) + 4;

    const Place place = place_of(find(address));

    ASSERT_GE(place.module.build_id_length, 8u) << "Debian's libc has one";
    const auto* id = reinterpret_cast<const char*>(place.module.build_id);
    EXPECT_TRUE(file_holds(place.path, std::string(id, place.module.build_id_length)));
}

TEST_F(sites, two_sites_of_a_module_share_its_record) {
    const Place a = place_of(find(inside(somewhere)));
    const Place b = place_of(find(inside(somewhere) + 1));

    EXPECT_EQ(a.frame.module, b.frame.module);
    EXPECT_EQ(records_of<Module>(image, TableType::modules).size(), 2u);  // and the one that means unknown
}

TEST_F(sites, generated_code_in_no_file_keeps_its_address) {
    const Place place = place_of(find(0x123456));

    EXPECT_EQ(place.frame.module, 0u);
    EXPECT_EQ(place.frame.offset, 0x123456u);
    EXPECT_EQ(place.path, "");
}

TEST_F(sites, a_stack_is_stored_innermost_first_and_says_how_much_of_it_is_compared) {
    CallStack stack;
    stack.depth = 5;
    for (unsigned i = 0; i < stack.depth; ++i) stack.address[i] = reinterpret_cast<Word>(inside(somewhere)) + i;
    find(inside(somewhere) + 100);

    const std::uint32_t site = found.find(image, {{stack.address[0], stack.address[1], 0}}, stack);

    const Site record = records_of<Site>(image, TableType::sites).at(site);
    EXPECT_EQ(record.frames, 5);
    EXPECT_EQ(record.flags, 2);
    const auto frames = records_of<Frame>(image, TableType::frames);
    for (unsigned i = 0; i < record.frames; ++i)
        EXPECT_EQ(frames.at(record.first_frame + i).offset, frames.at(record.first_frame).offset + i);
    EXPECT_EQ(found.known(image, {{stack.address[0], stack.address[1], 0}}), site);
    EXPECT_EQ(found.known(image, {{stack.address[0], stack.address[2], 0}}), 0u);
}

TEST_F(sites, a_module_can_be_known_before_there_is_a_site_in_it) {
    found.know_module(image, reinterpret_cast<Word>(inside(somewhere)));

    EXPECT_EQ(records_of<Module>(image, TableType::modules).size(), 2u);
    EXPECT_EQ(records_of<Site>(image, TableType::sites).size(), 1u) << "the one that means not told apart";
}

// ---- scripts ----

struct MadeFunction {
    const void* code;
    const char *file, *function;
    int first_line;
};
MadeFunction made;  // what the script is in

const Interpreter made_interpreter{
    [](std::intptr_t) { return true; },
    [](ScriptFrame* frames, unsigned) {
        const std::string who = made.file + std::string(made.function) + std::to_string(made.first_line);
        frames[0] = {made.code, 3, std::hash<std::string>{}(who) ^ reinterpret_cast<std::uintptr_t>(made.code)};
        return 1u;
    },
    [](const ScriptFrame&, ScriptPlace& place) {
        strcpy(place.file, made.file);
        strcpy(place.function, made.function);
        place.first_line = made.first_line;
        place.line = made.first_line + 1;
    }};

class scripts : public sites {
  protected:
    scripts() {
        found.interpreter = [] { return &made_interpreter; };
    }
    std::string function_of(std::uint32_t site) const {
        const Module module = place_of(site).module;
        return std::string(image.at(module.function_offset), module.function_length);
    }
};

TEST_F(scripts, a_function_that_comes_to_anothers_place_has_its_own_name) {
    made = {&made, "a.py", "pressure", 10};
    const std::uint32_t first = found.find_script(image, 0x1234);
    made = {&made, "a.py", "chemistry", 10};
    const std::uint32_t second = found.find_script(image, 0x1234);
    made = {&made, "b.py", "chemistry", 10};
    const std::uint32_t third = found.find_script(image, 0x1234);
    made = {&made, "b.py", "chemistry", 20};
    const std::uint32_t fourth = found.find_script(image, 0x1234);

    EXPECT_EQ(function_of(first), "pressure");
    EXPECT_EQ(function_of(second), "chemistry");
    EXPECT_EQ(place_of(second).path, "a.py");
    EXPECT_EQ(place_of(third).path, "b.py");
    EXPECT_EQ(place_of(fourth).frame.offset, 21u);
    EXPECT_NE(place_of(third).frame.module, place_of(fourth).frame.module);
}

TEST_F(scripts, a_function_that_is_made_anew_each_time_is_the_same_site) {
    const char codes[100] = {};
    for (const char& code : codes) {
        made = {&code, "a.py", "step", 10};
        EXPECT_EQ(found.find_script(image, 0x1234), 1u);
    }
    EXPECT_EQ(records_of<Module>(image, TableType::modules).size(), 2u);
    EXPECT_EQ(image.header().drops.sites, 0u);
}

TEST_F(scripts, more_functions_than_find_room_are_counted_and_have_one_name) {
    std::uint32_t last = 0;
    for (int line = 1; line <= 9000; ++line) {
        made = {&made, "a.py", "step", line};
        last = found.find_script(image, 0x1234);
    }
    EXPECT_GT(image.header().drops.sites, 0u);
    EXPECT_LT(image.header().drops.sites, 1000u);
    EXPECT_EQ(place_of(last).path, "(other modules)");
    EXPECT_EQ(place_of(last).frame.offset, 0u) << "which is the same on every rank";
}

TEST_F(sites, more_sites_than_the_table_holds_are_counted_as_not_told_apart) {
    constexpr Word many = 20000;
    std::uint32_t dropped = 0;
    for (Word i = 1; i <= many; ++i) dropped += find(i * 64) == 0;

    EXPECT_GT(dropped, 0u);
    EXPECT_LT(dropped, many / 2);
    EXPECT_EQ(image.header().drops.sites, dropped);
    for (Word i = 1; i <= 1000; ++i) {  // those that were in are still found
        const std::uint32_t site = find(i * 64);
        ASSERT_NE(site, 0u);
        ASSERT_EQ(place_of(site).frame.offset, static_cast<std::uint64_t>(i) * 64);
        if (i == 20) i = 980;  // each look reads the whole table
    }
    EXPECT_EQ(image.header().drops.sites, dropped);
}

}  // namespace
}  // namespace mpiprof::test
