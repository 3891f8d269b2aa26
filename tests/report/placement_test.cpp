// Where ranks ran: cpu lists, what is merged, and every rule: that it speaks, and that it keeps silent.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <set>

#include "report/analysis/placement_findings.h"
#include "report/model/number_list.h"
#include "report/read/topology_text.h"
#include "report/sections/finding_words.h"
#include "report/sections/section.h"
#include "report/sections/topology.h"
#include "report/views/view.h"
#include "tests/report/goldens.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Job;
using report::NumberList;
using report::Question;

constexpr std::uint64_t GiB = std::uint64_t{1} << 30;
constexpr double seconds = 10;

TEST(cpu_list, is_read_as_the_kernel_writes_it) {
    EXPECT_EQ(NumberList::parse("0-3,8").count(), 5);
    EXPECT_EQ(NumberList::parse("0-3,8\n").text(), "0-3,8");
    EXPECT_EQ(NumberList::parse("8,0-3,2-5,6").text(), "0-6,8") << "sorted, joined";
    EXPECT_EQ(NumberList::parse("7").count(), 1);
    EXPECT_EQ(NumberList::parse("0-4294967295").count(), std::uint64_t{1} << 32);
}

TEST(cpu_list, text_that_is_none_is_empty) {
    for (const char* text : {"", "a", "1-", "3-1", "1,,2", "1;2", "-1", "1,", "99999999999", "0x3"})
        EXPECT_TRUE(NumberList::parse(text).empty()) << text;
}

TEST(cpu_list, overlaps_are_counted) {
    const auto overlap = [](const char* a, const char* b) {
        return NumberList::parse(a).overlap(NumberList::parse(b));
    };
    EXPECT_EQ(overlap("0-3", "2-5"), 2);
    EXPECT_EQ(overlap("0-3", "4-7"), 0);
    EXPECT_EQ(overlap("0,2,4,6", "0-6"), 4);
    EXPECT_EQ(overlap("0-63,128-191", "32-40,130"), 10);
    EXPECT_TRUE(NumberList::parse("0-7").contains(NumberList::parse("1,5-7")));
    EXPECT_FALSE(NumberList::parse("0-7").contains(NumberList::parse("7-8")));
}

// ---- jobs ----

struct At {
    const char* cpus;
    const char* host = "nid1";
    double busy = 0.5;         // cores
    double pushed_off = 0;     // times a second
    const char* threads = "";  // OMP_NUM_THREADS
    const char* gpu = "";      // CUDA_VISIBLE_DEVICES
    double throttled = 0;      // seconds
    double memory = 0.1;       // GiB
    double limit = 0;          // GiB
};

std::uint64_t us(double s) { return static_cast<std::uint64_t>(s * 1e6); }

// A node of two NUMA nodes of four cores, two GPUs beside each, the adapter beside the first.
void describe_node(ProfileSpec& spec) {
    using enum format::FactKind;
    spec.facts.insert(spec.facts.end(), {{node, "processor", "AMD EPYC 7763"},
                                         {node, "cpus", "0-7"},
                                         {node, "numa_cpus.node0", "0-3"},
                                         {node, "numa_cpus.node1", "4-7"},
                                         {node, "gpu_numa.0000:01:00.0", "0"},
                                         {node, "gpu_numa.0000:41:00.0", "0"},
                                         {node, "gpu_numa.0000:81:00.0", "1"},
                                         {node, "gpu_numa.0000:c1:00.0", "1"},
                                         {node, "nic_numa.mlx5_0", "0"},
                                         {node, "nic_rate.mlx5_0", "200 Gb/sec (4X HDR)"},
                                         {node, "gpu_pci.0000:01:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0"},
                                         {node, "gpu_pci.0000:41:00.0", "pci0000:40/0000:40:01.0/0000:41:00.0"},
                                         {node, "gpu_pci.0000:81:00.0", "pci0000:80/0000:80:01.0/0000:81:00.0"},
                                         {node, "gpu_pci.0000:c1:00.0", "pci0000:80/0000:80:03.0/0000:c1:00.0"},
                                         {node, "nic_pci.mlx5_0", "pci0000:40/0000:40:03.0/0000:42:00.0"}});
}

