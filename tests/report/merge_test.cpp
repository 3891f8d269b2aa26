// Profiles -> Job: sums, extremes and percentiles are right, and do not depend on who added what.
#include "report/merge/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "report/merge/blocks.h"
#include "report/merge/partial_merge.h"
#include "report/read/profile_reader.h"
#include "tests/report/profile_builder.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Job;
using report::PartialMerge;
using report::Profile;
using report::Row;

constexpr std::uint64_t us = 1'000;

Profile profile_of(const ProfileSpec& spec) {
    auto profile = report::read_profile(build(spec), "x");
    if (!profile) throw std::runtime_error(profile.error().line());
    return std::move(*profile);
}

// Ranks that differ in what they call, how long, and where they run.
std::vector<Profile> different_ranks(std::uint32_t size) {
    std::mt19937 random(1);
    std::vector<Profile> profiles;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = size;
        spec.host = "node" + std::to_string(rank / 4);
        spec.clock = format::ClockKind::tsc;
        spec.ticks_per_us = 2000 + rank % 3 * 500;
        for (unsigned i = 0; i < 5; ++i) {
            const std::uint64_t calls = 1 + random() % 100;
            const unsigned name = random() % 8;
            if (std::any_of(spec.calls.begin(), spec.calls.end(),
                            [&](const CallSpec& c) { return c.name == "MPI_Call_" + std::to_string(name); }))
                continue;
            spec.calls.push_back(collective(
                "MPI_Call_" + std::to_string(name),
                {{.calls = calls, .bytes = calls * (random() % 5000), .time_ns = calls * (random() % 9 + 1) * us},
                 {.calls = 1, .bytes = 1u << 20, .time_ns = 70 * us, .thread = 2}}));
        }
        profiles.push_back(profile_of(spec));
    }
    return profiles;
}

std::string print(const Job& job) {
    std::string text = fmt::format("{} {}\n", job.size, fmt::join(job.hosts, " "));
    for (const Row& row : job.rows)
        text += fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}\n", job.calls[row.sum.call].name, row.sum.bin,
                            row.sum.calls, row.sum.bytes, row.sum.time_ns, row.sum.min_ns.value_or(0), row.sum.max_ns,
                            row.sum.other_thread_ns, row.ranks, row.largest_ns, row.largest_rank,
                            row.p50_ns.value_or(-1), row.p99_ns.value_or(-1));
    for (const auto& rank : job.ranks)
        text += fmt::format("{} {} {} {}\n", rank.rank, job.hosts[rank.host], rank.mpi_ns, rank.message_bytes);
    return text;
}

Job merged(const std::vector<Profile>& profiles, unsigned parts, unsigned seed) {
    std::vector<const Profile*> order;
    for (const Profile& profile : profiles) order.push_back(&profile);
    std::mt19937 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    report::CallRegistry registry;
    std::vector<PartialMerge> part;
    for (unsigned i = 0; i < parts; ++i) part.emplace_back(registry);
    for (std::size_t i = 0; i < order.size(); ++i) part[random() % parts].add(*order[i]);
    while (part.size() > 1) {  // absorbed in any order
        const std::size_t from = random() % part.size();
        PartialMerge taken = std::move(part[from]);
        part.erase(part.begin() + static_cast<std::ptrdiff_t>(from));
        part[random() % part.size()].absorb(std::move(taken));
    }
    return part[0].finish();
}

TEST(merge, blocks_of_records_keep_all_of_them_whoever_takes_whose) {
    struct Large {
        int number = 0;
        char much[300 << 10] = {};  // three in a block
    };
    for (const int own : {0, 1, 3, 4, 7})
        for (const int others : {0, 1, 2, 3, 5}) {
            report::Blocks<Large> blocks, more;
            for (int i = 0; i < own; ++i) blocks.add({.number = i});
            for (int i = 0; i < others; ++i) more.add({.number = own + i});
            blocks.absorb(std::move(more));
            EXPECT_EQ(blocks.size(), static_cast<std::size_t>(own + others));
            std::set<int> seen;
            blocks.each([&](const Large& one) { seen.insert(one.number); });
            for (const Large& one : blocks.take()) seen.erase(one.number);
            EXPECT_TRUE(seen.empty());
            EXPECT_EQ(blocks.size(), 0u);
        }
}

