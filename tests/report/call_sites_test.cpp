// Call sites: the same place is one site on every rank, callers are told apart as far as they hold for all calls, and
// nothing is lost: whichever way sites are grouped, the sums are the totals.
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "report/analysis/analysed.h"
#include "report/merge/partial_merge.h"
#include "report/read/profile_reader.h"
#include "report/sections/section.h"
#include "report/symbols/demangle.h"
#include "tests/report/goldens.h"
#include "tests/report/profile_builder.h"
#include "tests/report/shown.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::CallSite;
using report::CallSites;
using report::Job;
using report::PartialMerge;
using report::Profile;
using report::Question;
using report::Table;
using report::Value;

constexpr std::uint64_t us = 1'000;

Profile profile_of(const ProfileSpec& spec) {
    auto profile = report::read_profile(build(spec), "x");
    if (!profile) throw std::runtime_error(profile.error().line());
    return std::move(*profile);
}

CellSpec from_site(std::uint32_t site, std::uint64_t calls, std::uint64_t time_ns = 100 * us) {
    return {.calls = calls, .bytes = calls * 8, .time_ns = time_ns, .site = site};
}

ProfileSpec rank_of(std::uint32_t rank, std::uint32_t size) {
    ProfileSpec spec;
    spec.rank = rank;
    spec.size = size;
    spec.common_frames = 3;
    return spec;
}

const std::vector<std::uint8_t> build_id{0xca, 0xfe, 1, 2};

std::string print(const CallSites& found) {
    std::string text;
    for (const CallSite& site : found.sites) {
        text +=
            fmt::format("{} {} {} {} {} {}-{} {} {} {}", site.call, site.calls, site.bytes, site.time_ns, site.errors,
                        site.min_ns.value_or(0), site.max_ns, site.ranks, site.largest_ns, site.largest_rank);
        for (const auto& place : site.frames)
            text += fmt::format(" {}+{:x}", found.modules[place.module].path, place.offset);
        for (const auto& comm : site.comms) text += fmt::format(" on {:x}", comm.id);
        text += site.has_more_comms ? " ...\n" : "\n";
    }
    return text;
}

Table answer(const Job& job, Question question) {
    auto tables = report::find_section("sites")->answer(job, question);
    if (!tables) throw std::runtime_error(tables.error().line());
    return tables->front();
}

const Value& at(const Table& table, std::size_t row, std::string_view column) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        if (table.columns[i].id == column) return table.rows.at(row).at(i);
    throw std::runtime_error("no column " + std::string(column));
}
std::string text_at(const Table& table, std::size_t row, std::string_view column) {
    return std::get<std::string>(at(table, row, column));
}

TEST(sites, the_same_place_is_one_on_all_ranks_wherever_its_file_was_loaded) {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        ProfileSpec spec = rank_of(rank, 4);
        const std::uint64_t moved = rank * 0x10000;
        const ModuleSpec program{
            .path = "/tmp/node" + std::to_string(rank) + "/app", .base = 0x400000 + moved, .build_id = build_id};
        const ModuleSpec other{.path = "/lib/libother.so", .base = 0x7f0000 + moved, .end = 0x800000 + moved};
        // Ranks meet files and places in different orders.
        spec.modules = rank % 2 ? std::vector{other, program} : std::vector{program, other};
        const std::uint32_t app = rank % 2 ? 2 : 1, lib = 3 - app;
        const std::vector<FrameSpec> first{{lib, 0x1234}, {app, 0x40}}, second{{lib, 0x1234}, {app, 0x80}};
        spec.sites = rank % 2 ? std::vector{second, first} : std::vector{first, second};
        spec.calls = {collective("MPI_Allreduce", {from_site(app, 10, (rank + 1) * us), from_site(lib, 5)})};
        ranks.push_back(spec);
    }
    const Job job = job_of(ranks);
    ASSERT_EQ(job.sites.sites.size(), 2u) << print(job.sites);
    const CallSite& longer = job.sites.sites[0];
    EXPECT_EQ(longer.calls, 20u);
    EXPECT_EQ(longer.ranks, 4u);
    const CallSite& site = job.sites.sites[1];
    EXPECT_EQ(site.calls, 40u);
    EXPECT_EQ(site.time_ns, 10 * us);
    EXPECT_EQ(site.largest_ns, 4 * us);
    EXPECT_EQ(site.largest_rank, 3u);
    ASSERT_EQ(site.frames.size(), 2u);
    EXPECT_EQ(site.frames[1].offset, 0x40u);
    EXPECT_EQ(job.sites.modules[site.frames[1].module].path, "/tmp/node0/app");
}