std::vector<ProfileSpec> ranks_at(const std::vector<At>& places, const char* launcher = "Open MPI") {
    using enum format::FactKind;
    std::vector<ProfileSpec> ranks;
    std::set<std::string> hosts;
    for (const At& at : places) {
        ProfileSpec spec;
        spec.rank = static_cast<std::uint32_t>(ranks.size());
        spec.size = static_cast<std::uint32_t>(places.size());
        spec.host = at.host;
        spec.launcher = launcher;
        spec.elapsed_ns = us(seconds) * 1000;
        spec.usage_at_start.user_us = 200'000;
        spec.usage_at_start.system_us = 100'000;
        spec.usage.user_us = 200'000 + us(at.busy * seconds);
        spec.usage.system_us = 100'000;
        spec.usage.involuntary_switches = static_cast<std::uint64_t>(at.pushed_off * seconds);
        spec.usage.max_resident_kib = static_cast<std::uint64_t>(at.memory * 1024 * 1024);
        spec.memory_limit = static_cast<std::uint64_t>(at.limit * static_cast<double>(GiB));
        spec.throttled_us_at_start = 5'000'000;
        spec.throttled_us = 5'000'000 + us(at.throttled);
        spec.facts = {{process, "cpus_allowed", at.cpus},
                      {process, "memory_nodes_allowed", "0-1"},
                      {process, "cpu_at_start", std::to_string(NumberList::parse(at.cpus).ranges().at(0).first)}};
        if (*at.threads) spec.facts.push_back({environment, "OMP_NUM_THREADS", at.threads});
        if (*at.gpu) spec.facts.push_back({environment, "CUDA_VISIBLE_DEVICES", at.gpu});
        if (hosts.insert(at.host).second) describe_node(spec);
        spec.calls = {collective("MPI_Allreduce", {{.calls = 4, .bytes = 32, .time_ns = 4000}})};
        ranks.push_back(std::move(spec));
    }
    return ranks;
}

// The names of the rules that speak, serious ones with "!".
std::set<std::string> rules(const std::vector<At>& places) {
    std::set<std::string> names;
    for (const auto& finding : report::placement_findings(job_of(ranks_at(places))))
        names.insert((finding.is_serious ? "!" : "") + std::string(id_of(finding.rule)));
    return names;
}

using Rules = std::set<std::string>;

std::string show(const Job& job, Question question = {}, const char* view = "text", const char* section = "placement") {
    question.is_for_screen = std::string_view(view) == "text";
    const auto tables = report::find_section(section)->answer(job, question);
    if (!tables) return "problem: " + tables.error().line();
    return report::find_view(view)->show({section, *tables}, {.width = 80, .has_utf8 = true});
}

// ---- the rules ----

TEST(placement_rules, say_nothing_of_ranks_bound_to_cores_of_their_own) {
    EXPECT_EQ(rules({{"0"}, {"1"}, {"4"}, {"5"}}), Rules{});
    EXPECT_EQ(rules({{"0-3"}, {"0-3"}, {"4-7"}, {"4-7"}}), Rules{}) << "bound to NUMA nodes";
    EXPECT_EQ(rules({{"0-7"}, {"0-7", "nid2"}}), Rules{}) << "one rank a node, all of it";
}

TEST(placement_rules, cores_that_overlap_without_being_the_same_are_said) {
    EXPECT_EQ(rules({{"0-2"}, {"2-3"}}), Rules{"!masks"});
    EXPECT_TRUE(rules({{"0-7"}, {"1"}, {"5"}}).contains("!masks")) << "one within the other";
    EXPECT_EQ(rules({{"0-2"}, {"2-3", "nid2"}}), Rules{}) << "on two nodes";
    EXPECT_FALSE(rules({{"0,2"}, {"1,3"}}).contains("!masks")) << "interleaved";
}