TEST(merge, order_and_number_of_threads_do_not_matter) {
    const auto profiles = different_ranks(24);
    const std::string expected = print(merged(profiles, 1, 0));
    for (unsigned seed = 1; seed <= 20; ++seed)
        ASSERT_EQ(print(merged(profiles, 1 + seed % 7, seed)), expected) << seed;
}

TEST(merge, sums_are_the_sums_of_the_ranks) {
    const auto profiles = different_ranks(9);
    std::uint64_t calls = 0, bytes = 0, ns = 0;
    for (const Profile& profile : profiles)
        for (const auto& cell : profile.cells) {
            calls += cell.calls;
            bytes += cell.bytes;
            ns += cell.time_ns;
        }
    for (const Row& row : merged(profiles, 3, 1).rows) {
        calls -= row.sum.calls;
        bytes -= row.sum.bytes;
        ns -= row.sum.time_ns;
    }
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(bytes, 0);
    EXPECT_EQ(ns, 0);
}

ProfileSpec simple(std::uint32_t rank, std::uint64_t ns, std::uint32_t size = 3) {
    ProfileSpec spec;
    spec.rank = rank;
    spec.size = size;
    spec.calls = {collective("MPI_Allreduce", {{.calls = 4, .bytes = 32, .time_ns = ns}})};
    return spec;
}

TEST(merge, the_largest_rank_is_the_lowest_of_those_that_spent_most) {
    const Job job = job_of({simple(0, 100 * us), simple(1, 300 * us), simple(2, 300 * us)});
    ASSERT_EQ(job.rows.size(), 1);
    EXPECT_EQ(job.rows[0].largest_ns, 300 * us);
    EXPECT_EQ(job.rows[0].largest_rank, 1);
    EXPECT_EQ(job.rows[0].ranks, 3);
}

TEST(merge, a_rank_that_spent_nothing_can_be_the_largest) {
    const Job job = job_of({simple(1, 0)});
    EXPECT_EQ(job.rows[0].largest_rank, 1);
}

TEST(merge, file_traffic_is_never_added_to_messages) {
    ProfileSpec spec = simple(0, 10 * us, 1);
    spec.calls.push_back(file_access("MPI_File_write", {{.calls = 1, .bytes = 1000, .time_ns = 50 * us}}));
    const Job job = job_of({spec});
    EXPECT_EQ(job.ranks[0].message_bytes, 32);
    EXPECT_EQ(job.ranks[0].file_bytes, 1000);
    EXPECT_EQ(job.ranks[0].file_ns, 50 * us);
    EXPECT_EQ(job.ranks[0].mpi_ns, 60 * us);
}

TEST(merge, counted_calls_are_counted_and_cost_no_time) {
    ProfileSpec spec = simple(0, 10 * us, 1);
    spec.calls.push_back(counted("MPI_Comm_rank", 1234));
    const Job job = job_of({spec});
    ASSERT_EQ(job.rows.size(), 2);
    EXPECT_EQ(job.calls[job.rows[1].sum.call].treatment, report::Treatment::counted);
    EXPECT_EQ(job.rows[1].sum.calls, 1234);
    EXPECT_EQ(job.ranks[0].calls, 4);
}

TEST(merge, percentiles_are_within_five_percent_and_inside_the_extremes) {
    ProfileSpec spec;
    std::vector<std::uint64_t> durations;
    for (std::uint64_t i = 1; i <= 1000; ++i) durations.push_back(i * us);
    spec.clock = format::ClockKind::tsc;
    spec.ticks_per_us = 2400;
    spec.calls = {collective("MPI_Bcast", {{.bytes = 8000, .durations_ns = durations}})};
    const Job job = job_of({spec});
    ASSERT_TRUE(job.rows[0].p50_ns && job.rows[0].p99_ns && job.rows[0].p05_ns);
    EXPECT_NEAR(*job.rows[0].p05_ns, 50e3, 50e3 * 0.05);
    EXPECT_NEAR(*job.rows[0].p50_ns, 500e3, 500e3 * 0.05);
    EXPECT_NEAR(*job.rows[0].p99_ns, 990e3, 990e3 * 0.05);
    EXPECT_LE(*job.rows[0].p99_ns, static_cast<double>(job.rows[0].sum.max_ns));
}