TEST(sites, files_of_other_builds_are_other_places) {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProfileSpec spec = rank_of(rank, 2);
        spec.modules = {{.path = "/bin/app", .build_id = {1, static_cast<std::uint8_t>(rank)}}};
        spec.sites = {{{1, 0x40}}};
        spec.calls = {collective("MPI_Allreduce", {from_site(1, 10)})};
        ranks.push_back(spec);
    }
    EXPECT_EQ(job_of(ranks).sites.sites.size(), 2u);
}

TEST(sites, functions_of_one_name_in_two_scripts_are_two) {
    ProfileSpec spec = rank_of(0, 1);
    spec.modules = {{.path = "/home/me/train.py", .function = "<module>"},
                    {.path = "/home/me/data.py", .function = "<module>"}};
    spec.sites = {{{1, 7}}, {{2, 7}}};
    spec.calls = {collective("MPI_Bcast", {from_site(1, 1, 200 * us), from_site(2, 2)})};

    const Table table = answer(job_of({spec}), {});

    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_EQ(text_at(table, 0, "file"), "/home/me/train.py");
    EXPECT_EQ(text_at(table, 1, "file"), "/home/me/data.py");
    EXPECT_EQ(text_at(table, 1, "function"), "<module>");
}

TEST(sites, callers_are_told_apart_as_far_as_they_hold_for_all_calls) {
    for (const auto& [common, expected] : {std::pair<std::uint16_t, std::size_t>{0, 1}, {1, 1}, {2, 2}, {3, 3}}) {
        ProfileSpec spec = rank_of(0, 1);
        spec.common_frames = common;
        spec.modules = {{.path = "/bin/app"}};
        spec.sites = {
            {{1, 0x10}, {1, 0x20}, {1, 0x30}}, {{1, 0x10}, {1, 0x20}, {1, 0x31}}, {{1, 0x10}, {1, 0x21}, {1, 0x30}}};
        spec.calls = {collective("MPI_Bcast", {from_site(1, 1), from_site(2, 2), from_site(3, 4)})};
        const Job job = job_of({spec});
        EXPECT_EQ(job.sites.sites.size(), expected) << common;
        std::uint64_t calls = 0;
        for (const CallSite& site : job.sites.sites) {
            calls += site.calls;
            EXPECT_EQ(site.frames.size(), std::max<std::size_t>(common, 1));
        }
        EXPECT_EQ(calls, 7u);
    }
}

// Ranks that call different things from different places, some of them not told apart.
std::vector<ProfileSpec> different_ranks(std::uint32_t size) {
    std::mt19937 random(7);
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        ProfileSpec spec = rank_of(rank, size);
        spec.common_frames = 2;
        spec.modules = {{.path = "/bin/app", .build_id = build_id}, {.path = "/lib/libhalo.so"}};
        for (std::uint64_t i = 0; i < 12; ++i)
            spec.sites.push_back({{static_cast<std::uint32_t>(1 + random() % 2), 0x100 + random() % 4},
                                  {1, 0x200 + random() % 4},
                                  {1, 0x300 + i}});
        spec.communicators = {CommunicatorSpec{}};
        for (std::uint64_t i = 0; i < 6; ++i)
            spec.communicators.push_back({.name = "",
                                          .id = 100 + i,
                                          .size = 2,
                                          .how = format::origin_made,
                                          .handle = 0x90 + i,
                                          .made_by = "MPI_Send"});
        for (const char* name : {"MPI_Send", "MPI_Allreduce", "MPI_Wait"}) {
            CallSpec call = collective(name, {});
            for (unsigned i = 0; i < 10; ++i) {
                CellSpec cell =
                    from_site(static_cast<std::uint32_t>(random() % 13), 1 + random() % 50, (1 + random() % 900) * us);
                cell.communicator = static_cast<std::uint16_t>(1 + random() % 7);
                cell.bytes = cell.calls * (random() % 3000);
                cell.errors = random() % 3;
                call.cells.push_back(cell);
            }
            spec.calls.push_back(call);
        }
        spec.calls.push_back({.name = "MPI_Test",
                              .traffic = format::Traffic::completion,
                              .cells = {from_site(1, 100)},
                              .treatment = format::Treatment::polled,
                              .calls = 1600});
        spec.calls.push_back(counted("MPI_Comm_rank", 3));
        ranks.push_back(spec);
    }
    return ranks;
}

using Totals = std::map<std::string, std::array<std::uint64_t, 4>>;

Totals totals_of(const Job& job) {
    Totals totals;
    for (const auto& row : job.rows) {
        if (job.calls[row.sum.call].treatment == report::Treatment::counted) continue;
        auto& to = totals[job.calls[row.sum.call].name];
        to[0] += row.sum.calls, to[1] += row.sum.bytes, to[2] += row.sum.time_ns, to[3] += row.sum.errors;
    }
    return totals;
}