TEST(placement_rules, more_ranks_than_cores_are_said) {
    EXPECT_EQ(rules({{"0-1"}, {"0-1"}, {"0-1"}}), Rules{"!too-many"});
    EXPECT_EQ(rules({{"0"}, {"0"}, {"1"}, {"2"}}), Rules{"!too-many"}) << "two on one core, others free";
    EXPECT_TRUE(rules({{"0-1"}, {"0"}, {"1"}}).contains("!too-many")) << "others' masks within one";
    EXPECT_TRUE(rules({{"0-1"}, {"1-2"}, {"0,2"}, {"0-2"}}).contains("!too-many")) << "all of them together";
    EXPECT_FALSE(rules({{"0-1"}, {"0-1"}}).contains("!too-many"));
}

TEST(placement_rules, unbound_ranks_are_said) {
    EXPECT_EQ(rules({{"0-7"}, {"0-7"}}), Rules{"unbound"});
    EXPECT_EQ(rules({{"0-7"}}), Rules{});
    EXPECT_EQ(rules({{"0-3"}, {"0-3"}}), Rules{}) << "bound to one of two NUMA nodes";
}

TEST(placement_rules, masks_over_several_numa_nodes_are_said) {
    EXPECT_EQ(rules({{"2-5"}, {"0-1"}}), Rules{"spread"});
    EXPECT_EQ(rules({{"0-5"}, {"6-7"}}), Rules{}) << "more cores than a NUMA node has";
}

TEST(placement_rules, a_far_adapter_is_said_if_cores_beside_it_are_free) {
    EXPECT_EQ(rules({{"4"}, {"5", "nid2"}}), Rules{"far-adapter"});
    EXPECT_EQ(rules({{"0"}, {"1", "nid2"}}), Rules{});
    EXPECT_EQ(rules({{"4"}, {"5"}}), Rules{}) << "one node: nothing goes through it";
    EXPECT_EQ(rules({{"0-1"}, {"2-3"}, {"4-5"}, {"0-7", "nid2"}}), Rules{}) << "no core beside it is free";
}

TEST(placement_rules, a_far_gpu_is_said) {
    EXPECT_EQ(rules({{.cpus = "0", .gpu = "2"}, {.cpus = "4", .gpu = "1"}}), Rules{"far-gpu"});
    EXPECT_EQ(rules({{.cpus = "0", .gpu = "0"}, {.cpus = "4", .gpu = "3"}}), Rules{});
    EXPECT_EQ(rules({{.cpus = "0", .gpu = "2,3"}, {.cpus = "4", .gpu = "GPU-8932f937"}}), Rules{}) << "cannot be told";
    EXPECT_EQ(rules({{.cpus = "0", .gpu = "7"}}), Rules{}) << "no such GPU";
}

TEST(placement_rules, more_threads_than_cores_are_said) {
    EXPECT_EQ(rules({{.cpus = "0", .threads = "8"}, {.cpus = "1", .threads = "8"}}), Rules{"threads"});
    EXPECT_EQ(rules({{.cpus = "0", .busy = 1, .threads = "8"}}), Rules{"!threads"});
    EXPECT_EQ(rules({{.cpus = "0-3", .threads = "4,2"}, {.cpus = "4-7", .threads = "4"}}), Rules{});
    EXPECT_TRUE(rules({{.cpus = "0-7", .threads = "8"}, {.cpus = "0-7", .threads = "8"}}).contains("threads"))
        << "16 for 8";
}

TEST(placement_rules, a_rank_that_needs_more_than_its_core_is_said) {
    EXPECT_EQ(rules({{.cpus = "0", .busy = 0.99, .pushed_off = 120}, {.cpus = "1", .busy = 0.99}}), Rules{"!starved"});
    EXPECT_EQ(rules({{.cpus = "0", .busy = 0.3, .pushed_off = 120}}), Rules{}) << "not busy";
    EXPECT_FALSE(rules({{.cpus = "0-1", .busy = 1.9, .pushed_off = 150}, {.cpus = "0-1"}}).contains("!starved"))
        << "pushed off by another rank";
}

TEST(placement_rules, more_cores_busy_than_allowed_are_said) {
    EXPECT_EQ(rules({{.cpus = "0", .busy = 8.5}, {.cpus = "1", .busy = 8.5}}), Rules{"!beyond"});
    EXPECT_EQ(rules({{.cpus = "0", .busy = 1.02}}), Rules{});
}

