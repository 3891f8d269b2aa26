// The way between nodes: what is said of transports and ports, and when the rules of the network speak and keep silent.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "report/analysis/analysed.h"
#include "report/analysis/findings.h"
#include "report/analysis/transports.h"
#include "report/sections/rule_words.h"
#include "tests/report/placement_jobs.h"
#include "tests/report/shown.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Finding;
using report::Job;
using report::Rule;

constexpr std::uint64_t MiB = 1 << 20;

// Two ranks on two nodes with an InfiniBand adapter each, connected by TCP over eth0; changed as a test likes.
std::vector<ProfileSpec> two_by_tcp(const std::function<void(std::vector<ProfileSpec>&)>& change = {}) {
    auto ranks = ranks_at({{"0"}, {"0", "nid2"}});
    for (ProfileSpec& spec : ranks) {
        format::NetworkUse use{};
        use.looks = 2;
        use.connections = 1;
        use.bytes = 512 * MiB;
        use.segments = 400'000;
        use.retransmitted = 4;
        std::strcpy(use.interfaces[0], "eth0");
        use.ends[0] = 0xabcdef;
        use.libraries = 1u << 0 | 1u << 5;
        spec.network = use;
        using enum format::FactKind;
        spec.facts.insert(spec.facts.end(), {{node, "port.mlx5_0/1", "ACTIVE InfiniBand 200 Gb/sec (4X HDR)"},
                                             {node, "verbs.uverbs0", "mlx5_0"},
                                             {node, "net_mbit.eth0", "10000"}});
    }
    if (change) change(ranks);
    return ranks;
}

std::vector<Finding> found(const Job& job) {
    std::vector<Finding> findings;
    report::find_network_trouble(job, findings);
    return findings;
}
std::vector<Finding> found(const std::function<void(std::vector<ProfileSpec>&)>& change) {
    return found(job_of(two_by_tcp(change)));
}
std::string placement(const Job& job) { return shown(job, "placement", {}, "text"); }

TEST(slow_transport, tcp_beside_an_idle_fabric_is_said_with_both) {
    const Job job = job_of(two_by_tcp());
    const auto findings = found(job);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].rule, Rule::slow_transport);
    EXPECT_TRUE(findings[0].is_serious);
    EXPECT_EQ(words_of(findings[0], job),
              "Ranks 0 and 1 on 2 nodes are connected by TCP over eth0 (10 Gb/s), which carried 1 GiB; mlx5_0 "
              "(InfiniBand, 200 Gb/sec (4X HDR)) is up on their nodes, and no rank has it open.");
    EXPECT_NE(advice_of(findings[0], job).find("--mca pml ucx"), std::string::npos) << advice_of(findings[0], job);
    EXPECT_NE(shown(job, "summary", {}, "text").find("[slow-transport]"), std::string::npos);
}

TEST(slow_transport, a_variable_that_asks_for_tcp_is_named) {
    const Job job = job_of(two_by_tcp([](auto& ranks) {
        for (ProfileSpec& spec : ranks)
            spec.facts.push_back({format::FactKind::environment, "OMPI_MCA_btl", "tcp,self"});
    }));
    const auto findings = found(job);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_NE(words_of(findings[0], job).find("OMPI_MCA_btl=tcp,self asks for that."), std::string::npos);
    EXPECT_NE(advice_of(findings[0], job).find("without OMPI_MCA_btl"), std::string::npos);
}

TEST(slow_transport, is_silent_where_something_is_not_proven) {
    using Ranks = std::vector<ProfileSpec>;
    EXPECT_TRUE(found([](Ranks& ranks) { ranks[1].network->verbs = 1; }).empty()) << "an adapter is open";
    EXPECT_TRUE(found([](Ranks& ranks) { ranks[1].network->ends[0] = 0x123; }).empty()) << "not between the ranks";
    EXPECT_TRUE(found([](Ranks& ranks) { ranks[1].network.reset(); }).empty()) << "nobody looked at one";
    EXPECT_TRUE(found([](Ranks& ranks) { ranks[1].network->looks = 0; }).empty()) << "nobody looked at one in time";
    EXPECT_TRUE(found([](Ranks& ranks) {
                    for (ProfileSpec& spec : ranks) spec.network->bytes = MiB / 4;
                }).empty())
        << "hardly anything went through";
    EXPECT_TRUE(found([](Ranks& ranks) {
                    ranks[1].host = ranks[0].host;
                    ranks[1].node = ranks[0].node;
                }).empty())
        << "one node";
    const auto set_port = [](Ranks& ranks, std::size_t rank, const char* text) {
        for (FactSpec& fact : ranks[rank].facts)
            if (fact.name == "port.mlx5_0/1") fact.value = text;
    };
    EXPECT_TRUE(found([&](Ranks& ranks) { set_port(ranks, 1, "DOWN InfiniBand 10 Gb/sec (4X SDR)"); }).empty())
        << "the other node's port is down";
    EXPECT_TRUE(found([&](Ranks& ranks) {
                    for (std::size_t r : {0, 1}) set_port(ranks, r, "ACTIVE Ethernet 10 Gb/sec (4X SDR)");
                }).empty())
        << "RoCE that is no faster than eth0";
    EXPECT_TRUE(found([](Ranks& ranks) {
                    for (ProfileSpec& spec : ranks)
                        std::erase_if(spec.facts, [](const FactSpec& f) { return f.name == "nic_pci.mlx5_0"; });
                }).empty())
        << "an adapter made of software";
    EXPECT_TRUE(found([](Ranks& ranks) {
                    ranks[0].facts.push_back({format::FactKind::process, "not_profiled", "Gloo"});
                }).empty())
        << "Gloo's connections, perhaps";
}