Totals totals_of_sites(const Job& job, const CallSites& found) {
    Totals totals;
    for (const CallSite& site : found.sites) {
        auto& to = totals[job.calls[site.call].name];
        to[0] += site.calls, to[1] += site.bytes, to[2] += site.time_ns, to[3] += site.errors;
    }
    return totals;
}

TEST(sites, sums_are_the_totals_whichever_way_they_are_grouped) {
    const Job job = job_of(different_ranks(5));
    const Totals expected = totals_of(job);
    EXPECT_EQ(totals_of_sites(job, job.sites), expected);
    std::array<std::uint64_t, 4> all{};
    for (const auto& [call, sums] : expected)
        for (std::size_t i = 0; i < 4; ++i) all[i] += sums[i];
    for (const char* by : {"stack", "line", "function", "file", "call"}) {
        const Table table = answer(job, {.ranks = {}, .sort = {}, .by = by, .top = {}, .is_for_screen = false});
        std::array<std::uint64_t, 4> sums{};
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            sums[0] += std::get<std::uint64_t>(at(table, row, "calls_total"));
            sums[1] += std::get<std::uint64_t>(at(table, row, "total_bytes"));
            sums[2] += std::get<std::uint64_t>(at(table, row, "total_time_ns"));
            sums[3] += std::get<std::uint64_t>(at(table, row, "errors"));
        }
        EXPECT_EQ(sums, all) << by;
    }
}

// The profiles in some order, in so many parts.
CallSites merged(const std::vector<Profile>& profiles, std::size_t parts, unsigned seed, std::size_t most) {
    std::vector<std::size_t> order(profiles.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    report::CallRegistry registry;  // numbers calls as they come; in the end they are sorted by name
    report::CallNumbers numbers(registry);
    std::vector<std::unique_ptr<report::MergePart>> all;
    while (all.size() < parts) all.push_back(report::sites_part(most));
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Profile& profile = profiles[order[i]];
        all[i % parts]->add({.profile = profile, .calls = numbers.of(profile)});
    }
    for (std::size_t part = 1; part < parts; ++part) all[0]->absorb(*all[part]);
    report::Job job;
    const std::vector<std::uint16_t> by_name = registry.finish(job);
    report::Finishing end{.job = job, .order = by_name};
    all[0]->finish(end);
    return std::move(job.sites);
}

TEST(sites, which_are_kept_apart_does_not_depend_on_order_or_threads) {
    std::vector<Profile> profiles;
    for (const ProfileSpec& spec : different_ranks(9)) profiles.push_back(profile_of(spec));
    for (const std::size_t most : {1u, 7u, 20u, 1000u}) {
        const CallSites one = merged(profiles, 1, 1, most);
        for (unsigned seed = 2; seed < 12; ++seed)
            EXPECT_EQ(print(merged(profiles, 1 + seed % 4, seed, most)), print(one)) << most << " " << seed;
        std::size_t apart = 0;
        for (const CallSite& site : one.sites) apart += !site.frames.empty();
        if (most < 1000) {
            EXPECT_EQ(apart, most);
        }
    }
}

TEST(sites, beyond_the_bound_are_together_and_nothing_is_lost) {
    std::vector<Profile> profiles;
    const auto ranks = different_ranks(9);
    for (const ProfileSpec& spec : ranks) profiles.push_back(profile_of(spec));
    const Job job = job_of(ranks);
    EXPECT_EQ(totals_of_sites(job, merged(profiles, 2, 3, 5)), totals_of(job));
}

// ---- symbols ----

struct Here {
    std::string path;
    std::uint64_t offset = 0;
    unsigned line = 0;
};

[[gnu::noinline]] std::uint64_t return_address() {
    asm volatile("");
    return reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
}

[[gnu::noinline]] Here exchange_of_the_test() {
    char path[4096] = "";
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    std::uint64_t base = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) { return *static_cast<std::uint64_t*>(to) = info->dlpi_addr, 1; },
        &base);
    const std::uint64_t address = return_address();
    return {std::string(path, n > 0 ? static_cast<std::size_t>(n) : 0), address - base, __LINE__ - 1};
}

Job job_at(const Here& here, std::vector<std::uint8_t> id = {}) {
    ProfileSpec spec = rank_of(0, 1);
    run_here_and_now(spec);
    spec.modules = {{.path = here.path, .build_id = std::move(id)}};
    spec.sites = {{{1, here.offset}}};
    spec.calls = {collective("MPI_Allreduce", {from_site(1, 10)})};
    return job_of({spec});
}