TEST(placement_rules, throttling_is_said_from_a_hundredth_of_the_time_on) {
    EXPECT_EQ(rules({{.cpus = "0", .throttled = 0.2}}), Rules{"!throttled"});
    EXPECT_EQ(rules({{.cpus = "0", .throttled = 0.05}}), Rules{}) << "what was before MPI_Init does not count";
}

TEST(placement_rules, memory_close_to_the_limit_is_said) {
    EXPECT_EQ(rules({{.cpus = "0", .memory = 3.8, .limit = 4}}), Rules{"!memory"});
    EXPECT_EQ(rules({{.cpus = "0", .memory = 2, .limit = 4}, {.cpus = "1", .memory = 1.8, .limit = 4}}),
              Rules{"memory"});
    EXPECT_EQ(rules({{.cpus = "0", .memory = 2, .limit = 4}, {.cpus = "1", .memory = 1, .limit = 4}}), Rules{});
    EXPECT_EQ(rules({{.cpus = "0", .memory = 3, .limit = 4}, {.cpus = "1", .memory = 3, .limit = 4}}), Rules{})
        << "more together than the limit: each has its own";
    EXPECT_EQ(rules({{.cpus = "0", .memory = 2000}}), Rules{}) << "no limit";
}

TEST(placement_rules, advise_in_the_words_of_the_launcher) {
    for (const auto& [launcher, words] :
         {std::pair("Open MPI", "mpirun --map-by core --bind-to core."), std::pair("Slurm", "srun --cpu-bind=cores."),
          std::pair("Hydra", "mpiexec -bind-to core"), std::pair("none", "(srun).")}) {
        const Job job = job_of(ranks_at({{"0-7"}, {"0-7"}}, launcher));
        const auto findings = report::placement_findings(job);
        ASSERT_EQ(findings.size(), 1);
        const std::string advice = advice_of(findings[0], job);
        EXPECT_NE(advice.find(words), std::string::npos) << advice;
    }
    const Job job = job_of(ranks_at({{.cpus = "0", .threads = "8"}}, "Slurm"));
    const std::string advice = advice_of(report::placement_findings(job).at(0), job);
    EXPECT_NE(advice.find("--cpus-per-task=8 "), std::string::npos) << advice;
}

// The summary of ranks that mostly wait in MPI and seldom have a processor.
TEST(placement_rules, tell_the_summary_why_a_rank_has_no_processor) {
    const auto summary = [](const std::vector<At>& places) {
        auto ranks = ranks_at(places);
        for (ProfileSpec& rank : ranks) rank.calls[0].cells[0].time_ns = us(0.9 * seconds) * 1000;
        std::string text = show(job_of(ranks), {}, "text", "summary");
        for (std::size_t at = 0; (at = text.find("\n    ", at)) != std::string::npos;) text.replace(at, 5, " ");
        return text;
    };
    const At alone{.cpus = "0", .busy = 0.2, .pushed_off = 120};
    const At beside{.cpus = "1", .busy = 0.2, .pushed_off = 120};
    EXPECT_NE(summary({alone, beside}).find("Each has cores of its own, but other programs run on them, too"),
              std::string::npos);
    const std::string shared = summary({alone, alone});
    EXPECT_NE(
        shared.find(
            "2 ranks, 1 core (0). Whenever more of them want to run, they take turns. Start fewer ranks per node"),
        std::string::npos)
        << shared;
    EXPECT_EQ(shared.find("[placement]"), std::string::npos) << "said once";
}

TEST(placement_rules, need_profiles_that_say_where_they_ran) {
    std::vector<ProfileSpec> ranks = ranks_at({{"0"}, {"0"}});
    for (ProfileSpec& rank : ranks) rank.facts.clear();
    EXPECT_TRUE(report::placement_findings(job_of(ranks)).empty());
}

// ---- what is merged ----