TEST(slow_transport, much_faster_roce_is_said_as_a_remark) {
    const auto findings = found([](auto& ranks) {
        for (ProfileSpec& spec : ranks)
            for (FactSpec& fact : spec.facts)
                if (fact.name == "port.mlx5_0/1") fact.value = "ACTIVE Ethernet 100 Gb/sec (4X EDR)";
    });
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_FALSE(findings[0].is_serious);
}

TEST(retransmits, more_than_one_percent_is_said_of_the_ranks_that_sent_again) {
    const auto with = [](std::uint64_t again) {
        return job_of(two_by_tcp([again](auto& ranks) {
            ranks[1].network->retransmitted = again;
            ranks[1].network->verbs = 1;  // nothing else is wrong
        }));
    };
    const Job job = with(8'000);
    const auto findings = found(job);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].rule, Rule::retransmits);
    EXPECT_EQ(
        words_of(findings[0], job),
        "2.0% of the TCP segments that rank 1 sent to other nodes over eth0 had to be sent again (8,000 of 400,000).");
    EXPECT_TRUE(found(with(3'900)).empty());
    EXPECT_TRUE(found([](auto& ranks) {
                    ranks[1].network->verbs = 1;
                    ranks[1].network->segments = 100;
                    ranks[1].network->retransmitted = 10;
                }).empty())
        << "too few to tell";
}

// ---- the section ----

TEST(transports, are_one_sentence_for_ranks_that_are_alike) {
    const std::string text = placement(job_of(two_by_tcp()));
    EXPECT_NE(text.find("TRANSPORT BETWEEN NODES"), std::string::npos) << text;
    EXPECT_NE(text.find("no fabric adapter open, mlx5_0 (InfiniBand) up but not open"), std::string::npos) << text;
    EXPECT_NE(text.find("mca_pml_ob1, mca_btl_tcp"), std::string::npos) << text;
    const std::string csv = shown(job_of(two_by_tcp()), "placement", {}, "csv");
    EXPECT_NE(csv.find("2,\"0 and 1\",,eth0,true,2,1073741824,800000,8,"), std::string::npos) << csv;
}

TEST(transports, an_open_adapter_has_its_own_name) {
    const std::string text = placement(job_of(two_by_tcp([](auto& ranks) {
        for (ProfileSpec& spec : ranks) {
            spec.network = format::NetworkUse{};
            spec.network->looks = 1;
            spec.network->verbs = 1;
        }
    })));
    EXPECT_NE(text.find("Ranks 0 and 1: mlx5_0 open"), std::string::npos) << text;
}

TEST(transports, of_one_node_without_a_fabric_are_not_worth_a_line) {
    auto ranks = ranks_at({{"0"}, {"1"}});
    for (ProfileSpec& spec : ranks) {
        spec.network = format::NetworkUse{};
        spec.network->looks = 1;
    }
    EXPECT_EQ(placement(job_of(ranks)).find("TRANSPORT"), std::string::npos);
}

TEST(network_ports, show_what_moved_and_what_could_not_be_counted) {
    constexpr auto events = format::NodeCounterUnit::events;
    auto ranks = ranks_at({{"0"}});
    ranks[0].node_counters = {{"port.mlx5_0/1.port_rcv_errors", 12, events},
                              {"port.mlx5_0/1.link_downed", 0, events},
                              {"port.mlx5_0/1.symbol_error", 5, events, 65535},
                              {"port.mlx5_0/1.port_xmit_wait", 0, events, 0, true},
                              {"port.eth0.100.rx_errors", 3, events}};
    const std::string text = placement(job_of(ranks));
    for (const char* expected : {"NETWORK PORTS", "port_rcv_errors", "12", "saturated", "not readable", "eth0.100",
                                 "a cable may be bad", "not only this job's"})
        EXPECT_NE(text.find(expected), std::string::npos) << expected << "\n" << text;
    EXPECT_EQ(text.find("link_downed"), std::string::npos) << "it has not moved";
    ranks[0].node_counters = {{"port.mlx5_0/1.link_downed", 0, events}};
    EXPECT_EQ(placement(job_of(ranks)).find("NETWORK PORTS"), std::string::npos);
}

}  // namespace
}  // namespace mpiprof::test
