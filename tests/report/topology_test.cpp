// How the devices of a node are connected: as the kernel's paths tell, and as a saved nvidia-smi topo -m says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/model/number_list.h"
#include "report/read/topology_text.h"
#include "report/sections/topology.h"
#include "tests/report/files.h"
#include "tests/report/goldens.h"
#include "tests/report/shown.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Job;
using report::NumberList;
using report::Question;

std::string show(const Job& job, const Question& question = {}, const char* view = "text") {
    return shown(job, "placement", question, view);
}

// Half of a machine with eight GPUs: two on each switch, an adapter beside each pair, two switches below one bridge,
// and the other half.
ProfileSpec with_switches() {
    using enum format::FactKind;
    ProfileSpec spec;
    spec.host = "dgx1";
    spec.facts = {{node, "numa_cpus.node0", "0-19,40-59"}, {node, "numa_cpus.node1", "20-39,60-79"}};
    const auto plug = [&](const char* kind, const char* name, const char* numa, const char* path) {
        spec.facts.push_back({node, fmt::format("{}_numa.{}", kind, name), numa});
        spec.facts.push_back({node, fmt::format("{}_pci.{}", kind, name), path});
    };
    plug("gpu", "0000:06:00.0", "0", "pci0000:00/0000:00:02.0/0000:03:00.0/0000:04:08.0/0000:06:00.0");
    plug("gpu", "0000:07:00.0", "0", "pci0000:00/0000:00:02.0/0000:03:00.0/0000:04:0c.0/0000:07:00.0");
    plug("gpu", "0000:0a:00.0", "0", "pci0000:00/0000:00:03.0/0000:08:00.0/0000:09:08.0/0000:0a:00.0");
    plug("gpu", "0000:86:00.0", "1", "pci0000:80/0000:80:02.0/0000:83:00.0/0000:84:08.0/0000:86:00.0");
    plug("nic", "mlx5_0", "0", "pci0000:00/0000:00:02.0/0000:03:00.0/0000:04:10.0/0000:05:00.0");
    plug("nic", "mlx5_1", "0",
         "pci0000:00/0000:00:02.0/0000:03:00.0/0000:04:14.0/0000:0b:00.0/0000:0c:00.0/0000:0d:00.0");
    plug("nic", "mlx5_2", "0", "pci0000:20/0000:20:01.0/0000:21:00.0");
    plug("nic", "mlx5_3", "0", "pci0000:20/0000:20:01.0/0000:21:00.1");
    spec.calls = {sync("MPI_Barrier", {{.calls = 1}})};
    return spec;
}

TEST(topology, says_what_nvidia_smi_says_of_devices_on_switches_and_bridges) {
    const Job job = job_of({with_switches()});
    const report::NodeFacts& facts = job.placement.nodes.at(0);
    const auto device = [&](const std::string& name) -> const report::Device& {
        for (const auto* devices : {&facts.gpus, &facts.adapters})
            for (const report::Device& d : *devices)
                if (d.name == name || d.name == "0000:" + name + ":00.0") return d;
        throw std::out_of_range(name);
    };
    const auto between = [&](const char* a, const char* b) {
        const auto there = name_of(connection(device(a), device(b), facts)),
                   back = name_of(connection(device(b), device(a), facts));
        EXPECT_EQ(there, back);
        return std::string(there);
    };
    EXPECT_EQ(between("06", "06"), "X");
    EXPECT_EQ(between("06", "07"), "PIX") << "two ports of one switch";
    EXPECT_EQ(between("06", "mlx5_0"), "PIX");
    EXPECT_EQ(between("mlx5_2", "mlx5_3"), "PIX") << "two functions of one card";
    EXPECT_EQ(between("06", "mlx5_1"), "PXB") << "a switch behind a switch";
    EXPECT_EQ(between("06", "0a"), "PHB") << "two ports of one bridge";
    EXPECT_EQ(between("06", "mlx5_2"), "NODE") << "another bridge of the NUMA node";
    EXPECT_EQ(between("06", "86"), "SYS");
}

TEST(topology, is_not_guessed_where_nodes_do_not_say_enough) {
    report::NodeFacts node;
    const report::Device a{.name = "a", .numa_node = {}, .rate = {}, .pci_path = "pci0000:00/0000:00:01.0"};
    const report::Device b{.name = "b", .numa_node = {}, .rate = {}, .pci_path = "pci0000:40/0000:40:01.0"};
    const report::Device nowhere{.name = "c", .numa_node = 0, .rate = {}, .pci_path = {}};
    EXPECT_EQ(name_of(connection(a, nowhere, node)), "?");
    EXPECT_EQ(name_of(connection(a, b, node)), "?") << "two bridges, no NUMA node";
    node.numa_nodes.push_back({0, NumberList::parse("0-7")});
    EXPECT_EQ(name_of(connection(a, b, node)), "NODE") << "there is but one";
}

TEST(topology, is_a_matrix_that_fits_the_screen) {
    const Job job = job_of({with_switches()});
    expect_golden("screens/topology_of_a_node.txt", show(job));
    expect_fits(show(job), 80);
    Question question;
    const std::string csv = show(job, question, "csv");
    EXPECT_NE(csv.find("dgx1,1,GPU0,GPU1,PIX,"), std::string::npos) << csv;
    EXPECT_NE(csv.find("dgx1,1,GPU3,mlx5_0,SYS,"), std::string::npos) << csv;
}

