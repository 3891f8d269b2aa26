// Communicators: merged by their ids, in any order, bounded; every grouping adds up to the whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "report/analysis/analysed.h"
#include "report/merge/part.h"
#include "report/read/profile_reader.h"
#include "report/sections/section.h"
#include "tests/report/goldens.h"
#include "tests/report/shown.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Comm;
using report::CommKind;
using report::Job;
using report::Question;

constexpr std::uint64_t ms = 1'000'000;

// 8 ranks as 2 rows of 4 and 4 columns of 2. Rank 5 enters one Barrier of its row less than the others.
std::vector<ProfileSpec> grid() {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = 8;
        spec.command = "./transpose";
        const std::uint32_t row = rank / 4, column = rank % 4;
        spec.communicators = {
            {},
            {.name = "row",
             .id = 100 + row,
             .parent = 1,
             .size = 4,
             .rank = column,
             .how = format::origin_made,
             .made_by = "MPI_Comm_split"},
            {.name = "MPI COMMUNICATOR 4 SPLIT FROM 0",
             .id = 200 + column,
             .parent = 1,
             .size = 2,
             .rank = row,
             .how = format::origin_made,
             .made_by = "MPI_Comm_split"},
            {.name = "MPI_COMM_SELF", .id = 300 + rank, .size = 1, .how = format::origin_self},
            {.name = "copy", .id = 400, .size = 8, .rank = rank, .flags = format::id_by_members},
        };
        spec.calls = {collective("MPI_Alltoall",
                                 {{.calls = 100, .bytes = 100 << 20, .time_ns = (800 + rank) * ms, .communicator = 2},
                                  {.calls = 100, .bytes = 100 << 10, .time_ns = 60 * ms, .communicator = 3}}),
                      collective("MPI_Allreduce", {{.calls = 10, .bytes = 80, .time_ns = 9 * ms},
                                                   {.calls = 2, .bytes = 16, .time_ns = 3 * ms, .communicator = 5}}),
                      sync("MPI_Barrier", {{.calls = rank == 5 ? 6u : 7u, .time_ns = 14 * ms, .communicator = 2},
                                           {.calls = 1, .time_ns = 1 * ms, .communicator = 4}}),
                      completion("MPI_Waitall", {{.calls = 30, .time_ns = 33 * ms, .communicator = 0}}),
                      CallSpec{.name = "MPI_Comm_split",
                               .traffic = format::Traffic::setup,
                               .cells = {{.calls = 2, .time_ns = 5 * ms}}},
                      counted("MPI_Comm_rank", 3)};
        ranks.push_back(std::move(spec));
    }
    return ranks;
}

std::string show(const Job& job, const Question& question = {}, const char* view = "text") {
    return shown(job, "comms", question, view);
}

const Comm* find(const Job& job, std::uint64_t id) {
    for (const Comm& comm : job.comms)
        if (comm.id == id) return &comm;
    return nullptr;
}

TEST(comms, are_merged_over_the_ranks_by_their_ids) {
    const Job job = job_of(grid());
    EXPECT_TRUE(job.comms.at(0).is_world);
    const Comm* row = find(job, 101);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->name, "row");
    EXPECT_EQ(row->made_by, "MPI_Comm_split");
    EXPECT_EQ(row->size, 4);
    EXPECT_EQ(row->members, 4);
    EXPECT_EQ(row->first_rank, 4);
    EXPECT_EQ(row->largest_rank, 7);
    EXPECT_EQ(row->largest_ns, 821 * ms);
    ASSERT_EQ(row->sums.size(), 2);
    EXPECT_EQ(row->sums[0].calls, 400);
    EXPECT_EQ(row->sums[0].bytes, std::uint64_t{400} << 20);
}

TEST(comms, that_cannot_be_told_apart_are_so_called) {
    const Job job = job_of(grid());
    std::map<CommKind, const Comm*> of_kind;
    for (const Comm& comm : job.comms) of_kind[comm.kind] = &comm;
    EXPECT_EQ(of_kind.at(CommKind::self)->communicators, 8);
    EXPECT_EQ(of_kind.at(CommKind::by_members)->id, 400);
    EXPECT_EQ(of_kind.at(CommKind::none)->sums.size(), 2) << "Waitall and Comm_rank";
    EXPECT_NE(show(job).find("copy *"), std::string::npos);
}

TEST(comms, that_were_not_told_apart_are_said_to_be_a_sum_over_ranks) {
    auto ranks = grid();
    for (auto& rank : ranks) rank.drops.communicators = 7;
    const std::string sum = "56 communicators (summed over ranks)";
    const Job job = job_of(ranks);
    EXPECT_NE(unwrapped(show(job)).find("and those on " + sum), std::string::npos) << show(job);
    EXPECT_NE(unwrapped(shown(job, "summary", {}, "text")).find(sum + " exceeded the table."), std::string::npos);
}

