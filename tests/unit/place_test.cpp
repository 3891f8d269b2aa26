// Where a process runs, as facts in the profile; the environment that others read, with secrets masked.
#include "libmpiprof/host/place.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/host/environment.h"
#include "tests/unit/image_tables.h"

namespace mpiprof::test {
namespace {

using format::FactKind;

struct place : testing::Test {
    void SetUp() override { ASSERT_TRUE(image.open_private()); }
    // {name: value} of this kind.
    std::map<std::string, std::string> facts(FactKind kind) {
        std::map<std::string, std::string> found;
        for (const auto& fact : records_of<format::Fact>(image, format::TableType::facts))
            if (fact.kind == kind) found[fact.name] = std::string(image.at(fact.value_offset), fact.value_length);
        return found;
    }
    Image image;
};

TEST_F(place, the_cores_a_process_may_use_are_in_the_profile) {
    cpu_set_t before, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    int first = 0;
    while (!CPU_ISSET(first, &before)) ++first;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);

    record_place(image, false);
    sched_setaffinity(0, sizeof before, &before);

    EXPECT_EQ(facts(FactKind::process)["cpus_allowed"], std::to_string(first));
    EXPECT_EQ(facts(FactKind::process)["cpu_at_start"], std::to_string(first));
    EXPECT_TRUE(facts(FactKind::node).empty()) << "another rank describes the node";
}

TEST_F(place, the_node_is_described_by_one_of_its_ranks) {
    record_place(image, true);
    const auto node = facts(FactKind::node);
    char cpus[256];
    if (*first_line_of("/sys/devices/system/cpu/online", cpus)) {
        EXPECT_EQ(node.at("cpus"), cpus);
    }
    if (each_entry("/sys/devices/system/node/node0", [](const char*) {})) {
        EXPECT_TRUE(node.contains("numa_cpus.node0"));
    }
}

TEST_F(place, settings_of_others_are_kept_and_secrets_masked) {
    setenv("UCX_TLS", "rc,sm", 1);
    setenv("NCCL_API_TOKEN", "hunter2", 1);
    setenv("HOME_SWEET_HOME", "none of ours", 1);

    record_environment(image);

    auto variables = facts(FactKind::environment);
    EXPECT_EQ(variables["UCX_TLS"], "rc,sm");
    EXPECT_EQ(variables["NCCL_API_TOKEN"], "***");
    EXPECT_FALSE(variables.contains("HOME_SWEET_HOME"));
    for (const char* name : {"UCX_TLS", "NCCL_API_TOKEN", "HOME_SWEET_HOME"}) unsetenv(name);
}

TEST_F(place, where_devices_are_plugged_in_is_their_way_through_pci) {
    namespace fs = std::filesystem;
    const fs::path root = "place_test_" + std::to_string(getpid());
    fs::create_directory(root);
    const auto plug = [&](const char* name, const char* link) { fs::create_symlink(link, root / name); };
    plug("mlx5_0", "../../devices/pci0000:a0/0000:a0:03.1/0000:a1:00.0/infiniband/mlx5_0");
    plug("mlx5_2", "../../devices/pci0000:a0/0000:a0:03.1/0000:a1:00.1/mlx5_core.sf.4/infiniband/mlx5_2");
    plug("arm0", "../../devices/platform/40000000.pci/pci0000:00/0000:00:01.0/net/arm0");
    plug("0000:07:00.0", "../../../devices/pci10000:e0/10000:e0:06.0/10000:e1:00.0");
    plug("rxe0", "../../devices/virtual/infiniband/rxe0");
    { std::ofstream(root / "no_link") << "x"; }

    record_pci_paths(image, root.c_str(), "nic_pci", (root.string() + "/%s").c_str());
    fs::remove_all(root);

    EXPECT_EQ(facts(FactKind::node), (std::map<std::string, std::string>{
                                         {"nic_pci.mlx5_0", "pci0000:a0/0000:a0:03.1/0000:a1:00.0"},
                                         {"nic_pci.mlx5_2", "pci0000:a0/0000:a0:03.1/0000:a1:00.1"},
                                         {"nic_pci.arm0", "pci0000:00/0000:00:01.0"},
                                         {"nic_pci.0000:07:00.0", "pci10000:e0/10000:e0:06.0/10000:e1:00.0"},
                                     }));
}

TEST_F(place, a_directory_that_is_not_there_has_no_entries) {
    int seen = 0;
    EXPECT_FALSE(each_entry("/nowhere/at/all", [&](const char*) { ++seen; }));
    EXPECT_EQ(seen, 0);
}

}  // namespace
}  // namespace mpiprof::test