TEST(sites, have_the_function_file_and_line_of_the_call) {
    const Here here = exchange_of_the_test();
    const Table table = answer(job_at(here), {.ranks = {}, .sort = {}, .by = {}, .top = {}, .is_for_screen = false});
    EXPECT_NE(text_at(table, 0, "function").find("exchange_of_the_test"), std::string::npos);
    EXPECT_TRUE(text_at(table, 0, "file").ends_with("tests/report/call_sites_test.cpp"));
    EXPECT_EQ(std::get<std::uint64_t>(at(table, 0, "line")), here.line);
}

TEST(sites, that_read_alike_have_their_addresses) {
    const Here here = exchange_of_the_test();
    ProfileSpec spec = rank_of(0, 1);
    run_here_and_now(spec);
    spec.modules = {{.path = here.path}};
    spec.sites = {{{1, here.offset}}, {{1, here.offset - 1}}};
    spec.calls = {collective("MPI_Allreduce", {from_site(1, 10), from_site(2, 5, 50 * us)}),
                  collective("MPI_Bcast", {from_site(1, 3)})};
    const Table table = answer(job_of({spec}), {.ranks = {}, .sort = {}, .by = {}, .top = {}});
    std::map<std::string, std::vector<std::string>> by_call;
    for (std::size_t row = 0; row < table.rows.size(); ++row)
        by_call[text_at(table, row, "call")].push_back(text_at(table, row, "from"));
    ASSERT_EQ(by_call["MPI_Allreduce"].size(), 2u);
    EXPECT_TRUE(by_call["MPI_Allreduce"][0].ends_with(fmt::format(" ({:#x})", here.offset)))
        << by_call["MPI_Allreduce"][0];
    EXPECT_TRUE(by_call["MPI_Allreduce"][1].ends_with(fmt::format(" ({:#x})", here.offset - 1)))
        << by_call["MPI_Allreduce"][1];
    EXPECT_NE(by_call["MPI_Allreduce"][0].find(" (0x"), std::string::npos);
    EXPECT_EQ(by_call["MPI_Bcast"][0].find(" (0x"), std::string::npos) << "it is the only one of its call";
    const Table by_line = answer(job_of({spec}), {.ranks = {}, .sort = {}, .by = "line", .top = {}});
    EXPECT_EQ(by_line.rows.size(), 2u);
}

TEST(sites, of_a_binary_that_was_built_anew_are_addresses_and_say_so) {
    Here here = exchange_of_the_test();
    const Table table = answer(job_at(here, {1, 2, 3}), {.ranks = {}, .sort = {}, .by = {}, .top = {}});
    EXPECT_EQ(text_at(table, 0, "from"), fmt::format("call_sites_test+{:#x}", here.offset));
    EXPECT_EQ(table.notes.back().parts.front().text, here.path + ": binary changed since the run");
}

TEST(sites, of_a_binary_without_a_build_id_that_is_younger_than_the_run_are_addresses_and_say_so) {
    const Here here = exchange_of_the_test();
    ProfileSpec spec = rank_of(0, 1);  // years ago
    spec.modules = {{.path = here.path}};
    spec.sites = {{{1, here.offset}}};
    spec.calls = {collective("MPI_Allreduce", {from_site(1, 10)})};
    const Table table = answer(job_of({spec}), {.ranks = {}, .sort = {}, .by = {}, .top = {}});
    EXPECT_EQ(text_at(table, 0, "from"), fmt::format("call_sites_test+{:#x}", here.offset));
    EXPECT_TRUE(
        table.notes.back().parts.front().text.starts_with(here.path + ": binary may have changed since the run"));
}

// ---- screens ----

std::string show(const Job& job, const Question& question, unsigned width, const char* view = "text") {
    return shown(job, "sites", question, view, {.width = width, .has_utf8 = true});
}

TEST(screens, call_sites_are_as_reviewed) {
    const Job job = job_of(two_solvers());
    std::string text;
    for (const unsigned width : {80u, 132u}) text += show(job, {}, width) + "\n";
    for (const char* by : {"line", "function", "file", "call"})
        text += std::string("--by ") + by + "\n" + show(job, {.ranks = {}, .sort = {}, .by = by, .top = {}}, 80) + "\n";
    expect_golden("screens/call_sites.txt", text);
    expect_golden("screens/call_sites.csv", show(job, {}, 80, "csv"));
}

TEST(sites, left_out_are_counted) {
    const std::string text = show(job_of(two_solvers()), {.ranks = {}, .sort = {}, .by = {}, .top = 1}, 80);
    EXPECT_NE(text.find("more: --top "), std::string::npos) << text;
}

}  // namespace
}  // namespace mpiprof::test
