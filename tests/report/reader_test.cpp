// A profile's bytes -> Profile: what a valid file says, and that no bytes at all do harm.
#include "report/read/profile_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/report/profile_builder.h"

namespace mpiprof::test {
namespace {

using report::Profile;

constexpr std::uint64_t ms = 1'000'000;

ProfileSpec typical() {
    ProfileSpec spec;
    spec.rank = 2;
    spec.size = 4;
    spec.calls = {
        collective("MPI_Allreduce",
                   {{.calls = 10, .bytes = 80, .time_ns = 30 * ms, .min_ns = 1 * ms, .max_ns = 9 * ms, .site = 1},
                    {.calls = 2, .bytes = 9'000'000, .time_ns = 50 * ms, .thread = 2}}),
        receives("MPI_Recv", {{.calls = 3, .bytes = 300, .time_ns = 6 * ms, .errors = 2}}),
        counted("MPI_Comm_rank", 7)};
    spec.modules = {{.path = "/usr/bin/app", .build_id = {0xab, 0xcd}}};
    spec.sites = {{{1, 0x1234}, {1, 0x2000}}};
    spec.settings = {{"MPIPROF_TEXT", "all"}};
    spec.usage.user_us = 900'000;
    spec.usage.system_us = 50'000;
    spec.usage.max_resident_kib = 2048;
    spec.usage.voluntary_switches = 3;
    spec.usage.involuntary_switches = 4;
    return spec;
}

Profile read(const Bytes& bytes) {
    auto profile = report::read_profile(bytes, "mpi_profile.4711.2");
    if (!profile) throw std::runtime_error(profile.error().line());
    return std::move(*profile);
}

// The line a person sees; empty if the profile was read.
std::string complaint(const Bytes& bytes) {
    const auto profile = report::read_profile(bytes, "mpi_profile.4711.2");
    return profile ? "" : profile.error().line();
}

const report::Cell* find_cell(const Profile& profile, const std::string& call, unsigned bin) {
    for (const auto& cell : profile.cells)
        if (profile.calls[cell.call].name == call && cell.bin == bin) return &cell;
    return nullptr;
}

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

// ---- files of unlucky ranks ----

TEST(reader, every_prefix_of_a_valid_profile_is_a_clear_line) {
    ProfileSpec spec = typical();
    spec.histograms = false;  // fewer bytes, the same tables otherwise
    const Bytes whole = build(spec);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const Bytes prefix(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        const std::string line = complaint(prefix);
        ASSERT_FALSE(line.empty()) << length;
        const bool is_clear =
            length == 0 ? line.find("is empty") != std::string::npos : line.find("is cut off") != std::string::npos;
        ASSERT_TRUE(is_clear) << length << ": " << line;
        ASSERT_EQ(line.find('\n'), std::string::npos);
    }
    EXPECT_EQ(complaint(whole), "");
}

// A mapping whose disk filled up goes on in memory: what was mapped is in the file, the rest may not be.
TEST(reader, profile_that_ends_on_a_full_disk_gives_what_it_has) {
    const Bytes whole = build(typical());
    const std::size_t calls = read(whole).cells.size();
    std::size_t least = calls;
    const std::uint64_t directory = sizeof(format::Header) + sizeof(format::Directory) + 32 * sizeof(format::Table);
    for (std::uint64_t mapped = directory; mapped < whole.size(); mapped += 64) {
        Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(mapped));
        std::memcpy(cut.data() + offsetof(format::Header, mapped_bytes), &mapped, sizeof mapped);
        const report::Profile profile = read(cut);
        EXPECT_LE(profile.cells.size(), calls);
        least = std::min(least, profile.cells.size());
        EXPECT_TRUE(std::any_of(profile.notes.begin(), profile.notes.end(), [](const std::string& note) {
            return note.find("the disk was full") != std::string::npos;
        }));
        cut.pop_back();  // cut off by somebody else on top
        EXPECT_NE(complaint(cut).find("is cut off"), std::string::npos);
    }
    EXPECT_LT(least, calls);
}

TEST(reader, every_prefix_is_a_clear_line_by_its_head_too) {
    const Bytes whole = build(typical());
    for (std::size_t length = 0; length < whole.size(); length += length < 3000 ? 1 : 97) {
        const auto head = std::span(whole).first(std::min(length, report::head_bytes));
        EXPECT_FALSE(report::read_head(head, length, "x").has_value()) << length;
    }
    EXPECT_TRUE(report::read_head(std::span(whole).first(report::head_bytes), whole.size(), "x").has_value());
}

TEST(reader, bytes_behind_the_image_do_not_matter) {
    Bytes bytes = build(typical());
    bytes.resize(bytes.size() + 65536);  // segments are taken before they are used
    EXPECT_EQ(read(bytes).cells.size(), read(build(typical())).cells.size());
}

TEST(reader, files_that_are_no_profiles_say_so) {
    EXPECT_NE(complaint(Bytes(4096)).find("nothing but zeros"), std::string::npos);
    Bytes text;
    for (const char c : std::string("#!/bin/sh\necho hello\n")) text.push_back(static_cast<std::byte>(c));
    EXPECT_NE(complaint(text).find("is not a profile"), std::string::npos);
}

TEST(reader, a_rank_beyond_its_world_is_left_out) {
    ProfileSpec spec = typical();
    spec.rank = 9;
    EXPECT_NE(complaint(build(spec)).find("says it is rank 9 of 4 ranks"), std::string::npos);
}

TEST(reader, a_killed_rank_shows_the_call_it_was_in) {
    ProfileSpec spec = typical();
    spec.state = format::State::running;
    spec.threads = {{.in_call = "MPI_Recv", .in_call_for_ns = 300 * ms}};

    const Profile profile = read(build(spec));

    EXPECT_EQ(profile.state, report::State::running);
    ASSERT_TRUE(profile.threads.at(0).in_call);
    EXPECT_EQ(profile.calls[*profile.threads[0].in_call].name, "MPI_Recv");
    EXPECT_EQ(profile.threads[0].in_call_since_ns, 700 * ms);
}

TEST(reader, a_rank_that_a_script_let_wait_is_at_the_line_of_the_script) {
    ProfileSpec spec = typical();
    spec.state = format::State::running;
    spec.modules = {{.path = "/usr/bin/python3"},
                    {.path = "/home/me/train.py", .base = 0, .end = 0, .function = "step"}};
    spec.sites = {{{.module = 1, .offset = 0x1234}}, {{.module = 2, .offset = 17}, {.module = 2, .offset = 40}}};
    const ThreadSpec waits{.in_call = "MPI_Recv", .in_call_for_ns = 300 * ms};
    spec.threads = {waits, waits, waits};
    for (std::uint32_t i = 0; i < 3; ++i) spec.threads[i].id = i + 1;
    spec.threads[0].script_site = 2;
    spec.threads[1].script_site = 2;
    spec.threads[1].is_of_earlier_call = true;
    spec.threads[2].script_site = 99;

    const Profile profile = read(build(spec));

    const auto place = [&](std::size_t thread) {
        const report::Frame& frame = profile.threads.at(thread).called_from;
        return std::pair(profile.modules.at(frame.module).path, frame.offset);
    };
    EXPECT_EQ(place(0), std::pair(std::string("/home/me/train.py"), std::uint64_t{17}));
    EXPECT_EQ(place(1), std::pair(std::string("/usr/bin/python3"), std::uint64_t{0x1234}))
        << "what an earlier call has left is not its line";
    EXPECT_EQ(place(2), std::pair(std::string("/usr/bin/python3"), std::uint64_t{0x1234}))
        << "a site that the profile does not have";
}

TEST(reader, a_cell_whose_call_was_not_named_yet_keeps_its_numbers) {
    Bytes bytes = build(typical());
    const auto calls = table_of(bytes, format::TableType::calls);
    ASSERT_TRUE(calls);
    format::Table table = calls->table;
    table.used = 1;  // killed before the others were published
    overwrite(bytes, calls->entry, table);

    const Profile profile = read(bytes);

    std::uint64_t received = 0;
    for (const auto& cell : profile.cells)
        if (profile.calls[cell.call].name.starts_with("(call ")) received += cell.bytes;
    EXPECT_EQ(received, 300);
}

// ---- files that lie ----

struct Lie {
    const char* what;
    void (*tell)(format::Table& table, const Bytes& bytes);
};
constexpr Lie lies[] = {
    {"offset beyond the end", [](format::Table& table, const Bytes& bytes) { table.offset = bytes.size() + 1; }},
    {"offset that overflows", [](format::Table& table, const Bytes&) { table.offset = ~std::uint64_t{0} - 8; }},
    {"count beyond the end", [](format::Table& table, const Bytes&) { table.used = table.capacity = 0x7fffffff; }},
    {"more used than there is room", [](format::Table& table, const Bytes&) { ++table.used; }},
    {"records of no size", [](format::Table& table, const Bytes&) { table.record_size = 0; }},
    {"records of enormous size", [](format::Table& table, const Bytes&) { table.record_size = 0xffffffff; }},
};

TEST(reader, a_table_that_lies_about_itself_is_refused_in_one_line) {
    using enum format::TableType;
    const Bytes whole = build(typical());
    for (const auto type : {calls, cells, counters, histograms, threads, strings, modules, sites}) {
        const bool is_of_a_thread = type == cells || type == counters || type == histograms;
        const auto place = table_of(whole, type, is_of_a_thread);
        ASSERT_TRUE(place) << static_cast<int>(type);
        for (const Lie& lie : lies) {
            Bytes bytes = whole;
            format::Table table = place->table;
            lie.tell(table, bytes);
            overwrite(bytes, place->entry, table);
            EXPECT_NE(complaint(bytes).find("is damaged"), std::string::npos)
                << lie.what << ", table " << static_cast<int>(type);
        }
    }
}

TEST(reader, a_directory_that_leads_in_circles_ends) {
    Bytes bytes = build(typical());
    format::Header header{};
    std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
    overwrite(bytes, header.directory_offset, header.directory_offset);  // its next is itself
    EXPECT_NE(complaint(bytes).find("is damaged"), std::string::npos);
}

TEST(reader, tables_that_share_their_bytes_are_refused) {
    // Otherwise a small file could make the reader build gigabytes.
    Bytes bytes = build(typical());
    const auto cells = table_of(bytes, format::TableType::cells, 1);
    const auto strings = table_of(bytes, format::TableType::strings);
    ASSERT_TRUE(cells && strings);
    format::Table table = cells->table;
    table.offset = 0;
    table.record_size = 1;
    table.used = table.capacity = static_cast<std::uint32_t>(bytes.size());
    overwrite(bytes, strings->entry, table);
    EXPECT_NE(complaint(bytes).find("overlap"), std::string::npos);
}

TEST(reader, a_histogram_that_leads_out_of_the_file_is_refused) {
    Bytes bytes = build(typical());
    const auto histograms = table_of(bytes, format::TableType::histograms, 1);
    ASSERT_TRUE(histograms);
    overwrite(bytes, histograms->table.offset + offsetof(format::Histogram, block), std::uint32_t{0xfffffff0});
    EXPECT_NE(complaint(bytes).find("is damaged"), std::string::npos);
}

TEST(reader, any_changed_bytes_are_read_or_refused_without_harm) {
    const Bytes whole = build(typical());
    std::mt19937 random(4711);
    std::uniform_int_distribution<std::size_t> anywhere(0, whole.size() - 1);
    std::uniform_int_distribution<int> any_byte(0, 255);
    unsigned read_anyway = 0;
    for (int attempt = 0; attempt < 4000; ++attempt) {
        Bytes bytes = whole;
        const int changes = 1 + attempt % 40;
        for (int i = 0; i < changes; ++i) bytes[anywhere(random)] = static_cast<std::byte>(any_byte(random));
        const auto profile = report::read_profile(bytes, "x");
        if (!profile) continue;
        ++read_anyway;
        for (const auto& cell : profile->cells) {  // every index leads somewhere
            ASSERT_LT(cell.call, profile->calls.size());
            ASSERT_LT(cell.thread, profile->threads.size());
            ASSERT_LT(cell.bin, report::size_bins);
            ASSERT_LE(static_cast<int>(cell.buffer), 2);
        }
        for (const auto& histogram : profile->histograms) {
            ASSERT_LT(histogram.call, profile->calls.size());
            ASSERT_LE(histogram.first_bucket + histogram.buckets, profile->buckets.size());
        }
        for (const auto& site : profile->sites)
            for (const auto& frame : site.frames)
                ASSERT_TRUE(frame.module == 0 || frame.module < profile->modules.size());
    }
    EXPECT_GT(read_anyway, 0);
}

}  // namespace
}  // namespace mpiprof::test