TEST(placement, cores_busy_are_counted_from_mpi_init_on) {
    const Job job = job_of(ranks_at({{.cpus = "0-3", .busy = 2.5, .pushed_off = 7}}));
    ASSERT_EQ(job.placement.ranks.size(), 1);
    EXPECT_NEAR(job.placement.ranks[0].cores_busy.value(), 2.5, 1e-6);
    EXPECT_NEAR(job.placement.ranks[0].pushed_off_per_s.value(), 7, 1e-6);
    auto old = ranks_at({{"0-3"}});
    old[0].usage_at_start = {};  // of a library that did not measure it
    EXPECT_FALSE(job_of(old).placement.ranks[0].cores_busy.has_value());
}

TEST(placement, a_variable_tells_who_has_which_value) {
    const Job job = job_of(ranks_at(
        {{.cpus = "0", .threads = "1"}, {.cpus = "1", .threads = "8"}, {.cpus = "2", .threads = "8"}, {.cpus = "3"}}));
    ASSERT_EQ(job.placement.variables.size(), 1);
    const auto& values = job.placement.variables[0].values;
    ASSERT_EQ(values.size(), 3);
    EXPECT_EQ(values[0].value, "8");
    EXPECT_EQ(values[0].count, 2);
    EXPECT_TRUE(values[0].ranks.empty());
    EXPECT_EQ(values[1].value, "1");
    EXPECT_EQ(values[1].ranks, std::vector<std::uint32_t>{0});
    EXPECT_EQ(values[2].value, std::nullopt);
    EXPECT_EQ(values[2].ranks, std::vector<std::uint32_t>{3});
    const auto* rank = job.placement.find(1);
    ASSERT_TRUE(rank);
    EXPECT_EQ(*job.placement.variable_of(*rank, "OMP_NUM_THREADS"), "8");
    EXPECT_EQ(job.placement.variable_of(*job.placement.find(3), "OMP_NUM_THREADS"), nullptr);
}

TEST(placement, a_value_that_leads_out_of_the_file_is_left_out) {
    ProfileSpec spec = ranks_at({{"0-3"}})[0];
    Bytes bytes = build(spec);
    const auto table = table_of(bytes, format::TableType::facts);
    ASSERT_TRUE(table);
    overwrite(bytes, table->table.offset + offsetof(format::Fact, value_offset), ~std::uint64_t{0} - 2);
    const TemporaryDirectory directory;
    write_file(directory.path() / "mpi_profile.4711.0", bytes);
    const Job job = job_of(directory.path());
    ASSERT_EQ(job.placement.ranks.size(), 1);
    EXPECT_TRUE(job.placement.cpus_of(job.placement.ranks[0]).empty());
    EXPECT_EQ(job.placement.nodes.at(0).cpus.count(), 8) << "the others are read";
}

// ---- what people see ----

TEST(screens, placement_of_few_ranks_is_as_reviewed) {
    const Job job =
        job_of(ranks_at({{.cpus = "0-1", .busy = 1.9, .threads = "8", .gpu = "0", .memory = 1, .limit = 16},
                         {.cpus = "1-2", .busy = 1.8, .threads = "8", .gpu = "2", .memory = 1, .limit = 16},
                         {.cpus = "4-5", .busy = 1.9, .threads = "8", .gpu = "3", .memory = 1, .limit = 16},
                         {.cpus = "6", .busy = 0.9, .threads = "1", .throttled = 0.5, .memory = 15.2, .limit = 16}}));
    const std::string text = show(job);
    expect_golden("screens/placement_of_few_ranks.txt", text);
    expect_fits(text, 80);
    const std::string summary = show(job, {}, "text", "summary");
    EXPECT_NE(summary.find("[placement]"), std::string::npos);
    EXPECT_EQ(summary.find("[placement]"), summary.rfind("[placement]")) << "one line";
}

TEST(screens, placement_of_many_ranks_fits_a_screen) {
    std::vector<std::string> hosts, cpus;
    std::vector<At> places;
    for (int rank = 0; rank < 512; ++rank) {
        hosts.push_back("nid" + std::to_string(1001 + rank / 8));
        cpus.push_back(std::to_string(rank % 8));
    }
    for (std::size_t rank = 0; rank < 512; ++rank)
        places.push_back({.cpus = cpus[rank].c_str(), .host = hosts[rank].c_str(), .busy = rank == 77 ? 1.0 : 0.97});
    const Job job = job_of(ranks_at(places));
    const std::string text = show(job);
    expect_golden("screens/placement_of_many_ranks.txt", text);
    expect_fits(text, 80);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24);
    const std::string one = show(job, {.ranks = {77}, .sort = {}, .by = {}, .top = {}});
    EXPECT_NE(one.find("nid1010"), std::string::npos) << one;
    const std::string csv = show(job, {}, "csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 512 + 64 + 10 + 5 * 2 + 4)
        << "every rank, node and pair of devices, with two lines above "
           "each table and one between";
}

