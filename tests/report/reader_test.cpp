// A profile's bytes -> Profile: what a valid file says, of this version and of others. Files that are not whole, or
// lie, are in reader_damage_test.cpp.
#include <gtest/gtest.h>

#include "tests/report/read_bytes.h"

namespace mpiprof::test {
namespace {

using report::Profile;

TEST(reader, counts_bytes_and_times_are_as_recorded) {
    const Profile profile = read(build(typical()));

    const auto* small = find_cell(profile, "MPI_Allreduce", report::size_bin(8));
    ASSERT_NE(small, nullptr);
    EXPECT_EQ(small->calls, 10);
    EXPECT_EQ(small->bytes, 80);
    EXPECT_EQ(small->time_ns, 30 * ms);
    EXPECT_EQ(small->min_ns, 1 * ms);
    EXPECT_EQ(small->max_ns, 9 * ms);
    EXPECT_EQ(profile.sites.at(small->site).frames.at(1).offset, 0x2000);
    EXPECT_EQ(profile.modules.at(profile.sites.at(small->site).frames.at(0).module).path, "/usr/bin/app");
    EXPECT_EQ(profile.modules.at(1).build_id, "abcd");

    const auto* receive = find_cell(profile, "MPI_Recv", report::size_bin(100));
    ASSERT_NE(receive, nullptr);
    EXPECT_EQ(receive->errors, 2);

    const auto* counter = find_cell(profile, "MPI_Comm_rank", 0);
    ASSERT_NE(counter, nullptr);
    EXPECT_EQ(counter->calls, 7);
    EXPECT_EQ(profile.calls[counter->call].treatment, report::Treatment::counted);
}

TEST(reader, the_rank_tells_who_and_where_it_was) {
    const Profile profile = read(build(typical()));

    EXPECT_EQ(profile.rank, 2);
    EXPECT_EQ(profile.size, 4);
    EXPECT_EQ(profile.job, "4711");
    EXPECT_EQ(profile.host, "node1");
    EXPECT_EQ(profile.elapsed_ns, 1000 * ms);
    EXPECT_EQ(profile.init_ns, 20 * ms);
    EXPECT_EQ(profile.process_ns, 1070 * ms);
    EXPECT_EQ(profile.usage.user_ns, 900 * ms);
    EXPECT_EQ(profile.usage.max_resident_bytes, 2u << 20);
    EXPECT_EQ(profile.usage.switches(), 7);
    ASSERT_EQ(profile.settings.size(), 1);
    EXPECT_EQ(profile.settings[0].value, "all");
}

TEST(reader, calls_of_a_background_thread_are_told_apart) {
    const Profile profile = read(build(typical()));

    const auto* large = find_cell(profile, "MPI_Allreduce", report::size_bin(4'500'000));
    ASSERT_NE(large, nullptr);
    EXPECT_EQ(profile.threads.at(large->thread).kind, report::ThreadKind::other);
    EXPECT_EQ(profile.threads.at(find_cell(profile, "MPI_Allreduce", report::size_bin(8))->thread).kind,
              report::ThreadKind::main);
}

TEST(reader, ticks_of_the_processor_become_nanoseconds) {
    ProfileSpec spec = typical();
    spec.clock = format::ClockKind::tsc;
    for (const std::uint64_t rate : {24ull, 2500ull, 3333ull}) {
        spec.ticks_per_us = rate;
        const Profile profile = read(build(spec));
        const auto* cell = find_cell(profile, "MPI_Allreduce", report::size_bin(8));
        ASSERT_NE(cell, nullptr);
        EXPECT_NEAR(static_cast<double>(cell->time_ns), 30e6, 30e6 / 1e4) << rate;
        EXPECT_NEAR(static_cast<double>(profile.init_ns), 20e6, 20e6 / 1e4) << rate;
    }
}

TEST(reader, a_clock_without_a_rate_is_said_and_the_counts_stay) {
    ProfileSpec spec = typical();
    spec.clock = format::ClockKind::tsc;
    Bytes bytes = build(spec);
    for (const std::size_t anchor : {offsetof(format::Header, loaded), offsetof(format::Header, started),
                                     offsetof(format::Header, updated), offsetof(format::Header, ended)})
        overwrite(bytes, anchor, format::Anchor{});

    const Profile profile = read(bytes);

    ASSERT_EQ(profile.notes.size(), 1);
    EXPECT_NE(profile.notes[0].find("times are in ticks"), std::string::npos);
    EXPECT_EQ(find_cell(profile, "MPI_Allreduce", report::size_bin(8))->calls, 10);
}

TEST(reader, histograms_hold_every_call_near_its_duration) {
    ProfileSpec spec;
    spec.clock = format::ClockKind::tsc;
    spec.ticks_per_us = 2500;
    spec.calls = {collective("MPI_Bcast", {{.bytes = 12, .durations_ns = {1'000, 1'000'000, 30'000'000}}})};

    const Profile profile = read(build(spec));

    ASSERT_EQ(profile.histograms.size(), 1);
    const auto& histogram = profile.histograms[0];
    ASSERT_EQ(histogram.buckets, 3);
    const double expected[] = {1e3, 1e6, 30e6};
    for (unsigned i = 0; i < 3; ++i) {
        const auto& bucket = profile.buckets[histogram.first_bucket + i];
        EXPECT_EQ(bucket.calls, 1);
        EXPECT_LE(bucket.low_ns, expected[i] * 1.001);
        EXPECT_GE(bucket.high_ns, expected[i] * 0.999);
        EXPECT_LE(bucket.high_ns - bucket.low_ns, expected[i] / 15);
    }
}

TEST(reader, a_polled_call_has_all_its_calls_and_the_time_of_its_samples) {
    ProfileSpec spec = typical();
    spec.calls = {{.name = "MPI_Test",
                   .traffic = format::Traffic::completion,
                   .cells = {{.calls = 63, .time_ns = 5 * ms, .min_ns = 40, .max_ns = 900}},
                   .treatment = format::Treatment::polled,
                   .calls = 1000,
                   .errors = 1}};

    const Profile profile = read(build(spec));

    ASSERT_EQ(profile.calls.size(), 1);
    EXPECT_TRUE(profile.calls[0].is_sampled);
    EXPECT_EQ(profile.calls[0].treatment, report::Treatment::timed);
    std::uint64_t calls = 0, ns = 0, errors = 0;
    for (const auto& cell : profile.cells) {
        calls += cell.calls;
        ns += cell.time_ns;
        errors += cell.errors;
    }
    EXPECT_EQ(calls, 1000);
    EXPECT_EQ(ns, 5 * ms);
    EXPECT_EQ(errors, 1);
}

TEST(reader, requests_are_told_with_their_time_in_flight) {
    ProfileSpec spec = typical();
    spec.calls = {receives("MPI_Irecv", {{.calls = 10,
                                          .bytes = 1000,
                                          .time_ns = 1 * ms,
                                          .requests = 10,
                                          .in_flight_ns = 80 * ms,
                                          .blocked_ns = 20 * ms}})};
    const Profile profile = read(build(spec));
    ASSERT_EQ(profile.histograms.size(), 1);
    EXPECT_EQ(profile.histograms[0].requests, 10);
    EXPECT_EQ(profile.histograms[0].in_flight_ns, 80 * ms);
    EXPECT_EQ(profile.histograms[0].blocked_ns, 20 * ms);
}

// ---- files of other versions ----

TEST(reader, records_of_a_newer_library_are_read_by_their_known_part) {
    const Profile reference = read(build(typical()));
    for (const std::int32_t growth : {8, 64}) {
        ProfileSpec spec = typical();
        spec.record_growth = spec.header_growth = growth;
        spec.unknown_table = true;
        const Profile profile = read(build(spec));
        EXPECT_EQ(profile.cells.size(), reference.cells.size());
        EXPECT_EQ(find_cell(profile, "MPI_Allreduce", report::size_bin(8))->time_ns, 30 * ms);
        EXPECT_EQ(profile.usage, reference.usage);
    }
}

TEST(reader, shorter_records_of_an_older_library_are_filled_with_zeros) {
    ProfileSpec spec = typical();
    spec.record_growth = -8;  // a cell ends before its errors

    const Profile profile = read(build(spec));

    const auto* receive = find_cell(profile, "MPI_Recv", report::size_bin(100));
    ASSERT_NE(receive, nullptr);
    EXPECT_EQ(receive->calls, 3);
    EXPECT_EQ(receive->errors, 0);
}

TEST(reader, a_shorter_header_of_an_older_library_is_filled_with_zeros) {
    ProfileSpec spec = typical();
    spec.header_growth =
        static_cast<int>(offsetof(format::Header, parent_pid)) - static_cast<int>(sizeof(format::Header));
    EXPECT_EQ(read(build(spec)).parent_pid, 0);
    EXPECT_EQ(read(build(spec)).launcher, "Open MPI");
}

TEST(reader, tables_in_many_directory_blocks_are_all_read) {
    ProfileSpec spec = typical();
    spec.directory_capacity = 1;
    EXPECT_EQ(read(build(spec)).cells.size(), read(build(typical())).cells.size());
}

TEST(reader, another_major_version_is_named_with_what_to_do) {
    ProfileSpec spec = typical();
    spec.format_major = 2;
    EXPECT_EQ(complaint(build(spec)),
              "mpi_profile.4711.2: has format 2, this mpiprof-report reads format 1; use the mpiprof-report that came "
              "with the "
              "library that wrote it");
}

TEST(reader, another_minor_version_is_read) {
    ProfileSpec spec = typical();
    spec.format_minor = 9;
    EXPECT_EQ(complaint(build(spec)), "");
}

TEST(reader, a_big_endian_profile_is_named) {
    Bytes bytes = build(typical());
    overwrite(bytes, offsetof(format::Header, byte_order), __builtin_bswap64(format::byte_order_mark));
    EXPECT_NE(complaint(bytes).find("big-endian"), std::string::npos);
}

}  // namespace
}  // namespace mpiprof::test
