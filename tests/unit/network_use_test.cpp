// How this process reaches other nodes: its own descriptors, real sockets, and a list of mapped files that the test
// makes; and the ports of a node in a /sys that it makes.
#include "libmpiprof/host/network_use.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "libmpiprof/format/network.h"
#include "libmpiprof/host/network_ports.h"
#include "tests/unit/image_tables.h"

namespace mpiprof::test {
namespace {

struct network : testing::Test {
    void SetUp() override {
        ASSERT_TRUE(image.open_private());
        char name[] = "/tmp/mpiprof-test-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        root = name;
    }
    void TearDown() override { std::filesystem::remove_all(root); }
    void write(const std::string& path, const std::string& text) {
        std::filesystem::create_directories((root / path).parent_path());
        std::ofstream(root / path) << text << "\n";
    }
    format::NetworkUse used() { return records_of<format::NetworkUse>(image, format::TableType::network_use).at(0); }
    std::map<std::string, std::string> facts() {
        std::map<std::string, std::string> found;
        for (const auto& fact : records_of<format::Fact>(image, format::TableType::facts))
            found[fact.name] = {reinterpret_cast<const char*>(image.at(fact.value_offset)), fact.value_length};
        return found;
    }
    bool has(const std::string& library) {
        std::uint64_t bit = 1;
        for (const char* known : format::network_libraries) {
            if (library == known) return used().libraries & bit;
            bit <<= 1;
        }
        ADD_FAILURE() << library << " is not looked for";
        return false;
    }
    Image image;
    NetworkUse use;
    std::filesystem::path root;
};

// A connection over the loopback, through the address that is given.
struct Connection {
    explicit Connection(const char* address) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        inet_pton(AF_INET, address, &at.sin_addr);
        socklen_t size = sizeof at;
        const auto any = reinterpret_cast<sockaddr*>(&at);
        if (bind(listener, any, size) != 0 || listen(listener, 1) != 0) return;
        getsockname(listener, any, &size);
        is_open = connect(one, any, size) == 0 && (other = accept(listener, nullptr, nullptr)) >= 0;
    }
    ~Connection() {
        for (const int fd : {listener, one, other})
            if (fd >= 0) close(fd);
    }
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = socket(AF_INET, SOCK_STREAM, 0), other = -1;
    bool is_open = false;
};

TEST_F(network, connections_within_the_host_are_none_to_others) {
    const Connection loopback("127.0.0.1");
    ASSERT_TRUE(loopback.is_open);
    use.open(image);
    use.look();
    EXPECT_EQ(used().looks, 1u);
    EXPECT_EQ(used().connections, 0u);
    EXPECT_EQ(used().bytes, 0u);
}

TEST_F(network, a_look_leaves_descriptors_errors_and_errno_as_they_are) {
    const Connection loopback("127.0.0.1");
    ASSERT_TRUE(loopback.is_open);
    const int refused = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), file = open("/dev/null", O_RDONLY);
    sockaddr_in nobody{};
    nobody.sin_family = AF_INET;
    nobody.sin_port = htons(1);
    nobody.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(refused, reinterpret_cast<sockaddr*>(&nobody), sizeof nobody);  // its error waits to be asked for
    ASSERT_EQ(::write(loopback.one, "abc", 3), 3);
    usleep(1000);
    const int next = dup(file);  // whatever else was open before
    close(next);
    errno = EDOM;
    use.open(image);
    use.look();
    EXPECT_EQ(errno, EDOM);
    int error = 0;
    socklen_t size = sizeof error;
    ASSERT_EQ(getsockopt(refused, SOL_SOCKET, SO_ERROR, &error, &size), 0);
    EXPECT_EQ(error, ECONNREFUSED) << "the program's to take";
    char text[4] = "";
    EXPECT_EQ(::read(loopback.other, text, 3), 3);
    EXPECT_STREQ(text, "abc");
    EXPECT_EQ(dup(file), next) << "no descriptor is left open";
    close(next);
    close(file);
    close(refused);
}

TEST_F(network, libraries_are_known_by_the_names_of_mapped_files) {
    write("proc/self/maps",
          "7f01-7f02 r-xp 00000000 08:01 11 /usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_btl_tcp.so\n"
          "7f03-7f04 r-xp 00000000 08:01 12 /opt/ucx/lib/libucp.so.0.0.0\n"
          "7f05-7f06 r-xp 00000000 08:01 13 /home/user/not_libfabric.so\n"
          "7ffd-7ffe rw-p 00000000 00:00 0 [stack]");
    use.open(image, root.c_str());
    use.look();
    EXPECT_TRUE(has("mca_btl_tcp"));
    EXPECT_TRUE(has("libucp.so"));
    EXPECT_FALSE(has("libfabric.so"));
    write("proc/self/maps", "7f01-7f02 r-xp 00000000 08:01 11 /opt/lib/libfabric.so.1");
    use.look();
    EXPECT_TRUE(has("libfabric.so"));
    EXPECT_TRUE(has("mca_btl_tcp")) << "what was there once counts";
    EXPECT_EQ(used().looks, 2u);
}

// As Documentation/ABI/stable/sysfs-class-infiniband has it, and Slingshot's driver.
TEST_F(network, each_port_of_an_adapter_is_a_fact_with_its_state_kind_and_rate) {
    const std::string mlx = "sys/class/infiniband/mlx5_0/ports/";
    write(mlx + "1/state", "4: ACTIVE");
    write(mlx + "1/link_layer", "InfiniBand");
    write(mlx + "1/rate", "200 Gb/sec (4X HDR)");
    write(mlx + "2/state", "1: DOWN");
    write(mlx + "2/link_layer", "Ethernet");
    write(mlx + "2/rate", "40 Gb/sec (4X QDR)");
    write("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0");
    write("sys/class/infiniband_verbs/abi_version", "6");
    write("sys/class/cxi/cxi0/device/port/link", "up");
    write("sys/class/cxi/cxi0/device/port/speed", "BS_200G");
    record_network_ports(image, root.c_str());
    EXPECT_EQ(facts(), (std::map<std::string, std::string>{{"port.mlx5_0/1", "ACTIVE InfiniBand 200 Gb/sec (4X HDR)"},
                                                           {"port.mlx5_0/2", "DOWN Ethernet 40 Gb/sec (4X QDR)"},
                                                           {"port.cxi0/1", "up Slingshot BS_200G"},
                                                           {"verbs.uverbs0", "mlx5_0"}}));
}

TEST_F(network, a_node_without_fabric_has_no_facts_of_it) {
    record_network_ports(image, root.c_str());
    EXPECT_TRUE(facts().empty());
}

}  // namespace
}  // namespace mpiprof::test
