// Labels: what is said of the run, as it lies in the profile, and how MPIPROF_LABELS is read.
#include "libmpiprof/record/labels.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/image_tables.h"

namespace mpiprof {
namespace {

using Pairs = std::map<std::string, std::string>;

struct labels_of_a_run : testing::Test {
    void SetUp() override { ASSERT_TRUE(image.open_private()); }
    void set(const std::string& key, const std::string& value) {
        labels.set(image, key.c_str(), key.size(), value.c_str(), value.size());
    }
    // As a reader has them: of one key the last.
    Pairs read() {
        Pairs found;
        for (const format::Label& label : test::records_of<format::Label>(image, format::TableType::labels))
            found[label.key] = label.value;
        return found;
    }
    Image image;
    Labels labels;
};

TEST_F(labels_of_a_run, of_one_key_the_last_value_counts) {
    set("model", "resnet50");
    set("bucket_size", "25");
    set("model", "resnet101");
    EXPECT_EQ(read(), (Pairs{{"model", "resnet101"}, {"bucket_size", "25"}}));
}

TEST_F(labels_of_a_run, the_same_again_takes_no_space) {
    for (int i = 0; i < 1000; ++i) set("model", "resnet50");
    EXPECT_EQ(test::records_of<format::Label>(image, format::TableType::labels).size(), 1u);
    EXPECT_EQ(image.header().drops.strings, 0u);
}

TEST_F(labels_of_a_run, what_is_too_long_is_cut_and_counted) {
    set(std::string(40, 'k'), std::string(200, 'v'));
    EXPECT_EQ(read(), (Pairs{{std::string(31, 'k'), std::string(95, 'v')}}));
    EXPECT_EQ(image.header().drops.strings, 1u);
}

TEST_F(labels_of_a_run, more_than_there_is_room_for_are_counted) {
    for (int i = 0; i < 300; ++i) set("epoch", std::to_string(i));
    EXPECT_EQ(read(), (Pairs{{"epoch", "255"}}));
    EXPECT_EQ(image.header().drops.strings, 44u);
}

TEST_F(labels_of_a_run, what_was_said_before_there_was_a_profile_is_in_it) {
    labels.keep("model", "resnet50");
    labels.keep("model", "resnet101");
    labels.keep("", "nothing");
    EXPECT_EQ(read(), Pairs{});
    labels.move_to(image);
    EXPECT_EQ(read(), (Pairs{{"model", "resnet101"}}));
}

struct Read {
    Pairs pairs;
    std::string wrong;
};
Read walk(const char* text) {
    Read read;
    walk_labels(
        text,
        [&](const char* key, std::size_t k, const char* value, std::size_t v) {
            read.pairs[std::string(key, k)] = std::string(value, v);
        },
        [&](const char* word, std::size_t n) { read.wrong += "<" + std::string(word, n) + ">"; });
    return read;
}

TEST(a_list_of_labels, is_keys_and_values) {
    EXPECT_EQ(walk("model=resnet50, bucket_size = 25,").pairs, (Pairs{{"model", "resnet50"}, {"bucket_size", "25"}}));
    EXPECT_EQ(walk("note=a = b").pairs, (Pairs{{"note", "a = b"}}));
    EXPECT_EQ(walk("").pairs, Pairs{});
}

TEST(a_list_of_labels, hands_out_what_is_none) {
    const Read read = walk("bucket_size,=25,model=resnet50,empty=");
    EXPECT_EQ(read.pairs, (Pairs{{"model", "resnet50"}}));
    EXPECT_EQ(read.wrong, "<bucket_size><=25><empty=>");
}

}  // namespace
}  // namespace mpiprof