TEST(comms, collectives_that_a_member_entered_less_often_are_named) {
    const Job job = job_of(grid());
    const Comm* row = find(job, 101);
    ASSERT_TRUE(row);
    ASSERT_EQ(row->entries.size(), 2);
    EXPECT_EQ(row->entries[0].fewest, row->entries[0].most) << "Alltoall";
    EXPECT_EQ(row->entries[1].fewest, 6);
    EXPECT_EQ(row->entries[1].fewest_rank, 5);
    EXPECT_EQ(row->entries[1].most, 7);
    EXPECT_EQ(row->entries[1].most_rank, 4);
    const std::string csv = show(job, {}, "csv");
    EXPECT_NE(csv.find("row,4,MPI_Barrier,6,5,7,4,0000000000000065"), std::string::npos) << csv;
    auto equal = grid();
    equal[5] = grid()[4];
    equal[5].rank = 5;
    EXPECT_EQ(show(job_of(equal)).find("MISMATCHED COLLECTIVE COUNTS"), std::string::npos);
}

TEST(comms, of_which_a_member_was_never_seen_are_judged_by_the_others_only_if_it_has_no_profile) {
    auto ranks = grid();
    for (auto& rank : ranks) std::erase_if(rank.calls, [](const CallSpec& call) { return call.name == "MPI_Barrier"; });
    ranks[7].communicators.resize(1);  // it never used its row
    for (auto& call : ranks[7].calls)
        std::erase_if(call.cells, [](const CellSpec& cell) { return cell.communicator > 1; });
    EXPECT_NE(show(job_of(ranks)).find("MISMATCHED COLLECTIVE COUNTS"), std::string::npos);
    ranks.pop_back();
    EXPECT_EQ(show(job_of(ranks)).find("MISMATCHED COLLECTIVE COUNTS"), std::string::npos);
}

// Whatever is added up, nothing is lost.
void expect_sums_of(const Job& job, const std::vector<Comm>& comms) {
    std::uint64_t calls = 0, bytes = 0, ns = 0, errors = 0;
    for (const auto& row : job.rows) {
        calls += row.sum.calls;
        bytes += row.sum.bytes;
        ns += row.sum.time_ns;
        errors += row.sum.errors;
    }
    for (const Comm& comm : comms)
        for (const auto& sum : comm.sums) {
            calls -= sum.calls;
            bytes -= sum.bytes;
            ns -= sum.time_ns;
            errors -= sum.errors;
        }
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(bytes, 0);
    EXPECT_EQ(ns, 0);
    EXPECT_EQ(errors, 0);
}

TEST(comms, sums_are_the_totals_whichever_way_they_are_grouped) {
    const Job job = job_of(grid());
    expect_sums_of(job, job.comms);
    std::uint64_t calls = 0, ns = 0;
    for (const auto& row : job.rows) {
        calls += row.sum.calls;
        ns += row.sum.time_ns;
    }
    for (const char* by : {"communicator", "call"})
        for (const bool is_for_screen : {false, true}) {
            const auto tables = report::find_section("comms")->answer(
                job, {.ranks = {}, .sort = {}, .by = by, .top = {}, .is_for_screen = is_for_screen});
            ASSERT_TRUE(tables);
            const auto total = [&](std::string_view column) {
                const auto& table = tables->front();
                std::uint64_t sum = 0;
                for (std::size_t i = 0; i < table.columns.size(); ++i)
                    if (table.columns[i].id == column)
                        for (const auto& row : table.rows) sum += std::get<std::uint64_t>(row[i]);
                return sum;
            };
            // On a screen what is only counted is left out: MPI_Comm_rank, 3 times on each of 8 ranks.
            EXPECT_EQ(total(is_for_screen ? "all_calls" : "calls_total"), is_for_screen ? calls - 24 : calls) << by;
            EXPECT_EQ(total("total_time_ns"), ns) << by;
        }
}

// ---- many communicators, in any order ----

std::string print(const std::vector<Comm>& comms) {
    std::string text;
    for (const Comm& comm : comms) {
        text += fmt::format("{} {} {} {} {} {} {} {} {} {}:", static_cast<int>(comm.kind), comm.id, comm.name,
                            comm.size, comm.members, comm.first_rank, comm.communicators, comm.largest_ns,
                            comm.largest_rank, comm.made_by);
        for (const auto& sum : comm.sums)
            text += fmt::format(" {}/{} {} {} {}", sum.call, sum.bin, sum.calls, sum.bytes, sum.time_ns);
        for (const auto& entries : comm.entries)
            text += fmt::format(" {}: {}..{} ({}, {})", entries.call, entries.fewest, entries.most,
                                entries.fewest_rank.value_or(9999), entries.most_rank);
        text += '\n';
    }
    return text;
}

