// Where ranks ran: cpu lists, what is merged, and what people see of it. The rules are in placement_rules_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/model/number_list.h"
#include "tests/report/goldens.h"
#include "tests/report/placement_jobs.h"
#include "tests/report/shown.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Job;
using report::NumberList;
using report::Question;

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

std::string show(const Job& job, const Question& question = {}, const char* view = "text",
                 const char* section = "placement") {
    return shown(job, section, question, view);
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
    EXPECT_NE(show(job_of({spec})).find("do not record where their ranks ran"), std::string::npos);
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
    EXPECT_NE(text.find("NODE COUNTERS"), std::string::npos) << text;
    EXPECT_NE(text.find("node1        2.0     200  3.7 GiB   954 MiB  400 MB/s     100 MB/s"), std::string::npos)
        << text;
    EXPECT_NE(text.find("not only this job"), std::string::npos) << text;
}

TEST(node_use, links_that_moved_nothing_are_no_line) {
    ProfileSpec spec;
    spec.calls = {sync("MPI_Barrier", {{.calls = 1}})};
    spec.facts = {{format::FactKind::node, "cpus", "0-7"}};
    spec.node_counters = {{"link.docker0.tx", 0, format::NodeCounterUnit::bytes},
                          {"link.docker0.rx", 0, format::NodeCounterUnit::bytes}};
    EXPECT_EQ(show(job_of({spec})).find("NODE COUNTERS"), std::string::npos) << show(job_of({spec}));
    spec.node_counters.push_back({"link.eth0.tx", 4'000'000'000, format::NodeCounterUnit::bytes});
    EXPECT_NE(show(job_of({spec})).find("NODE COUNTERS"), std::string::npos) << show(job_of({spec}));
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
