// Plug-ins that are unloaded before the next one comes, which then lies where they lay: whose calls are whose.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/unit/wrapped.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;

const fs::path here = PLUGINS;
using Call = Word (*)(Word, Word, Word, Word);

// A function that stays, through which plug-ins call.
[[gnu::noinline]] Word send_through_here(Word a, Word b, Word c, Word d) {
    const Word result = FAKE_Send(a, b, c, d);
    asm volatile("" ::: "memory");
    return result;
}

struct unloading : wrap {
    fs::path place = fs::temp_directory_path() / ("mpiprof-plugin-" + std::to_string(getpid()));
    std::uintptr_t last_place = 0;
    bool is_elsewhere = false;
    std::map<std::string, std::uint64_t> before = calls_of_modules();

    unloading() {
        runtime.records().sites.watch = [](void* handle, void* range) {
            return mpiprof::wrap::call_at_unloading(handle, Sites::object_goes, range);
        };
        fs::create_directory(place);
    }
    ~unloading() override { fs::remove_all(place); }

    // Loads it, makes so many calls, and unloads it.
    void run(const fs::path& plugin, int calls, Call by = FAKE_Send) {
        void* handle = dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(handle, nullptr) << dlerror();
        const auto step = reinterpret_cast<void (*)(Call, int)>(dlsym(handle, "step"));
        is_elsewhere |= last_place != 0 && last_place != reinterpret_cast<std::uintptr_t>(step);
        last_place = reinterpret_cast<std::uintptr_t>(step);
        step(by, calls);
        dlclose(handle);
    }
    static Image& image() { return runtime.records().image; }
    // By the first frame of each site that is in a file of this name, and its build-id's first byte.
    static std::map<std::string, std::uint64_t> calls_of_modules() {
        std::map<std::string, std::uint64_t> calls;
        const auto all_sites = records_of<format::Site>(image(), format::TableType::sites);
        const auto frames = records_of<format::Frame>(image(), format::TableType::frames);
        const auto modules = records_of<format::Module>(image(), format::TableType::modules);
        for (const auto& cell : cells_of(image())) {
            if (cell.site == 0) continue;
            const format::Site& site = all_sites.at(cell.site);
            for (unsigned i = 0; i < site.frames && i < site.flags; ++i) {
                const format::Module& module = modules.at(frames.at(site.first_frame + i).module);
                const std::string path(image().at(module.path_offset), module.path_length);
                if (path.find("plugin") == std::string::npos) continue;
                calls[std::to_string(&module - modules.data()) + ":" + fs::path(path).filename().string()] +=
                    cell.calls;
                break;
            }
        }
        return calls;
    }
    // Of modules of this file name, in the order in which they came.
    std::vector<std::uint64_t> calls_of(const std::string& name) const {
        std::vector<std::pair<int, std::uint64_t>> found;
        for (const auto& [key, calls] : calls_of_modules()) {
            const auto old = before.find(key);
            const std::uint64_t since = calls - (old == before.end() ? 0 : old->second);
            if (key.substr(key.find(':') + 1) == name && since != 0) found.push_back({std::stoi(key), since});
        }
        std::sort(found.begin(), found.end());
        std::vector<std::uint64_t> in_order;
        for (const auto& [module, calls] : found) in_order.push_back(calls);
        return in_order;
    }
    std::size_t sites() const { return records_of<format::Site>(image(), format::TableType::sites).size(); }
};

using Numbers = std::vector<std::uint64_t>;

TEST_F(unloading, calls_of_a_plugin_in_anothers_place_are_its_own) {
    run(here / "libpressure_plugin.so", 100);
    run(here / "libchemistry_plugin.so", 200);
    if (is_elsewhere) GTEST_SKIP() << "they lay in different places";

    EXPECT_EQ(calls_of("libpressure_plugin.so"), Numbers{100});
    EXPECT_EQ(calls_of("libchemistry_plugin.so"), Numbers{200});
}

TEST_F(unloading, calls_through_a_library_that_stays_are_told_by_their_plugin) {
    run(here / "libpressure_plugin.so", 100, send_through_here);
    run(here / "libchemistry_plugin.so", 200, send_through_here);
    if (is_elsewhere) GTEST_SKIP() << "they lay in different places";

    EXPECT_EQ(calls_of("libpressure_plugin.so"), Numbers{100});
    EXPECT_EQ(calls_of("libchemistry_plugin.so"), Numbers{200});
}

TEST_F(unloading, a_plugin_that_was_built_again_is_another_one) {
    for (const char* version : {"libpressure_plugin.so", "libchemistry_plugin.so"}) {
        fs::remove(place / "plugin.so");
        fs::copy_file(here / version, place / "plugin.so");
        run(place / "plugin.so", version[3] == 'p' ? 100 : 200);
    }
    EXPECT_EQ(calls_of("plugin.so"), (Numbers{100, 200})) << "told by its build-id";
}

TEST_F(unloading, one_without_a_build_id_is_told_by_when_it_was_written) {
    for (const int version : {1, 2}) {
        fs::remove(place / "plugin.so");
        fs::copy_file(here / "libpressure_plugin_without_id.so", place / "plugin.so");
        fs::last_write_time(place / "plugin.so", fs::file_time_type(std::chrono::hours(version)));
        run(place / "plugin.so", version * 100);
    }
    EXPECT_EQ(calls_of("plugin.so"), (Numbers{100, 200}));
}

TEST_F(unloading, a_plugin_that_comes_back_has_the_sites_that_it_had) {
    run(here / "libpressure_plugin.so", 100);
    run(here / "libchemistry_plugin.so", 100);
    const std::size_t before_cycles = sites();
    for (int i = 0; i < 50; ++i) {
        run(here / "libpressure_plugin.so", 100);
        run(here / "libchemistry_plugin.so", 100);
    }

    EXPECT_LE(sites(), before_cycles + 2) << "but for the lines of this test";
    EXPECT_EQ(calls_of("libpressure_plugin.so"), Numbers{5100});
}

TEST_F(unloading, what_is_known_of_others_stays_known) {
    run(here / "libpressure_plugin.so", 10);
    send_eight_bytes();
    const std::size_t before_unloading = sites();
    run(here / "libpressure_plugin.so", 10);
    send_eight_bytes();

    EXPECT_LE(sites(), before_unloading + 2);
}

}  // namespace
}  // namespace mpiprof::test
