// Files of unlucky ranks, and files that lie: one clear line each, and no bytes at all do harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/report/read_bytes.h"

namespace mpiprof::test {
namespace {

using report::Profile;

TEST(reader, every_prefix_of_a_valid_profile_is_a_clear_line) {
    ProfileSpec spec = typical();
    spec.histograms = false;  // fewer bytes, the same tables otherwise
    const Bytes whole = build(spec);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const Bytes prefix(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        const std::string line = complaint(prefix);
        ASSERT_FALSE(line.empty()) << length;
        const bool is_clear =
            length == 0 ? line.find("is empty") != std::string::npos : line.find("is truncated") != std::string::npos;
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
        EXPECT_NE(complaint(cut).find("is truncated"), std::string::npos);
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
    EXPECT_NE(complaint(Bytes(4096)).find("only zeros"), std::string::npos);
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