TEST(topology, nodes_without_such_facts_show_none) {
    ProfileSpec spec = with_switches();
    std::erase_if(spec.facts,
                  [](const auto& fact) { return std::string(fact.name).find("_pci.") != std::string::npos; });
    EXPECT_EQ(show(job_of({spec})).find("CONNECTED"), std::string::npos);
}

TEST(topology, has_the_nvlinks_that_nvml_knows) {
    ProfileSpec spec = with_switches();
    using enum format::FactKind;
    spec.facts.push_back({node, "nvlinks.0000:06:00.0", "0000:07:00.0 2, 0000:0a:00.0 1"});
    spec.facts.push_back({node, "nvlinks.0000:07:00.0", "0000:06:00.0 2, switch 12"});
    spec.facts.push_back({node, "nvlinks.0000:86:00.0", "switch 18"});
    const std::string csv = show(job_of({spec}), {}, "csv");
    for (const char* line :
         {"GPU0,GPU1,NV2,", "GPU0,GPU2,NV1,", "GPU1,GPU3,NV12,", "GPU1,GPU2,PHB,", "GPU0,mlx5_0,PIX,"})
        EXPECT_NE(csv.find(line), std::string::npos) << line << "\n" << csv;
    const std::string screen = show(job_of({spec}));
    EXPECT_NE(screen.find("NVLinks from NVML"), std::string::npos) << screen;
    EXPECT_NE(screen.find("NV12: 12 NVLinks; NV2: 2 NVLinks"), std::string::npos) << screen;
    expect_fits(screen, 80);
}

TEST(topology, takes_no_harm_from_damaged_nvlinks) {
    ProfileSpec spec = with_switches();
    std::string many;
    for (int i = 0; i < 60; ++i) many += "x 1, ";
    for (const std::string& value : {std::string(""), std::string(","), std::string("switch"),
                                     std::string("switch 4000000000"), std::string("0000:07:00.0 0"), many}) {
        ProfileSpec damaged = spec;
        damaged.facts.push_back({format::FactKind::node, "nvlinks.0000:06:00.0", value});
        EXPECT_EQ(show(job_of({damaged}), {}, "csv").find("NV"), std::string::npos) << value;
    }
}

// ---- as nvidia-smi said it ----

TEST(saved_topology, has_every_connection_of_the_eight_gpus) {
    const auto matrix = report::read_topology(golden("seed002_topology.txt").string());
    ASSERT_TRUE(matrix) << matrix.error().line();
    ASSERT_EQ(matrix->devices.size(), 12u);
    EXPECT_EQ(matrix->devices[3].connections[7], "NV1");
    EXPECT_EQ(matrix->devices[7].connections[6], "NV2");
    EXPECT_EQ(matrix->devices[4].connections[8], "PIX");
    EXPECT_EQ(matrix->devices[0].cores, "0-19,40-59");
    EXPECT_EQ(matrix->devices[8].name, "mlx5_2");
    Question question;
    question.devices = *matrix;
    const std::string screen = show(job_of({with_switches()}), question);
    EXPECT_NE(screen.find("GPU3    NV2   NV1   NV2   X     SYS   SYS   SYS   NV1"), std::string::npos) << screen;
    EXPECT_NE(screen.find("NV2: 2 NVLinks"), std::string::npos) << screen;
    expect_fits(screen, 80);
}

TEST(saved_topology, of_newer_versions_names_adapters_and_numa_nodes) {
    const auto matrix = report::parse_topology(
        "\t\033[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m\n"
        "GPU0\t X \tNV18\tPXB\t0-55\t0\t\tN/A\n"
        "GPU1\tNV18\t X \tSYS\t56-111\t1\t\tN/A\n"
        "NIC0\tPXB\tSYS\t X \t\t\t\n\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n  NIC0: mlx5_0\n",
        "topo.txt");
    ASSERT_TRUE(matrix) << matrix.error().line();
    EXPECT_EQ(matrix->devices[2].name, "mlx5_0");
    EXPECT_EQ(matrix->devices[0].connections[1], "NV18");
    EXPECT_EQ(matrix->devices[1].numa_node, "1");
}

TEST(saved_topology, that_is_damaged_is_one_clear_line) {
    const std::string whole = read_file(golden("seed002_topology.txt"));
    const auto why = [](const std::string& text) {
        const auto matrix = report::parse_topology(text, "topo.txt");
        return matrix ? std::string("it was read") : matrix.error().line();
    };
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string text = whole;
        return text.replace(text.find(from), from.size(), to);
    };
    EXPECT_EQ(why(""), "topo.txt: has no matrix of nvidia-smi topo -m; save it on the node: nvidia-smi topo -m > FILE");
    EXPECT_NE(why(whole.substr(0, whole.find("GPU5    SYS"))).find("is damaged: the row of GPU5 is missing"),
              std::string::npos);
    EXPECT_NE(why(whole.substr(0, whole.find("GPU5    SYS") + 20)).find("the row of GPU5 has 2 of 12 connections"),
              std::string::npos);
    EXPECT_NE(why(changed("GPU1    NV1      X ", "GPU1    SYS      X ")).find("GPU1 to GPU0 is SYS, and back NV1"),
              std::string::npos);
    EXPECT_NE(why(changed("GPU2    NV1     NV2", "GPU2    NV1     oops")).find("the row of GPU2 has 1 of 12"),
              std::string::npos);
    for (std::size_t length = 0; length < whole.size(); length += 7)  // of any part one line, never more
        EXPECT_EQ(why(whole.substr(0, length)).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace mpiprof::test