std::vector<report::Profile> pairs(std::uint32_t size) {
    std::mt19937 random(7);
    std::vector<report::Profile> profiles;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = size;
        std::vector<CellSpec> cells{{.calls = 5, .bytes = 40, .time_ns = random() % 1000}};
        for (const std::uint32_t with : {(rank + 1) % size, (rank + size - 1) % size}) {
            spec.communicators.push_back({.name = "pair",
                                          .id = 1000 + std::min(rank, with) * 100 + std::max(rank, with),
                                          .parent = 1,
                                          .size = 2,
                                          .how = format::origin_made});
            cells.push_back({.calls = 1 + random() % 3,
                             .bytes = random() % 9000,
                             .time_ns = random() % 1000,
                             .communicator = static_cast<std::uint16_t>(spec.communicators.size())});
        }
        spec.communicators.push_back({.name = "half", .id = 7 + rank % 2, .parent = 1, .size = size / 2});
        cells.push_back({.calls = 1, .bytes = 8, .time_ns = 10, .communicator = 4});
        spec.calls = {collective("MPI_Allreduce", cells)};
        auto profile = report::read_profile(build(spec), "x");
        profiles.push_back(std::move(*profile));
    }
    return profiles;
}

std::vector<Comm> merged(const std::vector<report::Profile>& profiles, std::size_t most, unsigned parts,
                         unsigned seed) {
    const std::vector<std::uint16_t> same{0, 1, 2, 3};
    std::mt19937 random(seed);
    std::vector<std::size_t> order(profiles.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::unique_ptr<report::MergePart>> part;
    while (part.size() < parts) part.push_back(report::comms_part(most));
    for (const std::size_t i : order) part[random() % parts]->add({.profile = profiles[i], .calls = same});
    while (part.size() > 1) {
        const std::size_t from = random() % part.size();
        const auto taken = std::move(part[from]);
        part.erase(part.begin() + static_cast<std::ptrdiff_t>(from));
        part[random() % part.size()]->absorb(*taken);
    }
    report::Job job;
    report::Finishing end{.job = job, .order = same};
    part[0]->finish(end);
    return std::move(job.comms);
}

TEST(comms, which_are_kept_apart_does_not_depend_on_order_or_threads) {
    const auto profiles = pairs(20);
    for (const std::size_t most : {3u, 8u, 100u}) {
        const std::string expected = print(merged(profiles, most, 1, 0));
        for (unsigned seed = 1; seed <= 20; ++seed)
            ASSERT_EQ(print(merged(profiles, most, 1 + seed % 7, seed)), expected) << most << " " << seed;
    }
}

TEST(comms, beyond_the_bound_the_smallest_are_together_and_nothing_is_lost) {
    const auto profiles = pairs(20);
    const auto all = merged(profiles, 100, 1, 0);
    const auto some = merged(profiles, 8, 3, 1);
    EXPECT_EQ(all.size(), 1 + 2 + 20);
    EXPECT_EQ(some.size(), 8 + 1);
    EXPECT_EQ(some.back().kind, CommKind::other);
    EXPECT_EQ(some[0].is_world + some[1].size + some[2].size, 1 + 10 + 10) << "the largest are kept";
    std::uint64_t calls = 0, ns = 0;
    for (const Comm& comm : all)
        for (const auto& sum : comm.sums) calls += sum.calls, ns += sum.time_ns;
    for (const Comm& comm : some)
        for (const auto& sum : comm.sums) calls -= sum.calls, ns -= sum.time_ns;
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(ns, 0);
}

// ---- what people see ----

TEST(comms, calls_that_are_only_counted_are_not_shown_as_calls_without_one) {
    const Job job = job_of(grid());
    const std::string text = show(job), by_call = show(job, {.ranks = {}, .sort = {}, .by = "call", .top = {}});
    EXPECT_NE(text.find("(none)"), std::string::npos) << text;
    EXPECT_NE(text.find("(none): calls without a communicator (Wait, Test,"), std::string::npos) << text;
    EXPECT_NE(by_call.find("MPI_Waitall"), std::string::npos) << by_call;
    EXPECT_EQ(by_call.find("MPI_Comm_rank"), std::string::npos) << by_call;
    EXPECT_NE(show(job, {.ranks = {}, .sort = {}, .by = "call", .top = {}}, "csv").find("MPI_Comm_rank"),
              std::string::npos)
        << "data has all that was counted";

    auto ranks = grid();
    for (ProfileSpec& rank : ranks)
        std::erase_if(rank.calls, [](const CallSpec& call) { return call.name == "MPI_Waitall"; });
    EXPECT_EQ(show(job_of(ranks)).find("(none)"), std::string::npos) << show(job_of(ranks));
}

TEST(screens, communicators_are_as_reviewed) {
    const Job job = job_of(grid());
    const std::string text = show(job);
    expect_golden("screens/communicators.txt", text);
    expect_fits(text, 80);
    const std::string by_call = show(job, {.ranks = {}, .sort = {}, .by = "call", .top = {}});
    expect_golden("screens/communicators_by_call.txt", by_call);
    expect_fits(by_call, 80);
}

TEST(comms, of_single_ranks_are_refused_with_a_hint) {
    EXPECT_NE(show(job_of(grid()), {.ranks = {1}, .sort = {}, .by = {}, .top = {}}).find("export -f json"),
              std::string::npos);
}

}  // namespace
}  // namespace mpiprof::test