TEST(merge, a_damaged_rank_is_a_line_and_the_others_are_merged) {
    const TemporaryDirectory directory;
    write_profile(directory.path(), simple(0, 10 * us));
    write_profile(directory.path(), simple(1, 10 * us));
    Bytes bytes = build(simple(2, 10 * us));
    auto cells = table_of(bytes, format::TableType::cells, 1);
    ASSERT_TRUE(cells);
    cells->table.offset = 1u << 30;
    overwrite(bytes, cells->entry, cells->table);
    write_file(directory.path() / "mpi_profile.4711.2", bytes);

    const Job job = job_of(directory.path());

    EXPECT_EQ(job.ranks.size(), 2);
    ASSERT_EQ(job.problems.size(), 1);
    EXPECT_NE(job.problems[0].find("mpi_profile.4711.2: is damaged"), std::string::npos);
}

TEST(merge, killed_ranks_lived_as_long_as_the_job_is_known_to_have) {
    constexpr std::uint64_t second = 1'000'000'000;
    ProfileSpec aborted = simple(0, 10 * us, 2);
    aborted.state = format::State::aborted;
    aborted.elapsed_ns = 20 * second;
    ProfileSpec killed = simple(1, 10 * us, 2);
    killed.state = format::State::running;
    killed.elapsed_ns = 5 * second;
    killed.is_updated = false;
    killed.threads = {{.in_call = "MPI_Allreduce", .in_call_for_ns = 2 * second}};

    const Job job = job_of({aborted, killed});

    EXPECT_EQ(job.ranks[1].elapsed_ns, 20 * second);
    EXPECT_TRUE(job.ranks[1].is_end_estimated);
    EXPECT_NEAR(static_cast<double>(job.ranks[1].in_call_ns), 17e9, 1);
    EXPECT_NEAR(static_cast<double>(job.ranks[1].outside_ns()), 3e9 - 10e3, 1);
    EXPECT_FALSE(job.ranks[0].is_end_estimated);
    ASSERT_EQ(job.standings.size(), 2);
    EXPECT_NEAR(static_cast<double>(job.standings[1].for_ns), 17e9, 1);
}

TEST(merge, killed_ranks_that_were_updated_until_then_are_believed) {
    constexpr std::uint64_t second = 1'000'000'000;
    ProfileSpec survivor = simple(0, 10 * us, 2);
    survivor.elapsed_ns = 20 * second;
    ProfileSpec killed = simple(1, 10 * us, 2);
    killed.state = format::State::running;
    killed.elapsed_ns = 5 * second;
    killed.threads = {{.in_call = "MPI_Allreduce", .in_call_for_ns = 2 * second}};

    const Job job = job_of({survivor, killed});

    EXPECT_EQ(job.ranks[1].elapsed_ns, 5 * second);
    EXPECT_EQ(job.ranks[1].in_call_ns, 2 * second);
}

TEST(merge, programs_that_differ_are_said) {
    ProfileSpec other = simple(1, 10 * us, 2);
    other.command = "./ocean";
    const Job job = job_of({simple(0, 10 * us, 2), other});
    ASSERT_EQ(job.notes.size(), 1);
    EXPECT_EQ(text_of(job.notes[0]), "the program differs: rank 1 has ./ocean");
}

TEST(merge, the_rank_table_of_mpitrace_text_stands_for_ranks_without_a_file) {
    const TemporaryDirectory directory;
    write_file(directory.path() / "mpi_profile.4711.0", read_file(golden("seed003_cpu.txt")));
    const Job job = job_of(directory.path());
    ASSERT_EQ(job.ranks.size(), 16);
    EXPECT_EQ(job.profiles(), 1);
    EXPECT_FALSE(job.ranks[3].has_profile);
    EXPECT_EQ(job.ranks[3].mpi_ns / 1'000'000, 12177);
}

}  // namespace
}  // namespace mpiprof::test
