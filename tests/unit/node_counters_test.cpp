// What a node counts of itself, read from a /sys that the test makes.
#include "libmpiprof/host/node_counters.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tests/unit/image_tables.h"

namespace mpiprof::test {
namespace {

struct node_counters : testing::Test {
    void SetUp() override {
        ASSERT_TRUE(image.open_private());
        char name[] = "/tmp/mpiprof-test-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        root = name;
    }
    void TearDown() override { std::filesystem::remove_all(root); }
    void write(const std::string& path, const std::string& text) {
        const auto file = root / "sys" / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text << "\n";
    }
    std::map<std::string, std::uint64_t> counted() {
        std::map<std::string, std::uint64_t> found;
        for (const auto& c : records_of<format::NodeCounter>(image, format::TableType::node_counters))
            found[c.name] = c.last - c.at_start + c.wraps * c.wraps_at;
        return found;
    }
    Image image;
    NodeCounters counters;
    std::filesystem::path root;
};

TEST_F(node_counters, energy_goes_on_where_the_counter_runs_over) {
    write("class/powercap/intel-rapl:0/name", "package-0");
    write("class/powercap/intel-rapl:0/max_energy_range_uj", "1000000");
    write("class/powercap/intel-rapl:0/energy_uj", "999000");
    counters.open(image, root.c_str());
    EXPECT_EQ(counted(), (std::map<std::string, std::uint64_t>{{"energy.intel-rapl:0:package-0", 0}}));

    write("class/powercap/intel-rapl:0/energy_uj", "500");
    counters.update();
    EXPECT_EQ(counted()["energy.intel-rapl:0:package-0"], 1500u);
    write("class/powercap/intel-rapl:0/energy_uj", "2500");
    counters.update();
    EXPECT_EQ(counted()["energy.intel-rapl:0:package-0"], 3500u);
}

TEST_F(node_counters, what_cannot_be_read_is_left_out) {
    write("class/powercap/intel-rapl:0/name", "package-0");  // and no energy_uj: only root may read it
    write("class/net/lo/statistics/tx_bytes", "7");          // and no speed
    write("class/net/down0/speed", "-1");
    write("class/net/down0/statistics/tx_bytes", "7");
    counters.open(image, root.c_str());
    counters.update();

    EXPECT_TRUE(counted().empty());
}

TEST_F(node_counters, links_count_bytes) {
    write("class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "100");
    write("class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "50");
    write("class/net/hsn0/speed", "200000");
    write("class/net/hsn0/statistics/tx_bytes", "10");
    write("class/net/hsn0/statistics/rx_bytes", "20");
    counters.open(image, root.c_str());
    write("class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "350");
    write("class/net/hsn0/statistics/rx_bytes", "2020");
    counters.update();

    EXPECT_EQ(counted(),
              (std::map<std::string, std::uint64_t>{
                  {"link.mlx5_0.tx", 1000}, {"link.mlx5_0.rx", 0}, {"link.hsn0.tx", 0}, {"link.hsn0.rx", 2000}}));
}

TEST_F(node_counters, a_cray_node_counts_joules) {
    write("cray/pm_counters/energy", "700000 J");
    write("cray/pm_counters/accel_energy", "400000 J");
    counters.open(image, root.c_str());
    write("cray/pm_counters/energy", "700900 J");
    counters.update();

    EXPECT_EQ(counted()["energy.node"], 900'000'000u);
    EXPECT_EQ(counted()["energy.accelerators"], 0u);
}

}  // namespace
}  // namespace mpiprof::test