TEST(placement, a_job_without_facts_says_so) {
    ProfileSpec spec;
    spec.calls = {sync("MPI_Barrier", {{.calls = 1}})};
    EXPECT_NE(show(job_of({spec})).find("do not say where their ranks ran"), std::string::npos);
}

// ---- how devices are connected ----

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

// ---- as nvidia-smi said it ----

std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

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
    const std::string whole = text_of(golden("seed002_topology.txt"));
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

// ---- what nodes count themselves ----

TEST(node_use, energy_of_a_node_is_that_of_its_packages_and_memory_counted_once) {
    ProfileSpec spec;
    spec.elapsed_ns = 10'000'000'000;
    spec.node_counters = {{"energy.intel-rapl:0:package-0", 1'500'000'000},
                          {"energy.intel-rapl:0:0:core", 900'000'000},
                          {"energy.intel-rapl-mmio:0:package-0", 1'500'000'000},
                          {"energy.intel-rapl:1:package-1", 400'000'000},
                          {"energy.intel-rapl:1:1:dram", 100'000'000},
                          {"link.mlx5_0.tx", 4'000'000'000, format::NodeCounterUnit::bytes},
                          {"link.mlx5_0.rx", 1'000'000'000, format::NodeCounterUnit::bytes}};
    spec.facts = {{format::FactKind::node, "cpus", "0-7"}};
    const Job job = job_of({spec});

    ASSERT_EQ(job.placement.nodes.size(), 1u);
    EXPECT_DOUBLE_EQ(job.placement.nodes[0].use.joules.value(), 2000);
    Question question;
    question.is_for_screen = true;
    const std::string text =
        report::find_view("text")->show({"placement", report::find_section("placement")->answer(job, question).value()},
                                        {.width = 100, .has_utf8 = true});
    EXPECT_NE(text.find("COUNTED BY THE NODES THEMSELVES"), std::string::npos) << text;
    EXPECT_NE(text.find("node1        2.0     200  3.7 GiB   954 MiB  400 MB/s     100 MB/s"), std::string::npos)
        << text;
    EXPECT_NE(text.find("not this job alone"), std::string::npos) << text;
}

TEST(node_use, links_that_moved_nothing_are_no_line) {
    ProfileSpec spec;
    spec.calls = {sync("MPI_Barrier", {{.calls = 1}})};
    spec.facts = {{format::FactKind::node, "cpus", "0-7"}};
    spec.node_counters = {{"link.docker0.tx", 0, format::NodeCounterUnit::bytes},
                          {"link.docker0.rx", 0, format::NodeCounterUnit::bytes}};
    EXPECT_EQ(show(job_of({spec})).find("COUNTED BY THE NODES"), std::string::npos) << show(job_of({spec}));
    spec.node_counters.push_back({"link.eth0.tx", 4'000'000'000, format::NodeCounterUnit::bytes});
    EXPECT_NE(show(job_of({spec})).find("COUNTED BY THE NODES"), std::string::npos) << show(job_of({spec}));
}

TEST(node_use, the_whole_node_counts_where_it_tells_that) {
    ProfileSpec spec;
    spec.facts = {{format::FactKind::node, "cpus", "0-7"}};
    spec.node_counters = {{"energy.node", 3'000'000'000},
                          {"energy.intel-rapl:0:package-0", 1'000'000'000},
                          {"energy.accelerators", 2'000'000'000}};

    EXPECT_DOUBLE_EQ(job_of({spec}).placement.nodes[0].use.joules.value(), 3000);
    EXPECT_DOUBLE_EQ(job_of({spec}).placement.nodes[0].use.accelerator_joules.value(), 2000);
}

}  // namespace
}  // namespace mpiprof::test
