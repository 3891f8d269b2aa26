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
    format::NodeCounter event(const std::string& name) {
        for (const auto& c : records_of<format::NodeCounter>(image, format::TableType::node_counters))
            if (name == c.name && c.unit == format::NodeCounterUnit::events) return c;
        ADD_FAILURE() << name << " is not counted";
        return {};
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

TEST_F(node_counters, all_ports_of_an_adapter_count) {
    write("class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "100");
    write("class/infiniband/mlx5_0/ports/2/counters/port_xmit_data", "100");
    counters.open(image, root.c_str());
    write("class/infiniband/mlx5_0/ports/2/counters/port_xmit_data", "350");
    counters.update();

    EXPECT_EQ(counted(), (std::map<std::string, std::uint64_t>{{"link.mlx5_0.tx", 0}, {"link.mlx5_0/2.tx", 1000}}));
}

TEST_F(node_counters, a_counter_of_bytes_that_stopped_at_32_bits_is_not_known) {
    write("class/infiniband/mthca0/ports/1/counters/port_xmit_data", "4294967290");
    write("class/infiniband/mthca0/ports/1/counters/port_rcv_data", "4294967295");
    counters.open(image, root.c_str());
    EXPECT_FALSE(counted().contains("link.mthca0.rx")) << "it had stopped before";
    write("class/infiniband/mthca0/ports/1/counters/port_xmit_data", "4294967295");
    counters.update();
    for (const auto& c : records_of<format::NodeCounter>(image, format::TableType::node_counters))
        EXPECT_LT(c.last, c.at_start) << "as one that was set back, which the report leaves out";
}

TEST_F(node_counters, ports_count_what_goes_wrong) {
    const std::string port = "class/infiniband/mlx5_0/ports/1/", cxi = "class/cxi/cxi0/device/telemetry/",
                      eth = "class/net/eth0/statistics/";
    write(port + "counters/symbol_error", "65530");
    write(port + "counters/port_xmit_wait", "7");
    write(port + "hw_counters/out_of_sequence", "10");
    write(cxi + "pct_spt_timeouts", "3@1700000000.123456789");
    write(cxi + "hni_rx_paused_5", "1000@1700000000.123456789");
    write("class/net/eth0/speed", "10000");
    write(eth + "rx_crc_errors", "0");
    write("class/net/lo/statistics/rx_errors", "9");  // and no speed
    counters.open(image, root.c_str());
    write(port + "counters/symbol_error", "65535");
    write(port + "hw_counters/out_of_sequence", "25");
    write(cxi + "pct_spt_timeouts", "8@1700000009.123456789");
    write(eth + "rx_crc_errors", "4");
    std::filesystem::remove(root / "sys" / (port + "counters/port_xmit_wait"));
    counters.update();

    const auto moved = [&](const char* name) { return event(name).last - event(name).at_start; };
    EXPECT_EQ(moved("port.mlx5_0/1.out_of_sequence"), 15u);
    EXPECT_EQ(moved("port.cxi0/1.pct_spt_timeouts"), 5u);
    EXPECT_EQ(moved("port.cxi0/1.hni_rx_paused_5"), 0u);
    EXPECT_EQ(moved("port.eth0.rx_crc_errors"), 4u);
    const auto symbols = event("port.mlx5_0/1.symbol_error");
    EXPECT_EQ(symbols.last, symbols.wraps_at) << "it has 16 bits and stops there";
    EXPECT_NE(event("port.mlx5_0/1.port_xmit_wait").wraps, 0u) << "it could not be read at last";
    EXPECT_FALSE(counted().contains("port.lo.rx_errors"));
}

TEST_F(node_counters, trouble_is_read_less_and_less_often) {
    const std::string file = "class/infiniband/mlx5_0/ports/1/counters/link_downed";
    write(file, "0");
    counters.open(image, root.c_str());
    std::string seen;
    for (int refresh = 1; refresh <= 8; ++refresh) {
        write(file, std::to_string(refresh));
        counters.refresh({image, true, 0, 0});
        seen += std::to_string(event("port.mlx5_0/1.link_downed").last);
    }
    EXPECT_EQ(seen, "12244448");
    write(file, "9");
    counters.end({image, true, 0, 0});
    EXPECT_EQ(event("port.mlx5_0/1.link_downed").last, 9u) << "and at the end";
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
